// SPDX-License-Identifier: BSL-1.0
/// Named platforms, with numbers from public data sheets.
///
/// Speeds are peak FLOP/s for float32 training: TF32 matrix units without sparsity where a GPU has them, else FP32;
/// CPUs: cores × base clock × FLOP per cycle. Bandwidths are per direction. All devices reach their peak here; scale
/// with a cost model (cost/compose.hpp, cost/roofline.hpp) to be closer to what is achieved. Latencies are not on
/// data sheets; the ones here are of the usual order of magnitude.
#pragma once

#include "weft/platform/generate.hpp"
#include "weft/platform/platform.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::presets {

namespace detail {

inline constexpr double giga = 1e9;
inline constexpr double tera = 1e12;
inline constexpr byte_count gibi = byte_count{1} << 30; // memories are built in powers of two, whatever the sheet says

// Latencies: order of magnitude of a small copy, in seconds.
inline constexpr double nvlink_latency = 5e-6;
inline constexpr double pcie_latency = 10e-6;

// PCI Express Base Specification: 16 lanes at 8, 16, 32 GT/s with 128b/130b coding.
inline constexpr double pcie3_x16 = 15.75 * giga;
inline constexpr double pcie4_x8 = 15.75 * giga;
inline constexpr double pcie4_x16 = 31.5 * giga;
inline constexpr double pcie5_x16 = 63.0 * giga;

/// One host CPU, device 0, and GPUs that are alike; `between` links GPUs, numbered without the host.
template <link_model Between>
platform<> host_with_gpus(const device& host, const device& gpu, std::size_t gpus, link to_host,
                          const Between& between) {
  std::vector<device> devices(gpus + 1, gpu);
  devices.front() = host;
  std::vector<std::string> names{"cpu"};
  link_matrix links{gpus + 1, to_host};
  for (device_id d = 1; d <= gpus; ++d) {
    names.push_back("gpu" + std::to_string(d - 1));
    for (device_id e = 1; e <= gpus; ++e) {
      if (d != e) {
        links.set(d, e, between(d - 1, e - 1));
      }
    }
  }
  platform<> made{std::move(devices), std::move(links)};
  made.set_names(std::move(names));
  return made;
}
inline platform<> host_with_gpus(const device& host, const device& gpu, std::size_t gpus, link to_host, link between) {
  return host_with_gpus(host, gpu, gpus, to_host, uniform_links{between});
}

/// Several nodes that are alike, with a network between them.
inline platform<> cluster(const platform<>& node, std::size_t nodes, link network) {
  const auto size = static_cast<device_id>(node.num_devices());
  std::vector<device> devices;
  std::vector<std::string> names;
  link_matrix links{nodes * size, network};
  for (device_id first = 0; first < nodes * size; first += size) {
    for (const device_id d : ids(size)) {
      devices.push_back(node.devices()[d]);
      names.push_back("node" + std::to_string(first / size) + "/" + std::string{node.name(d)});
      for (const device_id e : ids(size)) {
        links.set(first + d, first + e, node.links()(d, e));
      }
    }
  }
  platform<> made{std::move(devices), std::move(links)};
  made.set_names(std::move(names));
  return made;
}

} // namespace detail

/// NVIDIA DGX A100 640 GB. Sources: *NVIDIA A100 Tensor Core GPU* data sheet (80 GB SXM: TF32 156 TFLOP/s, 2,039 GB/s,
/// NVLink 600 GB/s in both directions together, PCIe 4.0); *DGX A100* data sheet (8 GPUs, NVSwitch, 2 × AMD EPYC 7742
/// with 64 cores at 2.25 GHz, 2 TB); AMD EPYC 7742 (8 channels DDR4-3200: 204.8 GB/s; 2 × 8-wide FMA per cycle).
inline platform<> dgx_a100() {
  using namespace detail;
  const device cpu{.kind = device_kind::cpu,
                   .speed = 2 * 64 * 2.25 * giga * 32,
                   .memory_capacity = 2048 * gibi,
                   .memory_bandwidth = 2 * 204.8 * giga};
  const device gpu{
    .kind = device_kind::gpu, .speed = 156 * tera, .memory_capacity = 80 * gibi, .memory_bandwidth = 2039 * giga};
  return host_with_gpus(cpu, gpu, 8, {pcie_latency, pcie4_x16}, {nvlink_latency, 300 * giga});
}

/// NVIDIA DGX H100. Sources: *NVIDIA H100 Tensor Core GPU* data sheet (SXM: TF32 989 TFLOP/s with sparsity, half of it
/// without, 80 GB, 3.35 TB/s, NVLink 900 GB/s in both directions together, PCIe 5.0); *DGX H100* data sheet (8 GPUs,
/// NVSwitch, 2 × Intel Xeon Platinum 8480C with 56 cores at 2.0 GHz, 2 TB); 4th generation Xeon: 8 channels DDR5-4800:
/// 307.2 GB/s; 2 × 16-wide FMA per cycle.
inline platform<> dgx_h100() {
  using namespace detail;
  const device cpu{.kind = device_kind::cpu,
                   .speed = 2 * 56 * 2.0 * giga * 64,
                   .memory_capacity = 2048 * gibi,
                   .memory_bandwidth = 2 * 307.2 * giga};
  const device gpu{
    .kind = device_kind::gpu, .speed = 494.5 * tera, .memory_capacity = 80 * gibi, .memory_bandwidth = 3350 * giga};
  return host_with_gpus(cpu, gpu, 8, {pcie_latency, pcie5_x16}, {nvlink_latency, 450 * giga});
}

/// NVIDIA HGX A100 with 4 GPUs, all pairs of which have four NVLinks of 25 GB/s per direction, and the host of a
/// DGX A100. Sources: as for `dgx_a100`; *NVIDIA A100 Tensor Core GPU Architecture* white paper (12 links per GPU, here
/// four to each other GPU).
inline platform<> hgx_a100_4gpu() {
  using namespace detail;
  const auto whole = dgx_a100();
  return host_with_gpus(whole.devices()[0], whole.devices()[1], 4, {pcie_latency, pcie4_x16},
                        {nvlink_latency, 100 * giga});
}

/// Two DGX A100 on an InfiniBand network. Each GPU has a network card of its own of 200 Gbit/s; what goes to the other
/// node passes one of them. Sources: as for `dgx_a100`; *DGX A100* data sheet (8 ConnectX-6 with 200 Gbit/s); Mellanox
/// ConnectX-6 product brief (latency below 1 µs; here with two PCIe hops and a switch).
inline platform<> dgx_a100_x2() {
  using namespace detail;
  return cluster(dgx_a100(), 2, {10e-6, 25 * giga});
}

/// A server with two Xeon Platinum 8480+ and `gpus` L40S, half of them at each socket. GPUs have no direct link: at
/// one socket they meet in its PCIe root, across sockets the data also passes the processors' interconnect. Sources:
/// *NVIDIA L40S* data sheet (TF32 183 TFLOP/s without sparsity, 48 GB, 864 GB/s, PCIe 4.0 with 16 lanes); Intel Xeon
/// Platinum 8480+ (56 cores at 2.0 GHz, 8 channels DDR5-4800: 307.2 GB/s, 2 × 16-wide FMA per cycle). A transfer
/// across sockets is taken to reach two thirds of the rate within one (an estimate).
inline platform<> pcie_l40s(std::size_t gpus) {
  using namespace detail;
  const device cpu{.kind = device_kind::cpu,
                   .speed = 2 * 56 * 2.0 * giga * 64,
                   .memory_capacity = 1024 * gibi,
                   .memory_bandwidth = 2 * 307.2 * giga};
  const device gpu{
    .kind = device_kind::gpu, .speed = 183 * tera, .memory_capacity = 48 * gibi, .memory_bandwidth = 864 * giga};
  const hierarchical_links sockets{{{2 * pcie_latency, pcie4_x16}, {3 * pcie_latency, pcie4_x16 * 2 / 3}}, {gpus / 2}, gpus};
  return host_with_gpus(cpu, gpu, gpus, {pcie_latency, pcie4_x16}, sockets);
}

/// Two Xeon Platinum 8480+ in one machine, a device per socket, and no accelerator. Sources: Intel Xeon Platinum 8480+
/// (56 cores at 2.0 GHz, 8 channels DDR5-4800: 307.2 GB/s, 2 × 16-wide FMA per cycle, 4 UPI links at 16 GT/s, of 2
/// bytes per direction).
inline platform<> cpu_2socket() {
  using namespace detail;
  const device socket{.kind = device_kind::cpu,
                      .speed = 56 * 2.0 * giga * 64,
                      .memory_capacity = 512 * gibi,
                      .memory_bandwidth = 307.2 * giga};
  platform<> made{{socket, socket}, link_matrix{2, {1e-6, 4 * 32 * giga}}};
  made.set_names({"socket0", "socket1"});
  return made;
}

/// NVIDIA Jetson AGX Orin 64 GB, an edge board whose CPU and GPU share one memory: each is given half of it here, and
/// to hand something over is to copy it, which reads and writes the memory. Sources: *NVIDIA Jetson AGX Orin Series*
/// technical brief (2048 Ampere cores at 1.3 GHz: 5.3 TFLOP/s in FP32; 12 Cortex-A78AE at 2.2 GHz; 64 GB LPDDR5,
/// 204.8 GB/s); Arm Cortex-A78 (2 × 4-wide FMA per cycle).
inline platform<> jetson_agx_orin() {
  using namespace detail;
  const device cpu{.kind = device_kind::cpu,
                   .speed = 12 * 2.2 * giga * 16,
                   .memory_capacity = 32 * gibi,
                   .memory_bandwidth = 204.8 * giga};
  const device gpu{
    .kind = device_kind::gpu, .speed = 5.3 * tera, .memory_capacity = 32 * gibi, .memory_bandwidth = 204.8 * giga};
  return host_with_gpus(cpu, gpu, 1, {pcie_latency, 102.4 * giga}, link{});
}

/// A desktop with one or two GeForce RTX 4090 and a Ryzen 9 7950X, which gives one GPU 16 lanes of PCIe 4.0, or two of
/// them 8 each; the GPUs have no direct link and meet in the host's memory. Sources: *NVIDIA Ada GPU Architecture* (RTX 4090: TF32 82.6 TFLOP/s,
/// 24 GB, 1,008 GB/s); AMD Ryzen 9 7950X (16 cores at 4.5 GHz, 2 channels DDR5-5200: 83.2 GB/s; 2 × 8-wide FMA).
inline platform<> workstation(std::size_t gpus) {
  using namespace detail;
  const device cpu{.kind = device_kind::cpu,
                   .speed = 16 * 4.5 * giga * 32,
                   .memory_capacity = 128 * gibi,
                   .memory_bandwidth = 83.2 * giga};
  const device gpu{
    .kind = device_kind::gpu, .speed = 82.6 * tera, .memory_capacity = 24 * gibi, .memory_bandwidth = 1008 * giga};
  const double lanes = gpus == 1 ? pcie4_x16 : pcie4_x8;
  return host_with_gpus(cpu, gpu, gpus, {pcie_latency, lanes}, {2 * pcie_latency, lanes});
}

/// A cloud machine like Amazon's p3.8xlarge: four V100 with one or two NVLinks per pair. Sources: *NVIDIA V100* data
/// sheet (SXM2: FP32 15.7 TFLOP/s, 16 GB, 900 GB/s, NVLink 25 GB/s per link and direction); *NVIDIA DGX-1 With Tesla
/// V100* white paper (which pairs have two links); Amazon EC2 P3 (32 vCPU of Xeon E5-2686 v4 at 2.3 GHz, 244 GiB);
/// Xeon E5 v4: 4 channels DDR4-2400: 76.8 GB/s, 2 × 8-wide FMA per cycle on 16 cores.
inline platform<> p3_8xlarge() {
  using namespace detail;
  const device cpu{.kind = device_kind::cpu,
                   .speed = 16 * 2.3 * giga * 32,
                   .memory_capacity = 244 * gibi,
                   .memory_bandwidth = 76.8 * giga};
  const device gpu{
    .kind = device_kind::gpu, .speed = 15.7 * tera, .memory_capacity = 16 * gibi, .memory_bandwidth = 900 * giga};
  const link once{nvlink_latency, 25 * giga};
  const link twice{nvlink_latency, 50 * giga};
  auto one_link = host_with_gpus(cpu, gpu, 4, {pcie_latency, pcie3_x16}, once);
  auto links = one_link.links();
  links.connect(1, 4, twice); // GPUs 0 and 3
  links.connect(2, 3, twice); // 1 and 2
  links.connect(3, 4, twice); // 2 and 3
  platform<> made{one_link.devices(), std::move(links)};
  made.set_names({"cpu", "gpu0", "gpu1", "gpu2", "gpu3"});
  return made;
}

/// 16 nodes of two Xeon Gold 6148 on a switched network of 100 Gbit/s. Sources: Intel Xeon Gold 6148 (20 cores, 1.6 GHz
/// base clock under AVX-512, 2 × 16-wide FMA, 6 channels DDR4-2666: 128 GB/s); Mellanox ConnectX-5 product brief
/// (100 Gbit/s, latency below 1 µs, plus one switch).
inline platform<> cpu_cluster_16() {
  using namespace detail;
  const device node{.kind = device_kind::cpu,
                    .speed = 2 * 20 * 1.6 * giga * 64,
                    .memory_capacity = 192 * gibi,
                    .memory_bandwidth = 2 * 128 * giga};
  std::vector<std::string> names;
  for (const device_id d : ids(16)) {
    names.push_back("node" + std::to_string(d));
  }
  platform<> made{std::vector<device>(16, node), link_matrix{16, {1e-6, 12.5 * giga}}};
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
  bool peak_speeds = true; ///< of data sheets, of which ops reach a share; else speeds that ops reach
};

/// All named platforms, by name.
inline constexpr std::array<entry, 14> entries{{
  {"cpu_2socket", "two CPUs of 56 cores in one machine, no accelerator", cpu_2socket},
  {"cpu_cluster_16", "16 nodes of 40 cores, network of 100 Gbit/s", cpu_cluster_16},
  {"dgx_a100", "CPU host and 8 A100 of 80 GB, NVLink", dgx_a100},
  {"dgx_a100_x2", "two such nodes, InfiniBand of 200 Gbit/s per GPU", dgx_a100_x2},
  {"dgx_h100", "CPU host and 8 H100 of 80 GB, NVLink", dgx_h100},
  {"hgx_a100_4gpu", "CPU host and 4 A100 of 80 GB, NVLink", hgx_a100_4gpu},
  {"jetson_agx_orin", "edge board: CPU and GPU with 64 GB between them", jetson_agx_orin},
  {"p3_8xlarge", "CPU host and 4 V100 of 16 GB, NVLink mesh", p3_8xlarge},
  {"paper_like_10", "10 random CPUs and GPUs, critical-path paper's ranges", [] { return paper_like(10); }, false},
  {"paper_like_50", "50 random CPUs and GPUs, critical-path paper's ranges", [] { return paper_like(50); }, false},
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
