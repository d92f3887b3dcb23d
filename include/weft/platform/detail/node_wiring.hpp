// SPDX-License-Identifier: BSL-1.0
/// The links inside a node, from how far apart its GPUs and network cards are.
#pragma once

#include "weft/platform/interconnect.hpp"
#include "weft/platform/inventory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace weft::detail {

struct wired_gpu {
  double lanes = 0;  ///< bytes/s of its PCIe lanes in one direction
  double nvlink = 0; ///< bytes/s of an NVLink in one direction; positive if the topology has some
  std::uint32_t nvlinks = 0;
  bool board = false;
  bool shares_memory = false; ///< with the processors: `lanes` are to that memory, not over PCIe
  std::string name = {};
};

struct node_wiring {
  bool has_host = false;
  double host_bandwidth = std::numeric_limits<double>::infinity(); ///< bytes/s from the memory of the processors
  std::vector<wired_gpu> gpus = {};
  inventory::matrix joined = {}; ///< its GPUs are in the order of `gpus`
  double pcie_latency = 0;
  double nvlink_latency = 0;
  double memory_latency = 0; ///< between processors and a GPU that share a memory
  double between_numa_nodes = 1;
  link network = {}; ///< from node to node
};

inline constexpr double joules_on_board = 8 * 10e-12; // as in presets.hpp

class node_wirer {
public:
  node_wirer(interconnect_builder& b, const node_wiring& node, device_id first, std::string prefix,
             std::uint32_t network)
      : b_{b}, node_{node}, first_gpu_{first + (node.has_host ? 1u : 0u)}, prefix_{std::move(prefix)},
        network_{network}, host_{node.has_host ? first : none} {}

  device_id wire() {
    const auto& parts = node_.joined.parts;
    for (std::size_t i = 0, gpu = 0; i < parts.size(); ++i) {
      gpu_of_.push_back(parts[i].is_gpu ? gpu++ : none_);
    }
    choose_cards();
    group_parts();
    add_pcie();
    add_nvlinks();
    return first_gpu_ + static_cast<device_id>(node_.gpus.size());
  }

private:
  using distance = inventory::distance;
  static constexpr std::size_t none_ = std::numeric_limits<std::size_t>::max();

  bool is_gpu(std::size_t i) const { return gpu_of_[i] != none_; }
  device_id device_of(std::size_t i) const { return first_gpu_ + static_cast<device_id>(gpu_of_[i]); }
  double lanes_of(std::size_t i) const { return is_gpu(i) ? node_.gpus[gpu_of_[i]].lanes : widest(); }
  double widest() const {
    double most = 0;
    for (const auto& g : node_.gpus) {
      most = g.shares_memory ? most : std::max(most, g.lanes);
    }
    return most > 0 ? most : std::numeric_limits<double>::infinity();
  }
  link half(double bandwidth) const { return {node_.pcie_latency / 2, bandwidth, joules_on_board}; }

  /// The network cards that are worth using: for each GPU those that are nearest to it.
  void choose_cards() {
    const auto& m = node_.joined;
    used_.assign(m.parts.size(), false);
    for (std::size_t i = 0; i < m.parts.size(); ++i) {
      used_[i] = is_gpu(i);
    }
    for (std::size_t g = 0; network_ != none && g < m.parts.size(); ++g) {
      auto nearest = distance::machine;
      for (std::size_t i = 0; is_gpu(g) && i < m.parts.size(); ++i) {
        nearest = is_gpu(i) ? nearest : std::min(nearest, m.at(g, i).over);
      }
      for (std::size_t i = 0; is_gpu(g) && i < m.parts.size(); ++i) {
        used_[i] = used_[i] || (!is_gpu(i) && m.at(g, i).over == nearest);
      }
    }
  }

  /// For each level, the group of each part: parts that are that near to each other, directly or through others. GPUs
  /// that are joined by NVLinks tell nothing of PCIe, but their cards, their processors and NUMA nodes do.
  void group_parts() {
    const auto& m = node_.joined;
    const std::size_t n = m.parts.size();
    for (const auto level : {distance::bridge, distance::bridges, distance::numa_node}) {
      std::vector<std::size_t> group(n);
      std::iota(group.begin(), group.end(), std::size_t{0});
      const auto leader = [&](std::size_t i) {
        while (group[i] != i) {
          i = group[i] = group[group[i]];
        }
        return i;
      };
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t c = 0; c < a; ++c) {
          const auto& way = m.at(a, c);
          const bool near = way.nvlinks == 0 && way.over <= level;
          if (near || (level == distance::numa_node && same_numa_node(m.parts[a], m.parts[c]))) {
            const auto one = leader(a);
            const auto other = leader(c);
            group[std::max(one, other)] = std::min(one, other);
          }
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        group[i] = leader(i);
      }
      groups_.push_back(std::move(group));
    }
  }
  static bool same_numa_node(const inventory::matrix::part& a, const inventory::matrix::part& b) {
    return (!a.numa.empty() && a.numa == b.numa) || (a.numa.empty() && !a.cpus.empty() && a.cpus == b.cpus);
  }

  /// A root for each NUMA node, switches below it, and below them GPUs and cards.
  void add_pcie() {
    const std::size_t n = node_.joined.parts.size();
    const auto& numa = groups_.back();
    std::vector<std::size_t> leaders;
    for (std::size_t i = 0; i < n; ++i) {
      if (used_[i] && std::find(leaders.begin(), leaders.end(), numa[i]) == leaders.end()) {
        leaders.push_back(numa[i]);
      }
    }
    const std::size_t roots = std::max<std::size_t>(leaders.size(), 1);
    std::uint32_t between = none; // NUMA nodes
    if (roots > 1) {
      between = b_.add_switch(prefix_ + "sockets");
    }
    for (std::size_t k = 0; k < roots; ++k) {
      const auto root = b_.add_switch(prefix_ + "root" + std::to_string(k));
      if (node_.has_host) {
        b_.join(root, host_, {0, node_.host_bandwidth / static_cast<double>(roots)});
      }
      if (roots > 1) {
        b_.join(root, between, half(node_.between_numa_nodes * widest()));
      }
      if (k < leaders.size()) {
        std::vector<std::size_t> inside;
        for (std::size_t i = 0; i < n; ++i) {
          if (used_[i] && numa[i] == leaders[k]) {
            inside.push_back(i);
          }
        }
        add_below(root, inside, groups_.size() - 1, false);
      }
      if (network_ != none && k == 0 && !any_card()) { // none is listed, but there must be one
        b_.join(root, network_, half_of_network());
      }
    }
  }
  bool any_card() const {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] && !is_gpu(i)) {
        return true;
      }
    }
    return false;
  }
  link half_of_network() const {
    return {node_.network.latency / 2, node_.network.bandwidth, node_.network.joules_per_byte};
  }

  /// Joins parts to a switch: those of one group of the level below through a switch of their own.
  void add_below(std::uint32_t up, const std::vector<std::size_t>& parts, std::size_t level, bool in_switch) {
    std::vector<std::size_t> done;
    for (const std::size_t i : parts) {
      if (level == 0) {
        add_part(up, i, in_switch);
        continue;
      }
      const auto& group = groups_[level - 1];
      if (std::find(done.begin(), done.end(), group[i]) != done.end()) {
        continue;
      }
      done.push_back(group[i]);
      std::vector<std::size_t> inside;
      std::copy_if(parts.begin(), parts.end(), std::back_inserter(inside),
                   [&](std::size_t k) { return group[k] == group[i]; });
      if (inside.size() == 1 || (in_switch && inside.size() == parts.size())) {
        add_below(up, inside, level - 1, in_switch);
        continue;
      }
      const auto pcie = b_.add_switch(prefix_ + "pcie" + std::to_string(switches_++));
      b_.join(pcie, up, {in_switch ? 0 : node_.pcie_latency / 2, widest(), joules_on_board});
      add_below(pcie, inside, level - 1, true);
    }
  }

  void add_part(std::uint32_t up, std::size_t i, bool in_switch) {
    const double latency = in_switch ? node_.pcie_latency / 2 : node_.pcie_latency;
    if (is_gpu(i)) {
      const bool shared = node_.gpus[gpu_of_[i]].shares_memory;
      b_.join(device_of(i), up, {shared ? node_.memory_latency : latency, lanes_of(i), joules_on_board});
      return;
    }
    const auto card = b_.add_switch(prefix_ + node_.joined.parts[i].name);
    b_.join(card, up, {0, lanes_of(i), joules_on_board});
    b_.join(card, network_, half_of_network());
  }

  /// Whether a GPU has more NVLinks to others than of its own, so that switches must share them out. Where nobody says
  /// how many it has, that cannot be told.
  bool is_switched() const {
    const auto& m = node_.joined;
    for (std::size_t a = 0; a < m.parts.size(); ++a) {
      std::uint64_t total = 0;
      std::uint32_t most = 0;
      for (std::size_t c = 0; c < m.parts.size(); ++c) {
        const auto links = is_gpu(c) ? m.at(a, c).nvlinks : 0;
        total += links;
        most = std::max(most, links);
      }
      const auto own = is_gpu(a) ? node_.gpus[gpu_of_[a]].nvlinks : 0;
      if (own > 0 && total > std::max(own, most)) {
        return true;
      }
    }
    return false;
  }

  void add_nvlinks() {
    const auto& m = node_.joined;
    const bool switched = is_switched();
    std::uint32_t nvswitch = none;
    for (std::size_t a = 0; a < m.parts.size(); ++a) {
      std::uint32_t most = 0;
      for (std::size_t c = 0; is_gpu(a) && c < m.parts.size(); ++c) {
        const auto links = is_gpu(c) ? m.at(a, c).nvlinks : 0;
        most = std::max(most, links);
        if (links > 0 && !switched && c < a) {
          b_.join(device_of(c), device_of(a), {node_.nvlink_latency, links * rate_of(a), joules_on_board});
        }
      }
      if (most > 0 && switched) {
        nvswitch = nvswitch == none ? b_.add_switch(prefix_ + "nvswitch") : nvswitch;
        b_.join(device_of(a), nvswitch, {node_.nvlink_latency / 2, most * rate_of(a), joules_on_board});
      }
    }
  }
  double rate_of(std::size_t i) const { return node_.gpus[gpu_of_[i]].nvlink; }

  interconnect_builder& b_;
  const node_wiring& node_;
  device_id first_gpu_;
  std::string prefix_;
  std::uint32_t network_;
  std::uint32_t host_;
  std::vector<std::size_t> gpu_of_; // of each part
  std::vector<bool> used_;
  std::vector<std::vector<std::size_t>> groups_; // level by level: the least of each part's group
  std::size_t switches_ = 0;
};

/// Adds the links of a node whose devices begin at `first`: the host if it has one, then its GPUs. `network` is the
/// switch between nodes, or none. Returns the device after the last one.
inline device_id wire_node(interconnect_builder& b, const node_wiring& node, device_id first, const std::string& prefix,
                           std::uint32_t network) {
  return node_wirer{b, node, first, prefix, network}.wire();
}

} // namespace weft::detail
