// SPDX-License-Identifier: BSL-1.0
/// A lower bound on the makespan, and the rule that it comes from.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

namespace weft {

/// No plan of the problem ends sooner than `value` seconds, up to rounding. Infinite if some component is allowed
/// nowhere, so that there is no plan at all.
struct lower_bound {
  enum class rule : std::uint8_t {
    critical_path,      ///< bound/critical_path.hpp
    communication_path, ///< bound/communication_path.hpp
    area,               ///< bound/area.hpp
    group_load,         ///< bound/group_load.hpp
    windows,            ///< bound/windows.hpp
    search,             ///< an exact search that came to its end, or bound/refutation.hpp
  };

  double value = 0; ///< seconds
  rule which = rule::critical_path;
  friend constexpr bool operator==(const lower_bound&, const lower_bound&) = default;
};

/// The gap between a bound and a makespan, a period or a size above it, relative to the bound and never negative: 0.25
/// means at most 25 % above the optimum, 0 that it is the optimum. Infinite above a bound of 0, which promises nothing.
constexpr double gap_above(double bound, double value) {
  return value <= bound ? 0 : bound > 0 ? value / bound - 1 : std::numeric_limits<double>::infinity();
}

/// The name of a rule, as reports print it.
constexpr std::string_view to_string(lower_bound::rule r) {
  switch (r) {
  case lower_bound::rule::critical_path: return "critical_path";
  case lower_bound::rule::communication_path: return "communication_path";
  case lower_bound::rule::area: return "area";
  case lower_bound::rule::group_load: return "group_load";
  case lower_bound::rule::windows: return "windows";
  case lower_bound::rule::search: break;
  }
  return "search";
}

} // namespace weft
