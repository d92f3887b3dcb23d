// SPDX-License-Identifier: BSL-1.0
/// The busy times of one device while a schedule is being built.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace weft::schedule {

/// A half-open stretch of time, in seconds.
struct interval {
  double start = 0;
  double finish = 0;
};

/// The busy times of one execution slot. Intervals that touch are kept as one, so that there are only as many as there
/// are gaps.
class timeline {
public:
  /// The earliest start, not before `ready`, of a gap of `duration` seconds. Complexity: O(log k + gaps passed).
  constexpr double earliest_gap(double ready, double duration) const {
    auto next = first_after(ready);
    double start = ready;
    while (next != busy_.end() && start + duration > next->start) {
      start = std::max(start, next->finish);
      ++next;
    }
    return start;
  }

  /// When the last interval ends; 0 if there is none.
  constexpr double end() const { return busy_.empty() ? 0 : busy_.back().finish; }

  /// Precondition: the stretch is free. O(log k) where it touches another, amortised O(1) at the end, else O(k).
  constexpr void reserve(double start, double finish) {
    const auto next = busy_.begin() + (first_after(start) - busy_.begin());
    WEFT_ASSERT(next == busy_.end() || finish <= next->start);
    const bool touches_last = next != busy_.begin() && std::prev(next)->finish == start;
    const bool touches_next = next != busy_.end() && next->start == finish;
    if (touches_last && touches_next) {
      std::prev(next)->finish = next->finish;
      busy_.erase(next);
    } else if (touches_last) {
      std::prev(next)->finish = finish;
    } else if (touches_next) {
      next->start = start;
    } else { // also one without length: what ran across it would delay it
      busy_.insert(next, {start, finish});
    }
  }

private:
  /// The first interval that is not over by `time`.
  constexpr std::vector<interval>::const_iterator first_after(double time) const {
    return std::partition_point(busy_.begin(), busy_.end(), [&](const interval& i) { return i.finish <= time; });
  }

  std::vector<interval> busy_;
};

} // namespace weft::schedule
