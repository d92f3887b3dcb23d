// SPDX-License-Identifier: BSL-1.0
/// A suite of problems for comparing strategies: every family of graphs, with little and much communication, on devices
/// that are identical, related or unrelated.
#pragma once

#include "weft/cost/generate/ccr.hpp"
#include "weft/cost/table.hpp"
#include "weft/workload/generate/fft.hpp"
#include "weft/workload/generate/fork_join.hpp"
#include "weft/workload/generate/gauss.hpp"
#include "weft/workload/generate/heterogeneity.hpp"
#include "weft/workload/generate/layered.hpp"
#include "weft/workload/generate/random_dag.hpp"
#include "weft/workload/generate/series_parallel.hpp"
#include "weft/workload/generate/stencil.hpp"
#include "weft/workload/generate/tiles.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::generate {

/// The heterogeneity of the devices of a suite.
enum class heterogeneity : std::uint8_t {
  identical, ///< speed 1
  related,   ///< speeds from 1 to 4
  unrelated, ///< the range-based method with beta = 1
};

constexpr std::string_view to_string(heterogeneity h) {
  switch (h) {
  case heterogeneity::identical: return "identical";
  case heterogeneity::related: return "related";
  case heterogeneity::unrelated: break;
  }
  return "unrelated";
}

/// The families of the suite. `constrained` is `layered` with ops for CPUs or GPUs only and colocation groups.
inline constexpr std::array<std::string_view, 11> suite_families{
  "layered", "constrained", "random_dag", "fork_join",  "series_parallel", "fft",
  "gauss",   "cholesky",    "lu",         "stencil_1d", "stencil_2d"};
inline constexpr std::array<double, 3> suite_ccrs{0.1, 1, 10};

/// One problem of the suite, before it is made.
struct suite_entry {
  std::string family;
  double ccr = 1;
  heterogeneity devices = heterogeneity::identical;
  std::uint64_t seed = 1; ///< of everything that is drawn

  /// Such as `cholesky/ccr 0.1/related/1`.
  std::string name() const {
    const std::string ratio = ccr == 0.1 ? "0.1" : std::to_string(static_cast<int>(ccr));
    return family + "/ccr " + ratio + "/" + std::string{to_string(devices)} + "/" + std::to_string(seed);
  }
};

/// One problem of the suite: what `problem` needs. `seconds` is the table of compute times that goes with
/// `cost::table{seconds, ops.num_ops(), devices.num_devices()}`, also where devices are identical or related, so that
/// all problems are of one type. Memory is unlimited.
struct suite_instance {
  workload ops;
  platform<uniform_links> devices;
  std::vector<double> seconds;

  /// Refers to `seconds`.
  cost::table costs() const& { return {seconds, ops.num_ops(), devices.num_devices()}; }
  cost::table costs() const&& = delete;
};

/// All entries: families × CCRs {0.1, 1, 10} × heterogeneities, in this order, once per seed 1 … `seeds`.
inline std::vector<suite_entry> suite(std::uint64_t seeds = 1) {
  std::vector<suite_entry> entries;
  for (const auto family : suite_families) {
    for (const double ccr : suite_ccrs) {
      for (const auto h : {heterogeneity::identical, heterogeneity::related, heterogeneity::unrelated}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
          entries.push_back({std::string{family}, ccr, h, seed});
        }
      }
    }
  }
  return entries;
}

/// The graph of a family, of 60 to 600 ops. Throws `error` for an unknown name.
inline workload suite_workload(std::string_view family, std::uint64_t seed) {
  const layered_dag_options leveled{.shape = {.min_width = 5, .max_width = 25, .num_ops = 300, .in_degree = 3}};
  if (family == "layered") {
    auto o = leveled;
    o.cpu_only_probability = o.gpu_only_probability = o.colocation_share = 0;
    return layered(o, seed);
  }
  if (family == "constrained") {
    auto o = leveled;
    o.cpu_only_probability = o.gpu_only_probability = 0.1;
    return layered(o, seed);
  }
  if (family == "random_dag") {
    return random_dag({.ops = 200, .degree = 3}, seed);
  }
  if (family == "fork_join") {
    return fork_join(fork_join_options{.width = 12, .length = 3, .stages = 6}, seed);
  }
  if (family == "series_parallel") {
    return series_parallel({.ops = 200, .parallel_share = 0.6}, seed);
  }
  if (family == "fft") {
    return fft({.points = 32});
  }
  if (family == "gauss") {
    return gaussian_elimination({.columns = 20, .rows_per_column = 50});
  }
  if (family == "cholesky") {
    return cholesky({.tiles = 12});
  }
  if (family == "lu") {
    return lu({.tiles = 8});
  }
  if (family == "stencil_1d") {
    return stencil_1d({.width = 24, .steps = 20});
  }
  if (family == "stencil_2d") {
    return stencil_2d({.width = 8, .height = 8, .steps = 8});
  }
  throw error("there is no family '" + std::string{family} + "' of generated workloads");
}

/// A problem of the suite's kind on another graph and another number of devices, half of them, rounded down and the
/// last ones, GPUs. Of the entry, the family does not count.
inline suite_instance make_suite_instance(const suite_entry& e, const workload& raw, std::uint32_t num_devices) {
  double work = 0;
  for (const op_id v : ids(raw.num_ops())) {
    work += raw.work(v);
  }
  // Links are so slow that tensors become gigabytes: whole bytes then do not spoil the ratio.
  const link all{.bandwidth = 1e9 / (work / static_cast<double>(raw.num_ops()))};
  const double fastest = e.devices == heterogeneity::related ? 4 : 1;
  suite_instance made{
    {}, related_platform({.devices = num_devices, .max_speed = fastest, .all = all, .gpu_share = 0.5}, e.seed), {}};
  if (e.devices == heterogeneity::unrelated) {
    made.seconds = range_based_costs(raw, made.devices.num_devices(), 1, e.seed);
  } else {
    for (const op_id v : ids(raw.num_ops())) {
      for (const device_id d : ids(made.devices.num_devices())) {
        made.seconds.push_back(raw.work(v) / made.devices.speed(d));
      }
    }
  }
  made.ops = with_ccr(raw, made.devices, e.ccr, cost::table{made.seconds, raw.num_ops(), made.devices.num_devices()});
  return made;
}

/// Makes a problem of the suite: 8 devices, the last four GPUs, and the same link between any two. The same entry gives
/// the same problem everywhere, and another seed other devices, too, where those are drawn.
/// Throws `error` for an unknown family.
inline suite_instance make_suite_instance(const suite_entry& e) {
  return make_suite_instance(e, suite_workload(e.family, e.seed), 8);
}

} // namespace weft::generate
