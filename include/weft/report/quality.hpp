// SPDX-License-Identifier: BSL-1.0
/// The quality of strategies over several problems: distance to the bound per family, and performance profiles.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/report/comparison.hpp"

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
/// whole name if nothing would be left.
inline std::string_view family_of(std::string_view workload) {
  const std::size_t slash = workload.find('/');
  const std::size_t prefix = workload.starts_with("zoo:") ? 4 : 0;
  const std::size_t end = slash != workload.npos ? slash : workload.find_first_of("0123456789_@-", prefix);
  return end == 0 || end == prefix ? workload : workload.substr(0, end);
}

/// A mean over the problems that a strategy solved; `absent` if there is none.
struct strategy_quality {
  std::string partition;
  std::string refine;
  std::string schedule;
  std::size_t problems = 0; ///< all of the comparison
  std::size_t solved = 0;   ///< those of which every run was solved
  std::size_t best = 0;     ///< those where no strategy has a smaller mean makespan
  double ratio = absent;    ///< geometric mean of makespan / the smallest of all strategies on the same problem
  double gap = absent;      ///< geometric mean of makespan / lower bound, minus 1; of problems with a positive bound
  std::vector<double> family_gap = {}; ///< the same for each family
  std::vector<double> ratios = {};     ///< ascending, one per solved problem
  std::string name = {};               ///< as `combination::name`

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

namespace detail {

/// Gathers logarithms for a geometric mean.
struct geometric {
  double sum = 0;
  std::size_t count = 0;
  void add(double x) {
    sum += std::log(x);
    ++count;
  }
  double mean() const { return count == 0 ? absent : std::exp(sum / static_cast<double>(count)); }
};

} // namespace detail

/// The quality of strategies from `comparison::sections`, over all problems. A problem is a workload on a platform; a
/// strategy is a combination; its makespan on a problem is the mean of its runs. Where the smallest makespan is 0, a
/// strategy that also has 0 counts as 1 and others as infinite.
/// Complexity: O(k log k) for k combinations in all.
/// Source: Dolan, Moré, *Benchmarking optimization software with performance profiles*, Math. Programming 91, 2002.
inline quality quality_of(const std::vector<section>& sections) {
  struct sums {
    detail::geometric ratio;
    detail::geometric gap;
    std::vector<detail::geometric> family_gap;
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
  std::vector<sums> all;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& list = sections[i].combinations;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& c : list) {
      least = c.solved == c.runs ? std::min(least, c.makespan_mean) : least;
    }
    for (const auto& c : list) {
      const auto [at, added] = index.try_emplace({c.partition, c.refine, c.schedule}, all.size());
      if (added) {
        q.strategies.push_back({.partition = c.partition,
                                .refine = c.refine,
                                .schedule = c.schedule,
                                .problems = sections.size(),
                                .name = c.name()});
        all.push_back({{}, {}, std::vector<detail::geometric>(q.families.size())});
      }
      auto& s = q.strategies[at->second];
      auto& sum = all[at->second];
      if (c.runs == 0 || c.solved != c.runs) {
        continue;
      }
      ++s.solved;
      const double ratio = least > 0              ? c.makespan_mean / least
                           : c.makespan_mean <= 0 ? 1
                                                  : std::numeric_limits<double>::infinity();
      s.best += ratio <= 1 + 1e-9 ? 1 : 0;
      s.ratios.push_back(ratio);
      sum.ratio.add(ratio);
      if (const double bound = sections[i].lower_bound; std::isfinite(bound) && bound > 0) {
        const double above = std::max(1.0, c.makespan_mean / bound);
        sum.gap.add(above);
        sum.family_gap[family[i]].add(above);
      }
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto& s = q.strategies[k];
    s.ratio = all[k].ratio.mean();
    s.gap = all[k].gap.mean() - 1;
    for (const auto& g : all[k].family_gap) {
      s.family_gap.push_back(g.mean() - 1);
    }
    weft::sort(s.ratios);
  }
  weft::stable_sort(q.strategies, [](const strategy_quality& a, const strategy_quality& b) {
    return a.solved != b.solved ? a.solved > b.solved : a.ratio < b.ratio;
  });
  return q;
}

} // namespace weft::report
