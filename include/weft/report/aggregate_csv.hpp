// SPDX-License-Identifier: BSL-1.0
/// Writes what strategies amount to over problems of a kind as CSV: a row per strategy, with confidence intervals.
#pragma once

#include "weft/report/csv.hpp"
#include "weft/report/quality.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report {

/// The header row of `write_aggregate_csv`, without the line end.
inline constexpr std::string_view aggregate_csv_header =
  "family,platform,partition,refine,schedule,problems,solved,runs,makespan_mean,makespan_low,makespan_high,ratio,"
  "ratio_low,ratio_high,to_baseline,to_baseline_low,to_baseline_high,wins,losses,best,gap,gap_low,gap_high,"
  "planning_seconds";

namespace detail {

/// The rows of some problems, which are called `family` and `platform`.
inline void write_aggregate_rows(std::ostream& out, std::string_view family, std::string_view platform,
                                 const std::vector<section>& problems, std::string_view baseline) {
  const auto row = [&](auto&&... fields) {
    const char* separator = "";
    ((out << std::exchange(separator, ",") << fields), ...);
    out << '\n';
  };
  for (const auto& s : quality_of(problems, baseline).strategies) {
    interval makespan = s.makespan;
    if (problems.size() == 1 && s.solved == 1) { // the runs are all the samples that there are
      for (const auto& c : problems.front().combinations) {
        if (c.name() == s.name) {
          makespan = {c.makespan_mean, c.makespan_low, c.makespan_high};
        }
      }
    }
    const auto with_limits = [](const interval& x) {
      return shortest(x.mean) + ',' + shortest(x.low) + ',' + shortest(x.high);
    };
    row(quote_csv(family), quote_csv(platform), quote_csv(s.partition), quote_csv(s.refine), quote_csv(s.schedule),
        std::to_string(s.problems), std::to_string(s.solved), std::to_string(s.runs), with_limits(makespan),
        with_limits(s.ratio), with_limits(s.to_baseline), std::to_string(s.wins), std::to_string(s.losses),
        std::to_string(s.best), with_limits(s.gap), shortest(s.planning_seconds));
  }
}

} // namespace detail

/// Writes a header and a row per strategy for each kind of problem, a family of workloads (`family_of`) on a platform
/// or family of platforms (`family_of_platform`), in order of first appearance, and, if there are several, then for all
/// problems, called `all` on `all`. The columns are those of `strategy_quality`: `makespan_mean` is arithmetic, `ratio`
/// (to the best of all), `to_baseline` and `gap` are geometric means. `_low` and `_high` are the limits of 95 %
/// confidence intervals: over the problems; of the makespan of a single problem over its runs. `planning_seconds` is
/// the mean wall time of planning. Numbers are the shortest that read back as the same value, and empty where there are
/// too few samples. Strategies that solved most come first, among them those with the smallest ratio. What is called a
/// makespan is what the runs' `objective` says.
/// Complexity: that of `quality_of` for each kind, and O(kinds · problems + k²) for k strategies.
inline void write_aggregate_csv(std::ostream& out, const comparison& c, std::string_view baseline = {}) {
  const auto sections = c.sections();
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<section>>> kinds;
  for (const auto& s : sections) {
    const std::pair<std::string, std::string> kind{family_of(s.workload), family_of_platform(s.platform)};
    auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
    if (at == kinds.end()) {
      at = kinds.insert(at, {kind, {}});
    }
    at->second.push_back(s);
  }
  out << aggregate_csv_header << '\n';
  for (const auto& [kind, problems] : kinds) {
    detail::write_aggregate_rows(out, kind.first, kind.second, problems, baseline);
  }
  if (kinds.size() > 1) {
    detail::write_aggregate_rows(out, "all", "all", sections, baseline);
  }
}

} // namespace weft::report
