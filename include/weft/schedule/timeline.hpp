// SPDX-License-Identifier: BSL-1.0
/// The busy times of one device while a schedule is being built.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace weft::schedule {

/// A half-open stretch of time, in seconds.
struct interval {
  double start = 0;
  double finish = 0;
};

/// The busy intervals of one execution slot, in ascending order and disjoint.
class timeline {
public:
  /// The earliest start, not before `ready`, of a gap of `duration` seconds. Complexity: O(log k + gaps passed).
  constexpr double earliest_gap(double ready, double duration) const {
    auto next = std::partition_point(busy_.begin(), busy_.end(), [&](const interval& i) { return i.finish <= ready; });
    double start = ready;
    while (next != busy_.end() && start + duration > next->start) {
      start = std::max(start, next->finish);
      ++next;
    }
    return start;
  }

  /// When the last interval ends; 0 if there is none.
  constexpr double end() const { return busy_.empty() ? 0 : busy_.back().finish; }

  /// Precondition: the stretch is free. Amortised O(1) at the end, O(k) elsewhere.
  constexpr void reserve(double start, double finish) {
    const auto at =
      std::partition_point(busy_.begin(), busy_.end(), [&](const interval& i) { return i.finish <= start; });
    WEFT_ASSERT(at == busy_.end() || finish <= at->start);
    busy_.insert(at, {start, finish});
  }

private:
  std::vector<interval> busy_;
};

} // namespace weft::schedule
