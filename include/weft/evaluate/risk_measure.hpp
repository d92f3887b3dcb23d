// SPDX-License-Identifier: BSL-1.0
/// One number for values that chance decides: their mean, a quantile, or the mean of the worst.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/core/readable.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::objective {

/// A statistic of the values that were drawn, each as likely as the others. Made by `mean`, `quantile` and
/// `conditional_value_at_risk`. None of them falls where a value rises.
struct risk_measure {
  enum class kind : std::uint8_t { mean, quantile, conditional_value_at_risk };

  kind which = kind::mean;
  double level = 0;

  /// Of at least one value; sorts them. O(n log n).
  double of(std::span<double> values) const {
    WEFT_ASSERT(!values.empty());
    const auto n = values.size();
    weft::sort(values.data(), values.data() + n);
    if (which == kind::quantile) { // of 200 values the 190th, though 0.95 · 200 may come out a bit above 190
      const double place = std::ceil(rounded(level * static_cast<double>(n)) - 1e-9);
      return values[std::clamp<std::size_t>(static_cast<std::size_t>(std::max(place, 1.0)), 1, n) - 1];
    }
    const double worst = which == kind::mean ? static_cast<double>(n) : rounded((1 - level) * static_cast<double>(n));
    if (worst <= 1) {
      return values.back();
    }
    const auto whole = std::min(n, static_cast<std::size_t>(worst + 1e-9));
    double sum = 0;
    for (std::size_t i = 0; i < whole; ++i) {
      sum += values[n - 1 - i];
    }
    const double rest = worst - static_cast<double>(whole);
    return rest > 1e-9 ? (sum + rounded(rest * values[n - 1 - whole])) / worst : sum / static_cast<double>(whole);
  }
  friend constexpr bool operator==(const risk_measure&, const risk_measure&) = default;
};

namespace detail {
constexpr double checked_level(const char* name, double level, bool usable) {
  if (!usable) {
    throw value_error(name, readable_number(level) + " is not a level; a level is a share of the samples, such as "
                                                     "0.95");
  }
  return level;
}
} // namespace detail

/// The mean.
inline constexpr risk_measure mean{};
/// The smallest value that at least a share `level` of all does not exceed, with 0 < level ≤ 1: what is kept to with
/// that probability. Also called value at risk.
constexpr risk_measure quantile(double level) {
  return {risk_measure::kind::quantile, detail::checked_level("quantile", level, level > 0 && level <= 1)};
}
/// The mean of the worst share `1 - level` of all, with 0 ≤ level ≤ 1: how bad it is when it is bad. Where that share
/// is no whole number of values, the last one counts in part; where it is less than one, this is the worst. Not less
/// than the quantile of the same level.
/// Source: Rockafellar, Uryasev, *Conditional Value-at-Risk for General Loss Distributions*, J. Banking & Finance
/// 26(7), 2002, §4.
constexpr risk_measure conditional_value_at_risk(double level) {
  return {risk_measure::kind::conditional_value_at_risk,
          detail::checked_level("conditional value at risk", level, level >= 0 && level <= 1)};
}

/// `mean`, `quantile(0.95)`, `cvar(0.95)`.
inline std::string to_string(const risk_measure& m) {
  return m.which == risk_measure::kind::mean       ? std::string{"mean"}
         : m.which == risk_measure::kind::quantile ? "quantile(" + readable_number(m.level) + ")"
                                                   : "cvar(" + readable_number(m.level) + ")";
}

} // namespace weft::objective
