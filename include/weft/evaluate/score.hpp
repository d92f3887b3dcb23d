// SPDX-License-Identifier: BSL-1.0
/// The score of a plan: constraint violation first, then the objective's value, then a tie-break.
#pragma once

#include "weft/core/config.hpp"

#include <compare>
#include <initializer_list>
#include <limits>

namespace weft {

/// Smaller is better: first what is forbidden, then what is minimised, then what decides between equals. Operators
/// compare exactly.
struct score {
  double violation = 0; ///< by how much a demand is missed, such as seconds after a deadline; 0: all are met
  double value = std::numeric_limits<double>::infinity(); ///< in the objective's unit
  double tie = 0;

  constexpr score() = default;
  constexpr score(double v) : value{v} {}
  constexpr score(double missed_by, double v, double t = 0) : violation{missed_by}, value{v}, tie{t} {}

  /// Whether a plan of this score may be used.
  constexpr bool admitted() const { return violation == 0 && value < std::numeric_limits<double>::infinity(); }

  /// The value of a plan that may be used, else infinity.
  constexpr double usable() const { return admitted() ? value : std::numeric_limits<double>::infinity(); }

  /// Less by how much of itself is better; less than that may come from the order in which numbers were added.
  static constexpr double least_gain = 1e-12;

  /// Whether this is better than another score, by more than rounding explains: of values that are equal but for that,
  /// `tie` decides. Not transitive, as small differences add up.
  constexpr bool better_than(const score& other) const {
    for (const auto part : {&score::violation, &score::value}) {
      if (is_less(this->*part, other.*part) || is_less(other.*part, this->*part)) {
        return is_less(this->*part, other.*part);
      }
    }
    return is_less(tie, other.tie);
  }

  friend constexpr auto operator<=>(const score&, const score&) = default;

private:
  static constexpr bool is_less(double a, double b) { return b - a > least_gain * (a < 0 ? -a : a); }
};

} // namespace weft
