// SPDX-License-Identifier: BSL-1.0
/// The busy times of one device for schedulers that only append.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>

namespace weft::schedule {

/// A `timeline` for schedulers without insertion: ops follow one another, gaps between them are lost. O(1).
class queue_end {
public:
  /// The earliest start, not before `ready`, behind everything that was reserved.
  constexpr double earliest_gap(double ready, double) const { return std::max(ready, end_); }
  constexpr double end() const { return end_; }
  /// There is no gap that anything could go into.
  constexpr double last_gap() const { return -1; }
  constexpr void reserve(double, double finish) { end_ = finish; }

private:
  double end_ = 0;
};

} // namespace weft::schedule
