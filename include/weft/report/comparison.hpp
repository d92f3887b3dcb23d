// SPDX-License-Identifier: BSL-1.0
/// The runs of a comparison of strategies, and their summary: winners, ratios, and gaps to the bound.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/order_origin.hpp"
#include "weft/report/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::report {

/// The gap of a makespan above a lower bound, as `gap_above` says. `absent` unless both are finite and the bound is
/// positive.
inline double relative_gap(double makespan, double lower_bound) {
  return std::isfinite(makespan) && std::isfinite(lower_bound) && lower_bound > 0 ? gap_above(lower_bound, makespan)
                                                                                   : absent;
}

/// The name that stands for a refiner or a ready policy where there is none.
inline constexpr std::string_view no_strategy = "none";

/// One run of one partitioner, perhaps a refiner, and a ready policy: one row of the CSV file.
struct run_record {
  std::string workload = {};
  std::string platform = {};
  std::string partition = {};
  std::string schedule = {};
  int repeat = 0; ///< counted from 0
  std::uint64_t seed = 0;
  std::string status = {};           ///< `solved`, `infeasible`, …
  double makespan = absent;          ///< in `unit`; `absent` unless there is a valid plan; or what `objective` says
  double lower_bound = absent;       ///< in `unit`
  double gap = absent;               ///< `relative_gap(makespan, lower_bound)`
  std::optional<std::uint64_t> transfer_bytes = {}; ///< moved between devices; none where nothing was simulated
  std::optional<std::uint64_t> peak_memory = {};    ///< bytes, on the device where it is largest; as above
  double partition_seconds = absent; ///< wall time
  double schedule_seconds = absent;
  double simulate_seconds = absent;
  std::string reason = {};                       ///< one line why there is no plan; not a CSV column
  std::string lower_bound_name = {};             ///< which bound it is, e.g. `critical path`; the column `bound`
  std::string refine = std::string{no_strategy}; ///< the refiner
  std::string objective = "makespan";            ///< `makespan`, or what stands in its place: `period`, `energy`, …
  double refine_seconds = absent;
  order_origin order = order_origin::unknown; ///< of the run; the column is empty where nothing ran
  std::string unit = "s";  ///< of the objective; not a CSV column
  double unit_seconds = 1; ///< seconds per unit of makespan and bound, where files have another unit; not a CSV column

  bool solved() const { return std::isfinite(makespan); }
};

/// All repeats of one partitioner × refiner × ready policy on one workload and platform. Means are over the solved
/// runs.
struct combination {
  std::string partition;
  std::string schedule;
  std::size_t runs = 0;
  std::size_t solved = 0;
  double makespan_mean = absent; ///< in the section's unit
  double makespan_low = absent;  ///< the 95 % confidence interval of the mean, as `mean_interval` has it
  double makespan_high = absent;
  double makespan_min = absent;
  double makespan_max = absent;
  double speed_up = absent;         ///< mean makespan of `hash` + `fifo` on the same workload and platform / own mean
  double gap = absent;              ///< of the mean makespan to the lower bound
  double transfer_bytes = absent;   ///< mean; absent if one of the runs has none
  double peak_memory = absent;      ///< mean, bytes; as above
  double planning_seconds = absent; ///< mean wall time of partition, refinement and schedule together
  bool best = false;                ///< solved every run, and no combination that did has a smaller mean
  std::string status = {};          ///< of the first run that was not solved; of the first run if all were
  std::string reason = {};          ///< of the first run that was not solved
  std::string refine = std::string{no_strategy};
  order_origin order = order_origin::unknown; ///< of the first run that was solved

  /// True if the order of the runs is not the one of the strategy that decided the placement.
  bool in_other_order() const { return order == order_origin::replaced || order == order_origin::undecided; }
  /// Such as `heft + tabu_search`, or `heft` without a refiner.
  std::string planner() const { return refine == no_strategy ? partition : partition + " + " + refine; }
  /// Such as `heft + tabu_search + static_order`. Without the schedule if there is none, or if what partitions does
  /// that, too, and stands for both.
  std::string name() const {
    return schedule == no_strategy || schedule == partition ? planner() : planner() + " + " + schedule;
  }
};

/// One workload on one platform.
struct section {
  std::string workload;
  std::string platform;
  double lower_bound = absent; ///< in `unit`; the largest that a run reported
  std::string lower_bound_name = {};
  std::vector<combination> combinations = {}; ///< best first; those that failed in some runs, then in all, come last
  std::string objective = "makespan";
  std::string unit = "s";  ///< of the objective
  double unit_seconds = 1; ///< seconds per unit of all times
  std::vector<std::string> notes = {}; ///< what the costs rest on, one line each

  std::string title() const { return workload + " on " + platform; }
  bool is_time() const { return unit == "s"; } ///< what is minimised
  /// Whether some combination has a refiner.
  bool refined() const {
    return std::any_of(combinations.begin(), combinations.end(),
                       [](const combination& c) { return c.refine != no_strategy; });
  }
};

/// The assumptions behind the costs of a workload on a platform, one line each.
struct cost_notes {
  std::string workload;
  std::string platform;
  std::vector<std::string> lines;
};

/// Runs in the order in which they were made.
struct comparison {
  std::vector<run_record> runs;
  std::vector<cost_notes> notes = {}; ///< of any of the workloads and platforms

  /// Aggregates the runs per workload × platform (in order of first appearance) and combination (best first; ties in
  /// order of first appearance). Complexity: O(r log r) for r runs.
  std::vector<section> sections() const;
};

namespace detail {

/// Sums that become a `combination`.
struct tally {
  std::vector<double> makespans = {};
  double transfer_bytes = 0;
  double peak_memory = 0;
  double planning_seconds = 0;
};

inline void add(combination& c, tally& sum, const run_record& r) {
  ++c.runs;
  if (!r.solved()) {
    if (c.solved + 1 == c.runs) { // the first that failed
      c.status = r.status;
      c.reason = r.reason;
    }
    return;
  }
  if (c.runs == 1) {
    c.status = r.status;
  }
  ++c.solved;
  c.order = c.solved == 1 ? r.order : c.order;
  c.makespan_min = c.solved == 1 ? r.makespan : std::min(c.makespan_min, r.makespan);
  c.makespan_max = c.solved == 1 ? r.makespan : std::max(c.makespan_max, r.makespan);
  sum.makespans.push_back(r.makespan);
  sum.transfer_bytes += r.transfer_bytes ? static_cast<double>(*r.transfer_bytes) : absent;
  sum.peak_memory += r.peak_memory ? static_cast<double>(*r.peak_memory) : absent;
  for (const double seconds : {r.partition_seconds, r.refine_seconds, r.schedule_seconds}) {
    sum.planning_seconds += std::isfinite(seconds) ? seconds : 0;
  }
}

inline void finish(combination& c, const tally& sum) {
  if (c.solved == 0) {
    return;
  }
  const auto n = static_cast<double>(c.solved);
  const auto makespan = mean_interval(sum.makespans);
  c.makespan_mean = makespan.mean;
  c.makespan_low = makespan.low;
  c.makespan_high = makespan.high;
  c.transfer_bytes = sum.transfer_bytes / n;
  c.peak_memory = sum.peak_memory / n;
  c.planning_seconds = sum.planning_seconds / n;
}

/// 0: every run was solved, 1: some were, 2: none was.
inline int failure_rank(const combination& c) {
  return c.solved == c.runs ? 0 : c.solved != 0 ? 1 : 2;
}

inline void rank(section& s) {
  const auto baseline = std::find_if(s.combinations.begin(), s.combinations.end(), [](const combination& c) {
    return c.partition == "hash" && c.schedule == "fifo" && c.refine == no_strategy;
  });
  const double reference = baseline == s.combinations.end() ? absent : baseline->makespan_mean;
  for (auto& c : s.combinations) {
    c.gap = relative_gap(c.makespan_mean, s.lower_bound);
    c.speed_up = c.makespan_mean > 0 ? reference / c.makespan_mean : absent;
  }
  weft::stable_sort(s.combinations, [](const combination& a, const combination& b) {
    const int ra = failure_rank(a), rb = failure_rank(b);
    return ra != rb ? ra < rb : ra < 2 && a.makespan_mean < b.makespan_mean;
  });
  for (auto& c : s.combinations) {
    c.best = failure_rank(c) == 0 && c.makespan_mean == s.combinations.front().makespan_mean;
  }
}

} // namespace detail

inline std::vector<section> comparison::sections() const {
  std::vector<section> result;
  std::vector<std::vector<detail::tally>> sums;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> section_of;
  std::map<std::tuple<std::size_t, std::string_view, std::string_view, std::string_view>, std::size_t> combination_of;
  for (const auto& r : runs) {
    const auto [at, new_section] = section_of.try_emplace({r.workload, r.platform}, result.size());
    const std::size_t i = at->second;
    if (new_section) {
      result.push_back({.workload = r.workload,
                        .platform = r.platform,
                        .objective = r.objective,
                        .unit = r.unit,
                        .unit_seconds = r.unit_seconds});
      sums.emplace_back();
    }
    auto& s = result[i];
    const auto [at_combination, new_combination] =
      combination_of.try_emplace({i, r.partition, r.refine, r.schedule}, s.combinations.size());
    if (new_combination) {
      s.combinations.push_back({.partition = r.partition, .schedule = r.schedule, .refine = r.refine});
      sums[i].emplace_back();
    }
    if (std::isfinite(r.lower_bound) && !(r.lower_bound <= s.lower_bound)) {
      s.lower_bound = r.lower_bound;
      s.lower_bound_name = r.lower_bound_name;
    }
    detail::add(s.combinations[at_combination->second], sums[i][at_combination->second], r);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t j = 0; j < result[i].combinations.size(); ++j) {
      detail::finish(result[i].combinations[j], sums[i][j]);
    }
    detail::rank(result[i]);
  }
  for (const auto& n : notes) {
    if (const auto at = section_of.find({n.workload, n.platform}); at != section_of.end()) {
      result[at->second].notes = n.lines;
    }
  }
  return result;
}

} // namespace weft::report
