// SPDX-License-Identifier: BSL-1.0
/// Pareto fronts: the plans that no other plan beats in both of two objectives.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft {

/// A plan with its makespan and its value under an objective, such as joules.
struct pareto_point {
  weft::plan plan = {};
  double makespan = std::numeric_limits<double>::infinity(); ///< seconds
  double value = std::numeric_limits<double>::infinity();    ///< in the objective's unit
};

/// Points by ascending makespan and descending value. Of points that differ by less than 10⁻¹² in both, one is kept.
struct pareto_front {
  std::vector<pareto_point> points = {};
  lower_bound makespan_bound = {}; ///< no plan is faster
  double value_bound = 0;          ///< none has a smaller value
  bool exact = false;              ///< no plan is on the left of and below this line

  /// Whether some point is as good in both.
  constexpr bool dominated(double makespan, double value) const {
    return std::any_of(points.begin(), points.end(), [&](const pareto_point& x) {
      return reaches(x.makespan, makespan) && reaches(x.value, value);
    });
  }
  /// Adds a point that is not dominated and removes those that it dominates. Returns whether it did.
  /// Complexity: O(points).
  constexpr bool offer(pareto_point x) {
    if (dominated(x.makespan, x.value)) {
      return false;
    }
    std::erase_if(points, [&](const pareto_point& y) {
      return reaches(x.makespan, y.makespan) && reaches(x.value, y.value);
    });
    const auto at = std::partition_point(points.begin(), points.end(),
                                         [&](const pareto_point& y) { return y.makespan < x.makespan; });
    points.insert(at, std::move(x));
    return true;
  }

private:
  static constexpr bool reaches(double a, double b) { return a <= b + 1e-12 * b; }
};

} // namespace weft
