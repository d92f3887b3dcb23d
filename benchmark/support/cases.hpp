// SPDX-License-Identifier: BSL-1.0
/// The inputs that several benchmarks share.
#pragma once

#include "weft/platform/generate.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/workload/generate.hpp"
#include "weft/workload/zoo.hpp"
#ifdef WEFT_REFERENCE_DATA
#include "weft/io/critical_path_csv.hpp"
#endif

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using problem = weft::problem<weft::workload, weft::platform<>>;

/// Something with a name for the output.
template <class T>
struct named {
  std::string name;
  T value;
};

#ifdef WEFT_REFERENCE_DATA
inline constexpr bool has_reference_data = true;
inline std::string reference_file(const std::string& name) {
  return std::string{WEFT_REFERENCE_DATA} + "/data/critical_path_paper/" + name + ".csv";
}
#else
inline constexpr bool has_reference_data = false;
#endif

/// The graphs of the critical-path paper where they are at hand, else the bundled networks that resemble them.
inline std::vector<named<weft::workload>> paper_workloads() {
  std::vector<named<weft::workload>> list;
#ifdef WEFT_REFERENCE_DATA
  for (const std::string name : {"convolutional_network", "recurrent_network"}) {
    list.push_back({name, weft::io::read_workload_csv(std::filesystem::path{reference_file(name)})});
  }
#else
  for (const std::string name : {"mnist_conv", "lstm"}) {
    list.push_back({"zoo:" + name, weft::zoo::make(name)});
  }
#endif
  return list;
}

/// The device files of the critical-path paper where they are at hand, else the bundled platforms like them.
inline std::vector<named<weft::platform<>>> paper_platforms() {
  std::vector<named<weft::platform<>>> list;
#ifdef WEFT_REFERENCE_DATA
  for (const std::string name : {"devices_10", "devices_50"}) {
    list.push_back({name, weft::io::read_platform_csv(std::filesystem::path{reference_file(name)})});
  }
#else
  for (const std::string name : {"paper_like_10", "paper_like_50"}) {
    list.push_back({"preset:" + name, weft::presets::make(name)});
  }
#endif
  return list;
}

/// A random layered graph: levels of 1,000 ops (fewer in small graphs), 4 inputs per op.
inline weft::workload layered(std::uint64_t num_ops) {
  const auto width = static_cast<std::uint32_t>(std::min<std::uint64_t>(1000, num_ops / 10));
  return weft::generate::layered_sized(num_ops, width, 4, 1);
}

/// Random devices with memory for everything; `send_work` is what a send costs.
inline weft::platform<> devices(std::uint32_t count, double send_work = 10) {
  return weft::generate::heterogeneous(
    {.devices = count, .memory_times_speed = std::uint64_t{1} << 62, .send_work = send_work}, 1);
}

} // namespace bench
