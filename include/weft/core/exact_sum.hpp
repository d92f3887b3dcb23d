// SPDX-License-Identifier: BSL-1.0
/// A compensated sum: terms can be added and removed without accumulating rounding errors.
#pragma once

#include "weft/core/config.hpp"

namespace weft {

/// Keeps what each addition rounds away, as far as a second number holds it: after any number of terms of similar size
/// that came and went, `value()` is that of those that are there, as if it had been added with twice the digits.
/// Source: Knuth, *The Art of Computer Programming* 2, 4.2.2, theorem B.
class exact_sum {
public:
  constexpr void add(double x) {
    const double sum = high_ + x;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (x - added);
    high_ = sum;
  }
  constexpr double value() const { return high_ + low_; }

private:
  double high_ = 0;
  double low_ = 0;
};

} // namespace weft
