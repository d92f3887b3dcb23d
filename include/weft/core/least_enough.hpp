// SPDX-License-Identifier: BSL-1.0
/// The least number that is enough, found by steps that double and then bisection.
#pragma once

#include "weft/core/config.hpp"

#include <concepts>
#include <optional>

namespace weft {

/// The least n from `first` to `last` for which `is_enough(n)` holds, where it holds for all larger ones, too; nothing
/// if it does not hold for any. Asks of `first`, then in steps that double, then half way between the last two.
/// `is_enough` returns a bool or an optional one: without a value the search ends with the least that was enough so
/// far. Complexity: O(log(n - first)) calls. Source: Bentley, Yao, *An almost optimal algorithm for unbounded
/// searching*, Information Processing Letters 5(3), 1976.
template <std::unsigned_integral Number, class IsEnough>
  requires (sizeof(Number) >= sizeof(unsigned))
constexpr std::optional<Number> least_enough(Number first, Number last, IsEnough is_enough) {
  std::optional<Number> enough;
  Number step = 1;
  for (Number n = first; first <= last && !enough;) {
    const std::optional<bool> answer = is_enough(n);
    if (!answer || (!*answer && n == last)) {
      return std::nullopt;
    }
    if (*answer) {
      enough = n;
    } else {
      first = n + 1;
      n = last - n > step ? n + step : last;
      step = last - n > step ? 2 * step : step;
    }
  }
  while (enough && first < *enough) {
    const Number half = first + (*enough - first) / 2;
    const std::optional<bool> answer = is_enough(half);
    if (!answer) {
      break;
    }
    if (*answer) {
      enough = half;
    } else {
      first = half + 1;
    }
  }
  return enough;
}

} // namespace weft
