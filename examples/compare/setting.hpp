// SPDX-License-Identifier: BSL-1.0
/// What `compare` runs on: a workload on a platform with costs, and what is computed once for it.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/cost/linear.hpp"
#include "weft/io/dnn_partitioning.hpp"
#include "weft/io/read.hpp"
#include "weft/platform/identical.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/report/comparison.hpp"
#include "weft/workload/generate/suite.hpp"
#include "weft/workload/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compare {

/// Compute times from a table, or linear ones without a table; transfers over links. One type for all problems, so
/// that every strategy is compiled once.
struct costs : weft::cost::link_transfers {
  costs() = default;
  /// ops × devices, row-major; empty for linear costs. Not copied.
  explicit costs(std::span<const double> table) : seconds_{table} {}

  template <class W, class P>
  double compute_time(const W& w, weft::op_id v, const P& p, weft::device_id d) const {
    return seconds_.empty() ? w.work(v) / p.speed(d) : seconds_[v * p.num_devices() + d];
  }
  template <class P>
  weft::device_id device_class(const P& p, weft::device_id d) const {
    return seconds_.empty() ? weft::cost::linear{}.device_class(p, d) : d;
  }

private:
  std::span<const double> seconds_ = {};
};
using problem = weft::problem<weft::workload, weft::platform<>, costs>;
using study = weft::io::dnn_partitioning;

/// Where a workload stands that brings its devices.
inline constexpr std::string_view own_devices = "own devices";

/// A workload of the command line. Some bring their own devices and costs.
struct input {
  std::string name;
  weft::workload ops = {};
  std::optional<weft::platform<>> devices = {};
  std::vector<double> seconds = {};
  std::unique_ptr<study> placement_study = {}; ///< then nothing else is there
};

/// A workload on a platform.
struct setting {
  std::string workload_name;
  std::string platform_name;
  const study* placement_study = nullptr; ///< then there is no task
  std::optional<problem> task = {};
  weft::lower_bound bound = {};
  double bound_of_period = weft::report::absent; ///< filled where it is needed
  double unit_seconds = 1;                       ///< seconds per unit of all times

  const weft::workload& workload() const { return placement_study ? placement_study->ops : task->workload(); }
};

/// How a workload or platform is called in the results: as given, a file by its name without folder and extension.
inline std::string short_name(const std::string& spec) {
  for (const char* prefix : {"zoo:", "preset:", "identical:"}) {
    if (spec.starts_with(prefix)) {
      return spec;
    }
  }
  return std::filesystem::path{spec}.stem().string();
}

inline input make_suite_input(const weft::generate::suite_entry& e) {
  auto made = weft::generate::make_suite_instance(e);
  return {.name = "suite:" + e.name(),
          .ops = std::move(made.ops),
          .devices = weft::platform<>{made.devices.devices(),
                                      weft::link_matrix{made.devices.num_devices(), made.devices.links().all},
                                      made.devices.send_work()},
          .seconds = std::move(made.seconds)};
}

/// All of the suite whose names are `wanted`, or start with it before a slash.
inline std::vector<input> load_suite(std::string_view wanted) {
  std::vector<input> inputs;
  for (const auto& e : weft::generate::suite()) {
    const auto name = e.name();
    if (wanted == "all" || name == wanted || name.starts_with(std::string{wanted} + "/")) {
      inputs.push_back(make_suite_input(e));
    }
  }
  if (inputs.empty()) {
    throw weft::error(
      fmt::format("the suite has no '{}'; it has all, {}, and parts of them such as 'fft/ccr 1/related'", wanted,
                  fmt::join(weft::generate::suite_families, ", ")));
  }
  return inputs;
}

/// The workloads of one item of `--workload`.
inline std::vector<input> load_workloads(const std::string& spec) {
  if (spec.starts_with("suite:")) {
    return load_suite(std::string_view{spec}.substr(6));
  }
  std::vector<input> one(1);
  one[0].name = short_name(spec);
  if (spec.starts_with("zoo:")) {
    one[0].ops = weft::zoo::make(spec.substr(4));
  } else if (weft::io::holds_dnn_partitioning(spec)) {
    one[0].placement_study = std::make_unique<study>(weft::io::read_dnn_partitioning(std::filesystem::path{spec}));
  } else {
    one[0].ops = weft::io::read_workload(spec);
  }
  return one;
}

inline weft::platform<> load_platform(const std::string& spec) {
  constexpr std::string_view identical = "identical:";
  if (spec.starts_with(identical)) {
    std::uint32_t count = 0;
    const char* const end = spec.data() + spec.size();
    const auto [rest, failed] = std::from_chars(spec.data() + identical.size(), end, count);
    if (failed != std::errc{} || rest != end || count == 0) {
      throw weft::error(fmt::format("'{}' is no platform: write the number of devices, as in identical:4", spec));
    }
    return weft::presets::identical(count);
  }
  return spec.starts_with("preset:") ? weft::presets::make(spec.substr(7)) : weft::io::read_platform(spec);
}

/// Everything that the command line names. Settings refer to the inputs and platforms beside them.
struct bench {
  std::vector<input> inputs;
  std::vector<weft::platform<>> platforms;
  std::vector<setting> settings; ///< workload by workload, in the order of the command line

  /// Throws `error` for what cannot be read, and if platforms are missing or of no use.
  bench(const std::vector<std::string>& workloads, const std::vector<std::string>& where) {
    for (const auto& spec : workloads) {
      for (auto& loaded : load_workloads(spec)) {
        inputs.push_back(std::move(loaded));
      }
    }
    const auto brings_devices = [](const input& i) { return i.devices || i.placement_study; };
    const auto own = static_cast<std::size_t>(std::count_if(inputs.begin(), inputs.end(), brings_devices));
    if (where.empty() && own < inputs.size()) {
      throw weft::error("--platform is required (compare --help says more)");
    }
    if (!where.empty() && own == inputs.size()) {
      throw weft::error(fmt::format("'{}' brings its own devices; leave --platform out", inputs.front().name));
    }
    for (const auto& spec : where) {
      platforms.push_back(load_platform(spec));
    }
    for (const auto& i : inputs) {
      if (i.placement_study) {
        settings.push_back({.workload_name = i.name,
                            .platform_name = std::string{own_devices},
                            .placement_study = i.placement_study.get(),
                            .unit_seconds = 1e-3});
      } else if (i.devices) {
        add(i, std::string{own_devices}, *i.devices);
      } else {
        for (std::size_t p = 0; p < platforms.size(); ++p) {
          add(i, short_name(where[p]), platforms[p]);
        }
      }
    }
  }
  bench(const bench&) = delete;

private:
  void add(const input& i, std::string platform_name, const weft::platform<>& q) {
    settings.push_back({.workload_name = i.name, .platform_name = std::move(platform_name)});
    auto& task = settings.back().task.emplace(i.ops, q, costs{i.seconds});
    settings.back().bound = weft::bound::best(task);
  }
};

} // namespace compare
