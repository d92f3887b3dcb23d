// SPDX-License-Identifier: BSL-1.0
/// Logarithms and powers that are the same everywhere; those of the standard library differ in their last bits.
#pragma once

#include "weft/core/rounding.hpp"

#include <cmath>

namespace weft {

/// ln x for x > 0, from products and quotients only. |error| < 1e-15 · max(1, |ln x|).
inline double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent); // exact
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1); // ln m = 2 artanh s, |s| < 0.172
  const double square = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) {
    sum = rounded(sum * square) + 1.0 / k;
  }
  return rounded(2 * s * sum) + rounded(exponent * 0.69314718055994531);
}

/// e to the power of x, from products and sums only; 0 below -708 and infinite above 709.
/// |error| < 4e-16 · e^x · max(1, |x| / 100).
inline double portable_exp(double x) {
  if (!(x > -708)) {
    return x <= -708 ? 0 : x;
  }
  if (x > 709) {
    return HUGE_VAL;
  }
  const double k = std::floor(rounded(x * 1.4426950408889634) + 0.5);
  // ln 2 in two parts, of which the first has zeros at its end, so that its product with k is exact.
  const double r = (x - rounded(k * 0x1.62e42feep-1)) - rounded(k * 0x1.a39ef35793c76p-33);
  double sum = 1; // e^r, |r| < 0.35
  for (int n = 13; n >= 1; --n) {
    sum = 1 + rounded(sum * r / n);
  }
  return std::ldexp(sum, static_cast<int>(k)); // exact
}

} // namespace weft
