// SPDX-License-Identifier: BSL-1.0
#include "setting.hpp"

#include "tool/files.hpp"
#include "tool/networks.hpp"
#include "tool/platforms.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/table.hpp"
#include "weft/io/read.hpp"
#include "weft/workload/generate/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace comparison {
namespace {

/// How a workload or platform is called in the results: as given, a file by its name without folder and extension.
std::string short_name(const std::string& spec) {
  for (const char* prefix : {"zoo:", "preset:", "identical:"}) {
    if (spec.starts_with(prefix)) {
      return spec;
    }
  }
  return std::filesystem::path{spec}.stem().string();
}

input make_suite_input(const weft::generate::suite_entry& e) {
  auto made = weft::generate::make_suite_instance(e);
  return {.name = "suite:" + e.name(),
          .ops = std::move(made.ops),
          .devices = weft::platform<>{made.devices.devices(),
                                      weft::link_matrix{made.devices.num_devices(), made.devices.links().all},
                                      made.devices.send_work()},
          .seconds = std::move(made.seconds)};
}

/// All of the suite whose names are `wanted`, or start with it before a slash.
std::vector<input> load_suite(std::string_view wanted) {
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
std::vector<input> load_workloads(const std::string& spec) {
  if (spec.starts_with("suite:")) {
    return load_suite(std::string_view{spec}.substr(6));
  }
  std::vector<input> one(1);
  one[0].name = short_name(spec);
  if (spec.starts_with("zoo:")) {
    one[0].ops = tool::make_network(spec.substr(4));
  } else if (weft::io::holds_dnn_partitioning(spec)) {
    one[0].placement_study = std::make_unique<study>(weft::io::read_dnn_partitioning(std::filesystem::path{spec}));
  } else {
    one[0].ops = tool::read_workload(spec);
  }
  return one;
}

} // namespace

bench::bench(const std::vector<std::string>& workloads, const std::vector<std::string>& where) {
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
    platforms.push_back(tool::load_platform(spec));
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

void bench::add(const input& i, std::string platform_name, const weft::platform<>& q) {
  settings.push_back({.workload_name = i.name, .platform_name = std::move(platform_name)});
  auto costs = i.seconds.empty()
                 ? weft::cost::tabulated{weft::cost::linear{}, i.ops, q}
                 : weft::cost::tabulated{weft::cost::table{i.seconds, i.ops.num_ops(), q.num_devices()}, i.ops, q};
  auto& task = settings.back().task.emplace(i.ops, q, std::move(costs));
  settings.back().bound = weft::bound::best(task);
}

} // namespace comparison
