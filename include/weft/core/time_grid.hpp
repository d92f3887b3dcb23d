// SPDX-License-Identifier: BSL-1.0
/// The unit that all times of a problem are multiples of, if there is one.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <limits>
#include <numeric>

namespace weft {

/// Collects times; afterwards `unit` is their greatest common divisor, computed without rounding.
class time_grid {
public:
  /// Precondition: not negative. O(1) but for the first times.
  constexpr void add(double time) {
    if (time == 0 || !usable_) {
      return;
    }
    if (!(time < std::numeric_limits<double>::infinity())) {
      usable_ = false;
      return;
    }
    if (scale_ == 0) { // bring the first time to [2^20, 2^21), which leaves room for times larger and smaller
      scale_ = 1;
      for (; time * scale_ >= 2097152; scale_ /= 2) {
      }
      for (; time * scale_ < 1048576; scale_ *= 2) {
      }
    }
    const double scaled = time * scale_;
    if (!(scaled < 9007199254740992.0) || static_cast<double>(static_cast<std::uint64_t>(scaled)) != scaled) {
      usable_ = false;
      return;
    }
    unit_ = std::gcd(unit_, static_cast<std::uint64_t>(scaled));
  }

  constexpr bool usable() const { return usable_; } ///< no time so far rules a unit out

  /// In the unit of the times; 0 if there is none, or one so small that rounding errors of sums up to `largest` could
  /// be as large.
  constexpr double unit(double largest) const {
    if (!usable_ || unit_ == 0 || largest * scale_ > 1e6 * static_cast<double>(unit_)) {
      return 0;
    }
    return static_cast<double>(unit_) / scale_;
  }

private:
  bool usable_ = true;
  double scale_ = 0;
  std::uint64_t unit_ = 0;
};

/// The least multiple of the unit that is no smaller than the value, but for rounding errors; the value itself if the
/// unit is 0. Precondition: value <= 1e6 · unit, or unit 0.
constexpr double round_up(double value, double unit) {
  if (unit == 0) {
    return value;
  }
  const double steps = value / unit;
  const auto whole = static_cast<std::uint64_t>(steps);
  const double rest = steps - static_cast<double>(whole);
  return unit * static_cast<double>(rest > 1e-4 ? whole + 1 : whole);
}

} // namespace weft
