// SPDX-License-Identifier: BSL-1.0
/// The quality of strategies over several problems: distance to the bound per family, and performance profiles.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/report/comparison.hpp"
#include "weft/report/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::report {

/// The family of a problem, by the name of its workload: up to the first slash if there is one, as in
/// `suite:stencil_1d/ccr 1`; else up to the first digit, `_`, `@` or `-`, as in `rand0042` or `zoo:mnist_conv`. The
/// whole name if nothing would be left, and of `random:` graphs without a slash.
inline std::string_view family_of(std::string_view workload) {
  const std::size_t slash = workload.find('/');
  const std::size_t prefix = workload.starts_with("zoo:") ? 4 : 0;
  const std::size_t end = slash != workload.npos ? slash : workload.find_first_of("0123456789_@-", prefix);
  const bool whole = end == 0 || end == prefix || (slash == workload.npos && workload.starts_with("random:"));
  return whole ? workload : workload.substr(0, end);
}

/// The family of a platform: that of `random:` ones, which differ in the seed behind the slash, else itself.
inline std::string_view family_of_platform(std::string_view platform) {
  return platform.starts_with("random:") ? platform.substr(0, platform.find('/')) : platform;
}

/// Means over the problems that a strategy solved, `absent` if there is none, with 95 % confidence intervals over the
/// problems, as `mean_interval` and `geometric_interval` have them.
struct strategy_quality {
  std::string partition;
  std::string refine;
  std::string schedule;
  std::size_t problems = 0;          ///< all of the comparison
  std::size_t solved = 0;            ///< those of which every run was solved
  std::size_t best = 0;              ///< those where no strategy has a smaller mean makespan
  std::size_t runs = 0;              ///< all that were made
  double planning_seconds = absent;  ///< mean wall time of planning, over the problems with a solved run
  interval ratio = {};               ///< geometric mean of makespan / the smallest of all on the same problem
  interval gap = {};                 ///< geometric mean of makespan / lower bound, minus 1; of positive bounds only
  interval makespan = {};            ///< arithmetic mean; it says something of problems that are alike
  interval to_baseline = {};         ///< geometric mean of makespan / the baseline's, over what both solved
  std::size_t wins = 0;              ///< those where the makespan is smaller than the baseline's, which may be unsolved
  std::size_t losses = 0;            ///< those where it is larger, or only the baseline solved it
  std::vector<double> family_gap{};  ///< the same for each family
  std::vector<double> ratios = {};   ///< ascending, one per solved problem
  std::string name = {};             ///< as `combination::name`

  /// The performance profile: the share of all problems that it solves within `factor` of the best.
  double share_within(double factor) const {
    const auto within = std::upper_bound(ratios.begin(), ratios.end(), factor * (1 + 1e-9)) - ratios.begin();
    return problems == 0 ? 0 : static_cast<double>(within) / static_cast<double>(problems);
  }
};

/// All strategies over all problems.
struct quality {
  std::vector<std::string> families;        ///< in order of first appearance
  std::vector<strategy_quality> strategies; ///< those that solved most first; among them the smallest ratio first
};

/// The quality of strategies from `comparison::sections`, over all problems. A problem is a workload on a platform; a
/// strategy is a combination; its makespan on a problem is the mean of its runs. Where the smallest makespan is 0, a
/// strategy that also has 0 counts as 1 and others as infinite. `baseline` is the name of the combination that others
/// are compared with, such as `heft + static_order`; without it, there are no wins and losses.
/// Complexity: O(k log k) for k combinations in all.
/// Source: Dolan, Moré, *Benchmarking optimization software with performance profiles*, Math. Programming 91, 2002.
inline quality quality_of(const std::vector<section>& sections, std::string_view baseline = {}) {
  struct samples {
    std::vector<double> makespans = {};
    std::vector<double> ratios = {};
    std::vector<double> to_baseline = {};
    std::vector<double> above_bound = {};
    std::vector<std::vector<double>> family_above_bound = {};
    std::vector<double> planning = {};
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto solved = [](const combination& c) { return c.runs != 0 && c.solved == c.runs; };
  const auto relative = [](double makespan, double to) {
    return to > 0 ? makespan / to : makespan <= 0 ? 1 : infinity;
  };
  quality q;
  std::vector<std::size_t> family(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::string name{family_of(sections[i].workload)};
    const auto at = std::find(q.families.begin(), q.families.end(), name);
    family[i] = static_cast<std::size_t>(at - q.families.begin());
    if (at == q.families.end()) {
      q.families.push_back(name);
    }
  }
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> index;
  std::vector<samples> all;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& list = sections[i].combinations;
    double least = infinity;
    const combination* base = nullptr;
    for (const auto& c : list) {
      least = solved(c) ? std::min(least, c.makespan_mean) : least;
      base = !baseline.empty() && c.name() == baseline ? &c : base;
    }
    for (const auto& c : list) {
      const auto [at, added] = index.try_emplace({c.partition, c.refine, c.schedule}, all.size());
      if (added) {
        q.strategies.push_back({.partition = c.partition,
                                .refine = c.refine,
                                .schedule = c.schedule,
                                .problems = sections.size(),
                                .name = c.name()});
        all.push_back({.family_above_bound = std::vector<std::vector<double>>(q.families.size())});
      }
      auto& s = q.strategies[at->second];
      auto& of = all[at->second];
      s.runs += c.runs;
      if (c.solved != 0) {
        of.planning.push_back(c.planning_seconds);
      }
      if (!solved(c)) {
        s.losses += base != nullptr && solved(*base) ? 1u : 0u;
        continue;
      }
      ++s.solved;
      const double ratio = relative(c.makespan_mean, least);
      s.best += ratio <= 1 + 1e-9 ? 1u : 0u;
      of.makespans.push_back(c.makespan_mean);
      of.ratios.push_back(ratio);
      if (base != nullptr && solved(*base)) {
        const double to_baseline = relative(c.makespan_mean, base->makespan_mean);
        s.wins += to_baseline < 1 - 1e-9 ? 1u : 0u;
        s.losses += to_baseline > 1 + 1e-9 ? 1u : 0u;
        of.to_baseline.push_back(to_baseline);
      } else {
        s.wins += base != nullptr ? 1u : 0u;
      }
      if (const double bound = sections[i].lower_bound; std::isfinite(bound) && bound > 0) {
        const double above = std::max(1.0, c.makespan_mean / bound);
        of.above_bound.push_back(above);
        of.family_above_bound[family[i]].push_back(above);
      }
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto& s = q.strategies[k];
    s.ratio = geometric_interval(all[k].ratios);
    s.ratio.low = s.ratio.low < 1 ? 1 : s.ratio.low; // nobody is better than the best, or than the bound
    const auto above = geometric_interval(all[k].above_bound);
    s.gap = {above.mean - 1, above.low < 1 ? 0 : above.low - 1, above.high - 1};
    s.planning_seconds = mean_interval(all[k].planning).mean;
    s.makespan = mean_interval(all[k].makespans);
    s.to_baseline = geometric_interval(all[k].to_baseline);
    for (const auto& of_family : all[k].family_above_bound) {
      s.family_gap.push_back(geometric_interval(of_family).mean - 1);
    }
    s.ratios = std::move(all[k].ratios);
    weft::sort(s.ratios);
  }
  weft::stable_sort(q.strategies, [](const strategy_quality& a, const strategy_quality& b) {
    return a.solved != b.solved ? a.solved > b.solved : a.ratio.mean < b.ratio.mean;
  });
  return q;
}

} // namespace weft::report
