// SPDX-License-Identifier: BSL-1.0
/// Named platforms, with numbers from public data sheets.
///
/// Speeds are peak FLOP/s for float32 training: TF32 matrix units without sparsity where a GPU has them, else FP32;
/// CPUs: cores × base clock × FLOP per cycle. Bandwidths are per direction. All devices reach their peak here; scale
/// with a cost model (cost/compose.hpp, cost/roofline.hpp) to be closer to what is achieved. Latencies and what it
/// takes to start a transfer are not on data sheets; they are round figures of published measurements, which
/// docs/costs.md lists. Devices are joined as they are in the machine, so that transfers share cables (`visit_route`):
/// NVSwitches, PCIe switches and their uplinks, network cards. Where no source says how a machine is joined, its
/// description says what is assumed.
///
/// Power while busy is what the data sheet calls thermal design power, or board power of graphics cards, which ops
/// seldom draw all of. The power of idle devices is not on data sheets: 15 % of that for accelerators and 30 % for
/// processors are assumed here. A byte takes 10 pJ/bit for each cable on a board and 250 pJ/bit from node to node (the
/// tiers "board" and "system" of Arunkumar et al., *MCM-GPU*, ISCA 2017, table 2), in whatever generation of cables.
/// Memory, fans and power supplies are left out. `docs/energy.md` says how to put measured numbers in their place.
#pragma once

#include "weft/platform/data_sheets.hpp"
#include "weft/platform/generate.hpp"
#include "weft/platform/platform.hpp"
#include "weft/platform/topology.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::presets {

namespace detail {

inline constexpr double giga = 1e9;
inline constexpr double tera = 1e12;
inline constexpr byte_count gibi = byte_count{1} << 30; // memories are built in powers of two, whatever the sheet says

// Seconds from the start of a small copy until an op of another stream that waits for it may run: of the copy 2 over
// NVLink and 7 between a GPU and the host, of the wait for its event 3.
inline constexpr double nvlink_latency = 5e-6;
inline constexpr double pcie_latency = 10e-6;

inline constexpr double pcie3_x16 = data_sheets::pcie_x16(3);
inline constexpr double pcie4_x8 = data_sheets::pcie_x16(4) / 2;
inline constexpr double pcie4_x16 = data_sheets::pcie_x16(4);
inline constexpr double pcie5_x16 = data_sheets::pcie_x16(5);

// Joules per byte: of each cable on a board, and of each of the two cables from node to node.
inline constexpr double board_cable = 8 * 10e-12;
inline constexpr double network_cable = 8 * 250e-12 / 2;

/// Power of a processor, or of several in one device, from its thermal design power.
constexpr device processor(double tdp, device d) {
  d.active_watts = tdp;
  d.idle_watts = data_sheets::idle_share_of_processors * tdp;
  return d;
}
/// The same for an accelerator.
constexpr device accelerator(double tdp, device d) {
  d.active_watts = tdp;
  d.idle_watts = data_sheets::idle_share_of_accelerators * tdp;
  return d;
}

/// Nodes that are alike, each a host CPU, `cpu`, and GPUs after it: `gpu0`, …; of several ones `node0/cpu`, …. What
/// leaves any of them is a copy that somebody launches.
inline platform<> hosts_with_gpus(std::size_t nodes, device host, device gpu, std::size_t gpus, link_matrix links) {
  host.send_overhead = data_sheets::copy_launch;
  gpu.send_overhead = data_sheets::copy_launch;
  std::vector<device> devices;
  std::vector<std::string> names;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::string prefix = nodes == 1 ? "" : "node" + std::to_string(node) + "/";
    for (std::size_t d = 0; d <= gpus; ++d) {
      devices.push_back(d == 0 ? host : gpu);
      names.push_back(prefix + (d == 0 ? "cpu" : "gpu" + std::to_string(d - 1)));
    }
  }
  platform<> made{std::move(devices), std::move(links)};
  made.set_names(std::move(names));
  return made;
}

/// Half of the way, for cables on both sides of a switch: the halves of the latency add up to the last bit.
constexpr link half_way(link whole) { return {whole.latency / 2, whole.bandwidth, whole.joules_per_byte}; }

/// GPUs on an NVSwitch, each with a port up and a port down: `first … first + 7`.
inline void join_by_nvswitch(interconnect_builder& b, device_id first, const std::string& prefix, double bandwidth) {
  const auto nvswitch = b.add_switch(prefix + "nvswitch");
  for (device_id d = first; d < first + 8; ++d) {
    b.join(d, nvswitch, half_way({nvlink_latency, bandwidth, board_cable}));
  }
}

/// The links of `nodes` DGX A100: four PCIe switches, each with two GPUs, their network cards and 16 lanes to the CPUs.
/// The network cards, on an InfiniBand network, are only there if there is somebody to talk to; each belongs to a GPU,
/// behind the port of the PCIe switch that it shares with it.
inline interconnect dgx_a100_links(std::size_t nodes) {
  constexpr double nic = 25 * giga;
  interconnect_builder b{9 * nodes, {.spread = true}}; // what leaves a CPU for another node, over all network cards
  std::uint32_t fabric = none;
  if (nodes > 1) {
    fabric = b.add_switch("infiniband");
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::string prefix = nodes == 1 ? "" : "node" + std::to_string(node) + "/";
    const auto cpu = static_cast<device_id>(9 * node);
    join_by_nvswitch(b, cpu + 1, prefix, 300 * giga);
    for (device_id i = 0; i < 8; i += 2) {
      const auto pcie = b.add_switch(prefix + "pcie" + std::to_string(i / 2));
      b.join(pcie, cpu, half_way({pcie_latency, pcie4_x16, board_cable}));
      for (const device_id k : {i, i + 1}) {
        auto port = pcie;
        if (nodes > 1) {
          port = b.add_switch(prefix + "port" + std::to_string(k));
          const auto card = b.add_switch(prefix + "nic" + std::to_string(k));
          b.join(port, pcie, link{}); // inside the switch
          b.join(port, card, {0, pcie4_x16, board_cable});
          b.join(card, fabric, {0, nic, network_cable});
        }
        b.join(cpu + 1 + k, port, half_way({pcie_latency, pcie4_x16, board_cable}));
      }
    }
  }
  return std::move(b).build();
}

/// The links of hosts with `gpus` each that have the direct links that `between(builder, a, b)` adds for two of them,
/// and find the host's memory over its root complex: `per_switch` of them share a PCIe switch and its uplink, or each
/// has its own lanes if that is 1. The root complexes of several hosts meet in one network; all that leaves a host
/// shares its one card.
template <class Between>
interconnect rooted_links(std::size_t nodes, std::size_t gpus, std::size_t per_switch, double lanes, double host_memory,
                          link card, const Between& between) {
  interconnect_builder b{(gpus + 1) * nodes};
  const std::uint32_t network = nodes > 1 ? b.add_switch("network") : none;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::string prefix = nodes == 1 ? "" : "node" + std::to_string(node) + "/";
    const auto cpu = static_cast<device_id>((gpus + 1) * node);
    const auto root = b.add_switch(prefix + "root");
    b.join(root, cpu, {0, host_memory});
    if (nodes > 1) {
      b.join(root, network, half_way(card));
    }
    auto port = root;
    for (device_id i = 0; i < gpus; ++i) {
      if (per_switch > 1 && i % per_switch == 0) {
        port = b.add_switch(prefix + "pcie" + std::to_string(i / per_switch));
        b.join(port, root, half_way({pcie_latency, lanes, board_cable}));
      }
      const link cable{pcie_latency, lanes, board_cable};
      b.join(cpu + 1 + i, port, per_switch > 1 ? half_way(cable) : cable);
      for (device_id k = 0; k < i; ++k) {
        between(b, cpu + 1 + k, cpu + 1 + i);
      }
    }
  }
  return std::move(b).build();
}
inline constexpr auto no_direct_links = [](interconnect_builder&, device_id, device_id) {};

} // namespace detail

/// NVIDIA DGX A100 640 GB. Sources: *NVIDIA A100 Tensor Core GPU* data sheet (80 GB SXM: TF32 156 TFLOP/s, 2,039 GB/s,
/// 400 W, NVLink 600 GB/s in both directions together, PCIe 4.0); *DGX A100* data sheet (8 GPUs, NVSwitch, 2 × AMD EPYC
/// 7742 with 64 cores at 2.25 GHz, 2 TB); AMD EPYC 7742 (8 channels DDR4-3200: 204.8 GB/s; 2 × 8-wide FMA per cycle;
/// 225 W). How it is joined: each GPU has its 12 NVLinks to the NVSwitches; two GPUs share a PCIe switch and its 16
/// lanes to the CPUs (*DGX A100 System User Guide*, system topology).
inline platform<> dgx_a100() {
  using namespace detail;
  const device cpu = processor(2 * 225, {.kind = device_kind::cpu,
                                         .speed = 2 * 64 * 2.25 * giga * 32,
                                         .memory_capacity = 2048 * gibi,
                                         .memory_bandwidth = 2 * 204.8 * giga});
  const device gpu = data_sheets::gpu_device("A100-SXM4-80GB");
  return hosts_with_gpus(1, cpu, gpu, 8, link_matrix{dgx_a100_links(1)});
}

namespace detail {

/// `nodes` DGX H100 or of its successors: eight GPUs, each with all its NVLinks to NVSwitches, and with lanes of its
/// own to the CPUs through its own network card, which has a PCIe switch in it. With several nodes the cards meet in
/// one network.
inline platform<> dgx_with_cards(std::size_t nodes, device cpu, std::string_view gpu) {
  constexpr double nic = 50 * giga;
  const auto& sheet = data_sheets::find_gpu(gpu)->figures;
  interconnect_builder b{9 * nodes, {.spread = true}}; // what leaves a CPU for another node, over all network cards
  const std::uint32_t fabric = nodes > 1 ? b.add_switch("infiniband") : none;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::string prefix = nodes == 1 ? "" : "node" + std::to_string(node) + "/";
    const auto host = static_cast<device_id>(9 * node);
    join_by_nvswitch(b, host + 1, prefix, sheet.nvlinks * sheet.nvlink * giga);
    for (device_id i = 0; i < 8; ++i) {
      const link lanes{pcie_latency, pcie5_x16, board_cable};
      if (nodes == 1) {
        b.join(host + 1 + i, host, lanes);
        continue;
      }
      const auto card = b.add_switch(prefix + "nic" + std::to_string(i));
      b.join(host + 1 + i, card, half_way(lanes));
      b.join(card, host, half_way(lanes));
      b.join(card, fabric, {0, nic, network_cable});
    }
  }
  return hosts_with_gpus(nodes, cpu, sheet.as_device(), 8, link_matrix{std::move(b).build()});
}

/// Two Xeon Platinum of the generation of DGX H100 and after it, with 56 cores each.
constexpr device dgx_host(double gigahertz, double socket_bandwidth) {
  return processor(2 * 350, {.kind = device_kind::cpu,
                             .speed = 2 * 56 * gigahertz * giga * 64,
                             .memory_capacity = 2048 * gibi,
                             .memory_bandwidth = 2 * socket_bandwidth * giga});
}

inline platform<> dgx_h100(std::size_t nodes) {
  return dgx_with_cards(nodes, dgx_host(2.0, 307.2), "H100 80GB HBM3");
}

} // namespace detail

/// NVIDIA DGX H100. Sources: *NVIDIA H100 Tensor Core GPU* data sheet (SXM: TF32 989 TFLOP/s with sparsity, half of it
/// without, 80 GB, 3.35 TB/s, 700 W, NVLink 900 GB/s in both directions together, PCIe 5.0); *DGX H100* data sheet (8
/// GPUs, NVSwitch, 2 × Intel Xeon Platinum 8480C with 56 cores at 2.0 GHz, 2 TB); 4th generation Xeon: 8 channels
/// DDR5-4800: 307.2 GB/s; 2 × 16-wide FMA per cycle; 350 W. How it is joined: each GPU has its 18 NVLinks to the
/// NVSwitches, and lanes of its own to the CPUs through its own ConnectX-7, which has a PCIe switch in it (*DGX H100
/// User Guide*, network modules).
inline platform<> dgx_h100() { return detail::dgx_h100(1); }

/// Two DGX H100 on an InfiniBand network, with a network card of 400 Gbit/s for each GPU. Sources: as for `dgx_h100`;
/// *DGX H100* data sheet (8 ConnectX-7 with 400 Gbit/s); latency as for `dgx_a100_x2`.
inline platform<> dgx_h100_x2() { return detail::dgx_h100(2); }

/// Four of them.
inline platform<> dgx_h100_x4() { return detail::dgx_h100(4); }

/// NVIDIA DGX H200. Sources: *NVIDIA H200 Tensor Core GPU* data sheet (SXM: rates of an H100, 141 GB, 4.8 TB/s); *DGX
/// H200* data sheet (8 GPUs and otherwise a DGX H100).
inline platform<> dgx_h200() { return detail::dgx_with_cards(1, detail::dgx_host(2.0, 307.2), "H200"); }

/// NVIDIA DGX B200. Sources: *DGX B200* data sheet (8 B200, of which each has an eighth of its figures: TF32 1,125
/// TFLOP/s without sparsity, 180 GB, 8 TB/s, NVLink 1.8 TB/s in both directions together; 2 × Intel Xeon Platinum 8570
/// with 56 cores at 2.1 GHz; 2 TB, at most 4); 5th generation Xeon: 8 channels DDR5-5600: 358.4 GB/s; 2 × 16-wide FMA
/// per cycle; 350 W. It is joined as a DGX H100 is.
inline platform<> dgx_b200() { return detail::dgx_with_cards(1, detail::dgx_host(2.1, 358.4), "B200"); }

namespace detail {

inline platform<> hgx_a100(std::size_t nodes) {
  const auto whole = dgx_a100();
  const device cpu = whole.devices()[0];
  const auto nvlinks = [](interconnect_builder& b, device_id a, device_id c) {
    b.join(a, c, {nvlink_latency, 100 * giga, board_cable});
  };
  return hosts_with_gpus(nodes, cpu, whole.devices()[1], 4,
                         link_matrix{rooted_links(nodes, 4, 1, pcie4_x16, cpu.memory_bandwidth,
                                                  {10e-6, 25 * giga, network_cable}, nvlinks)});
}

} // namespace detail

/// NVIDIA HGX A100 with 4 GPUs, all pairs of which have four NVLinks of 25 GB/s per direction, and the host of a
/// DGX A100. Sources: as for `dgx_a100`; *NVIDIA A100 Tensor Core GPU Architecture* white paper (12 links per GPU, here
/// four to each other GPU). Assumed: each GPU has 16 lanes of its own to the host, without a PCIe switch; that is up to
/// who builds the server.
inline platform<> hgx_a100_4gpu() { return detail::hgx_a100(1); }

/// Two HGX A100 with 4 GPUs, each with one network card of 200 Gbit/s, which all that goes to the other node shares.
/// Sources: as for `hgx_a100_4gpu`; the card as for `dgx_a100_x2`, in nodes with a single one, as in FAU's TinyGPU
/// (four A100 and one HDR200 card).
inline platform<> hgx_a100_x2() { return detail::hgx_a100(2); }

/// Two DGX A100 on an InfiniBand network. Each GPU has a network card of its own of 200 Gbit/s, behind the port of the
/// PCIe switch that it shares with it; what goes to the other node passes one of them. Sources: as for `dgx_a100`;
/// *DGX A100* data sheet (8 ConnectX-6 with 200 Gbit/s); Mellanox ConnectX-6 product brief (latency below 1 µs; here
/// with two PCIe hops and a switch).
inline platform<> dgx_a100_x2() {
  const auto one = dgx_a100();
  return detail::hosts_with_gpus(2, one.devices()[0], one.devices()[1], 8, link_matrix{detail::dgx_a100_links(2)});
}

/// A server with two Xeon Platinum 8480+ and `gpus` L40S, half of them at each socket. GPUs have no direct link: those
/// of one socket meet in a PCIe switch, whose lanes to the socket they share; across sockets the data also passes the
/// processors' interconnect. Sources: *NVIDIA L40S* data sheet (TF32 183 TFLOP/s without sparsity, 48 GB, 864 GB/s,
/// PCIe 4.0 with 16 lanes, 350 W); Intel Xeon Platinum 8480+ (56 cores at 2.0 GHz, 8 channels DDR5-4800: 307.2 GB/s, 2
/// × 16-wide FMA per cycle, 350 W). Assumed: there is one PCIe switch per socket, with 16 lanes of PCIe 5.0 up; a
/// transfer across sockets reaches two thirds of the rate within one, and so do all of them together.
inline platform<> pcie_l40s(std::size_t gpus) {
  using namespace detail;
  const device cpu = processor(2 * 350, {.kind = device_kind::cpu,
                                         .speed = 2 * 56 * 2.0 * giga * 64,
                                         .memory_capacity = 1024 * gibi,
                                         .memory_bandwidth = 2 * 307.2 * giga});
  const device gpu = data_sheets::gpu_device("L40S");
  interconnect_builder b{gpus + 1};
  std::array<std::uint32_t, 2> roots{};
  for (device_id socket = 0; socket < 2; ++socket) {
    const auto pcie = b.add_switch("pcie" + std::to_string(socket));
    roots[socket] = b.add_switch("root" + std::to_string(socket));
    b.join(roots[socket], 0, {0, cpu.memory_bandwidth / 2});
    b.join(pcie, roots[socket], {0, pcie5_x16, board_cable});
    for (device_id i = 0; i < gpus / 2; ++i) {
      b.join(static_cast<device_id>(1 + socket * (gpus / 2) + i), pcie, {pcie_latency, pcie4_x16, board_cable});
    }
  }
  b.join(roots[0], roots[1], {pcie_latency, pcie4_x16 * 2 / 3, board_cable});
  return hosts_with_gpus(1, cpu, gpu, gpus, link_matrix{std::move(b).build()});
}

/// Two Xeon Platinum 8480+ in one machine, a device per socket, and no accelerator. Sources: Intel Xeon Platinum 8480+
/// (56 cores at 2.0 GHz, 8 channels DDR5-4800: 307.2 GB/s, 2 × 16-wide FMA per cycle, 4 UPI links at 16 GT/s, of 2
/// bytes per direction, 350 W).
inline platform<> cpu_2socket() {
  using namespace detail;
  const device socket = processor(350, {.kind = device_kind::cpu,
                                        .speed = 56 * 2.0 * giga * 64,
                                        .memory_capacity = 512 * gibi,
                                        .memory_bandwidth = 307.2 * giga,
                                        .send_overhead = data_sheets::message_post});
  interconnect_builder b{2};
  b.join(0, 1, {1e-6, 4 * 32 * giga, board_cable});
  platform<> made{{socket, socket}, link_matrix{std::move(b).build()}};
  made.set_names({"socket0", "socket1"});
  return made;
}

/// NVIDIA Jetson AGX Orin 64 GB, an edge board whose CPU and GPU share one memory: what is handed over is read and
/// written there once, whatever the direction, as their caches do not see each other's changes. Sources: *NVIDIA
/// Jetson AGX Orin Series* technical brief (2048 Ampere cores at 1.3 GHz: 5.3 TFLOP/s in FP32; 12 Cortex-A78AE at 2.2
/// GHz; 64 GB LPDDR5, 204.8 GB/s; the module draws up to 60 W, of which a third is taken to be the CPU's); Arm
/// Cortex-A78 (2 × 4-wide FMA per cycle).
inline platform<> jetson_agx_orin() {
  using namespace detail;
  const device cpu = processor(20, {.kind = device_kind::cpu,
                                    .speed = 12 * 2.2 * giga * 16,
                                    .memory_capacity = 64 * gibi,
                                    .memory_bandwidth = 204.8 * giga});
  const device gpu = accelerator(40, {.kind = device_kind::gpu,
                                      .speed = 5.3 * tera,
                                      .memory_bandwidth = 204.8 * giga,
                                      .memory_of = 0});
  const topology::bus memory{2, {pcie_latency, 102.4 * giga, 2 * board_cable}};
  return hosts_with_gpus(1, cpu, gpu, 1, link_matrix{2, memory});
}

/// A desktop with one or two GeForce RTX 4090 and a Ryzen 9 7950X, which gives one GPU 16 lanes of PCIe 4.0, or two of
/// them 8 each; the GPUs have no direct link and meet in the host. Sources: *NVIDIA Ada GPU Architecture* (RTX 4090:
/// TF32 82.6 TFLOP/s, 24 GB, 1,008 GB/s, 450 W); AMD Ryzen 9 7950X (16 cores at 4.5 GHz, 2 channels DDR5-5200: 83.2
/// GB/s; 2 × 8-wide FMA; 170 W).
inline platform<> workstation(std::size_t gpus) {
  using namespace detail;
  const device cpu = processor(170, {.kind = device_kind::cpu,
                                     .speed = 16 * 4.5 * giga * 32,
                                     .memory_capacity = 128 * gibi,
                                     .memory_bandwidth = 83.2 * giga});
  const device gpu = data_sheets::gpu_device("GeForce RTX 4090");
  const double lanes = gpus == 1 ? pcie4_x16 : pcie4_x8;
  return hosts_with_gpus(
    1, cpu, gpu, gpus, link_matrix{rooted_links(1, gpus, 1, lanes, cpu.memory_bandwidth, link{}, no_direct_links)});
}

namespace detail {

inline platform<> p3(std::size_t nodes) {
  const device cpu = processor(145, {.kind = device_kind::cpu,
                                     .speed = 16 * 2.3 * giga * 32,
                                     .memory_capacity = 244 * gibi,
                                     .memory_bandwidth = 76.8 * giga});
  const device gpu = data_sheets::gpu_device("Tesla V100-SXM2-16GB");
  const auto nvlinks = [](interconnect_builder& b, device_id a, device_id c) {
    const device_id i = (a - 1) % 5;
    const device_id k = (c - 1) % 5;
    const bool twice = (i == 0 && k == 3) || (i == 1 && k == 2) || (i == 2 && k == 3);
    b.join(a, c, {nvlink_latency, (twice ? 50 : 25) * giga, board_cable});
  };
  return hosts_with_gpus(nodes, cpu, gpu, 4,
                         link_matrix{rooted_links(nodes, 4, 2, pcie3_x16, cpu.memory_bandwidth,
                                                  {30e-6, 1.25 * giga, network_cable}, nvlinks)});
}

} // namespace detail

/// A cloud machine like Amazon's p3.8xlarge: four V100 with one or two NVLinks per pair, two to a PCIe switch. Sources:
/// *NVIDIA V100* data sheet (SXM2: FP32 15.7 TFLOP/s, 16 GB, 900 GB/s, 300 W, NVLink 25 GB/s per link and direction);
/// Amazon EC2 P3 (32 vCPU of Xeon E5-2686 v4 at 2.3 GHz, 244 GiB); Xeon E5 v4: 4 channels DDR4-2400: 76.8 GB/s, 2 ×
/// 8-wide FMA per cycle on 16 cores, 145 W. Assumed: the GPUs are joined as the first four of a DGX-1 with V100, of
/// which pairs 0–3, 1–2 and 2–3 have two links, and 0 and 1, and 2 and 3, share a PCIe switch with 16 lanes of PCIe 3.0
/// up (`nvidia-smi topo -m` and NCCL's topology file of such machines, NVIDIA/nccl issue 671).
inline platform<> p3_8xlarge() { return detail::p3(1); }

/// Two of them, each with one uplink of 10 Gbit/s to the network, which all that goes to the other machine shares.
/// Sources: as for `p3_8xlarge`; Amazon's announcement of EC2 P3 (network bandwidth of p3.8xlarge: 10 Gbit/s).
inline platform<> p3_8xlarge_x2() { return detail::p3(2); }

/// 16 nodes of two Xeon Gold 6148 on one switch, with a port of 100 Gbit/s each. Sources: Intel Xeon Gold 6148 (20
/// cores, 1.6 GHz base clock under AVX-512, 2 × 16-wide FMA, 6 channels DDR4-2666: 128 GB/s, 150 W); Mellanox
/// ConnectX-5 product brief (100 Gbit/s, latency below 1 µs, plus one switch).
inline platform<> cpu_cluster_16() {
  using namespace detail;
  const device node = processor(2 * 150, {.kind = device_kind::cpu,
                                          .speed = 2 * 20 * 1.6 * giga * 64,
                                          .memory_capacity = 192 * gibi,
                                          .memory_bandwidth = 2 * 128 * giga,
                                          .send_overhead = data_sheets::message_post});
  std::vector<std::string> names;
  for (const device_id d : ids(16)) {
    names.push_back("node" + std::to_string(d));
  }
  interconnect_builder b{16};
  const auto hub = b.add_switch("switch");
  for (const device_id d : ids(16)) {
    b.join(d, hub, half_way({1e-6, 12.5 * giga, network_cable}));
  }
  platform<> made{std::vector<device>(16, node), link_matrix{std::move(b).build()}};
  made.set_names(std::move(names));
  return made;
}

/// Random devices with the heterogeneity of the critical-path paper in units of today: speeds of 10 to 100 GFLOP/s,
/// links of 1 to 6 GB/s, 1 MFLOP per send, 10 to 100 GB of memory, the slower the more. At these rates the ops and
/// transfers of the bundled networks take about equally long, as the paper's do.
inline platform<> paper_like(std::uint32_t count) {
  const auto drawn = generate::heterogeneous({.devices = count, .memory_times_speed = 1'000'000'000'000}, count);
  std::vector<device> devices = drawn.devices();
  link_matrix links{count};
  std::vector<std::string> names;
  for (const device_id d : ids(count)) {
    devices[d].speed *= detail::giga;
    names.emplace_back(drawn.name(d));
    for (const device_id e : ids(count)) {
      if (d != e) {
        links.set(d, e, {.bandwidth = drawn.bandwidth(d, e) * detail::giga / 10});
      }
    }
  }
  platform<> made{std::move(devices), std::move(links), 1e6};
  made.set_names(std::move(names));
  return made;
}

/// A named platform.
struct entry {
  std::string_view name;
  std::string_view description; ///< one line
  platform<> (*make)();
};

/// All named platforms, by name.
inline constexpr std::array<entry, 20> entries{{
  {"cpu_2socket", "two CPUs of 56 cores in one machine, no accelerator", cpu_2socket},
  {"cpu_cluster_16", "16 nodes of 40 cores, network of 100 Gbit/s", cpu_cluster_16},
  {"dgx_a100", "CPU host and 8 A100 of 80 GB, NVLink", dgx_a100},
  {"dgx_a100_x2", "two such nodes, InfiniBand of 200 Gbit/s per GPU", dgx_a100_x2},
  {"dgx_b200", "CPU host and 8 B200 of 180 GB, NVLink", dgx_b200},
  {"dgx_h100", "CPU host and 8 H100 of 80 GB, NVLink", dgx_h100},
  {"dgx_h100_x2", "two such nodes, InfiniBand of 400 Gbit/s per GPU", dgx_h100_x2},
  {"dgx_h100_x4", "four such nodes, InfiniBand of 400 Gbit/s per GPU", dgx_h100_x4},
  {"dgx_h200", "CPU host and 8 H200 of 141 GB, NVLink", dgx_h200},
  {"hgx_a100_4gpu", "CPU host and 4 A100 of 80 GB, NVLink", hgx_a100_4gpu},
  {"hgx_a100_x2", "two such nodes, one uplink of 200 Gbit/s each", hgx_a100_x2},
  {"jetson_agx_orin", "edge board: CPU and GPU in one memory of 64 GB", jetson_agx_orin},
  {"p3_8xlarge", "CPU host and 4 V100 of 16 GB, NVLink mesh", p3_8xlarge},
  {"p3_8xlarge_x2", "two such machines, one uplink of 10 Gbit/s each", p3_8xlarge_x2},
  {"paper_like_10", "10 random CPUs and GPUs, critical-path paper's ranges", [] { return paper_like(10); }},
  {"paper_like_50", "50 random CPUs and GPUs, critical-path paper's ranges", [] { return paper_like(50); }},
  {"pcie_4gpu", "CPU host with two sockets and 4 L40S of 48 GB, PCIe 4.0", [] { return pcie_l40s(4); }},
  {"pcie_8gpu", "CPU host with two sockets and 8 L40S of 48 GB, PCIe 4.0", [] { return pcie_l40s(8); }},
  {"workstation_1gpu", "desktop CPU and a consumer GPU of 24 GB, PCIe 4.0", [] { return workstation(1); }},
  {"workstation_2gpu", "desktop CPU and 2 consumer GPUs of 24 GB, PCIe 4.0", [] { return workstation(2); }},
}};

/// The platform of that name. Throws `value_error` that lists the names if there is none.
inline platform<> make(std::string_view name) {
  std::string known;
  for (const auto& e : entries) {
    if (e.name == name) {
      return e.make();
    }
    known += (known.empty() ? "" : ", ") + std::string{e.name};
  }
  throw value_error("presets", "there is no platform '" + std::string{name} + "'; choose one of " + known);
}

} // namespace weft::presets
