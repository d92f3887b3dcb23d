// SPDX-License-Identifier: BSL-1.0
/// The parts of a machine as tools list them: GPUs, how they are joined, processors, memory, nodes. Readers are in io/
/// and interop/; platform/described_machine.hpp makes a platform of it.
#pragma once

#include "weft/core/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::inventory {

/// A GPU as the driver lists it, or a slice of one (MIG), which counts as a GPU. Facts that the list did not give are
/// missing.
struct gpu {
  std::string name;
  std::optional<byte_count> memory = {};
  std::optional<double> watts = {}; ///< the limit that is set
  std::optional<std::uint32_t> pcie = {}; ///< generation that both the GPU and its slot reach
  std::optional<std::uint32_t> pcie_lanes = {};
  std::uint32_t slice_of = none; ///< number of the GPU that this is a slice of
  bool shares_memory = false; ///< the driver says that it has no memory of its own: it uses that of the processors
  friend bool operator==(const gpu&, const gpu&) = default;
};

/// The distance between two parts of a machine: what the shortest way over PCIe passes, the nearest first.
enum class distance : std::uint8_t {
  same,        ///< the same part
  bridge,      ///< PIX: at most one PCIe switch
  bridges,     ///< PXB: several PCIe switches, but not the processor
  host_bridge, ///< PHB: the processor's PCIe host bridge
  numa_node,   ///< NODE: two host bridges of one NUMA node
  machine,     ///< SYS: the links between NUMA nodes
};

/// The way between two parts: over `nvlinks` NVLinks if there are some, and then nobody says what PCIe would be like.
struct way {
  distance over = distance::same;
  std::uint32_t nvlinks = 0;
  friend bool operator==(const way&, const way&) = default;
};

/// GPUs and network cards of a node, and the way between each two of them, which is the same in both directions.
struct matrix {
  struct part {
    std::string name;       ///< such as GPU0, NIC0 or mlx5_0
    bool is_gpu = false;
    std::string cpus = {};  ///< processors next to a GPU, such as 0-15,128-143
    std::string numa = {};  ///< NUMA node next to a GPU
    std::string device = {}; ///< name of a network card, where `name` is only its number
    std::string memory_node = {}; ///< NUMA node that a GPU's memory is, which the node's memory then includes
    friend bool operator==(const part&, const part&) = default;
  };
  std::vector<part> parts;
  std::vector<way> ways; ///< row by row

  const way& at(std::size_t a, std::size_t b) const { return ways[a * parts.size() + b]; }
  friend bool operator==(const matrix&, const matrix&) = default;
};

/// The meaning of a listed clock rate.
enum class clock_kind : std::uint8_t {
  highest, ///< of one core; not all cores keep it
  base,    ///< that all cores keep
  present, ///< at the moment of listing
};

/// Cores of a node that are alike.
struct core_kind {
  std::string model = {};
  std::uint32_t cores = 1; ///< of all sockets
  double hertz = 0;        ///< clock, 0 if nobody says
  clock_kind clock = clock_kind::highest;
  double flop_per_cycle = 0; ///< of a core in single precision, 0 if nobody says
  std::string units = {};    ///< what computes them, such as "AVX2"
  friend bool operator==(const core_kind&, const core_kind&) = default;
};

/// The processors of a node: cores of one kind, or of several (big.LITTLE).
struct processors {
  std::vector<core_kind> kinds = {};
  std::uint32_t sockets = 1;
  std::string product = {};  ///< as the firmware calls it, which tells more where `model` is the name of a core
  std::string vendor = {};   ///< with family and number, as the CPUID instruction has them; empty if nobody says
  std::uint32_t family = 0;  ///< 0 if nobody says
  std::uint32_t number = none; ///< of the model within the family; `none` if nobody says
  bool is_virtual = false;   ///< a virtual machine's

  std::uint32_t cores() const {
    std::uint32_t all = 0;
    for (const auto& k : kinds) {
      all += k.cores;
    }
    return all;
  }
  friend bool operator==(const processors&, const processors&) = default;
};

/// Generic resources of a node that are GPUs.
struct gpu_count {
  std::string type; ///< as the administrators called it; empty if they did not
  std::uint32_t count = 0;
  friend bool operator==(const gpu_count&, const gpu_count&) = default;
};

/// A node as a batch system lists it. Numbers that it did not give are 0.
struct node {
  std::string name;
  std::uint32_t sockets = 0;
  std::uint32_t cores = 0; ///< of all sockets
  byte_count memory = 0;
  std::vector<gpu_count> gpus = {};
  friend bool operator==(const node&, const node&) = default;
};

/// Everything that is known of a machine. `gpus`, `joined`, `host` and `memory` are of one node.
struct listing {
  std::vector<gpu> gpus = {};
  std::optional<matrix> joined = {};
  std::optional<processors> host = {};
  std::optional<byte_count> memory = {};
  std::vector<node> nodes = {};
  bool nodes_are_alike = false; ///< nodes are only names: each is as the other lists say
};

} // namespace weft::inventory
