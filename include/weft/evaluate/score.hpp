// SPDX-License-Identifier: BSL-1.0
/// How good a plan is.
#pragma once

#include <compare>
#include <limits>

namespace weft {

/// Smaller is better: first what is forbidden, then what is minimised, then what decides between equals.
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

  friend constexpr auto operator<=>(const score&, const score&) = default;
};

} // namespace weft
