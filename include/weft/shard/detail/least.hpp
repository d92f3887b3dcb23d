// SPDX-License-Identifier: BSL-1.0
/// The least of several numbers, computed without each step waiting for the last.
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>

namespace weft::shard::detail {

/// The least of at(0) … at(n − 1); n is at least 1. With four minima at once, as each waits for its previous value.
template <class At>
double least_of(std::size_t n, At at) {
  double least = at(0);
  std::size_t i = 1;
  if (n >= 8) {
    double a = least, b = at(1), c = at(2), d = at(3);
    for (i = 4; i + 4 <= n; i += 4) {
      const double w = at(i), x = at(i + 1), y = at(i + 2), z = at(i + 3);
      a = w < a ? w : a;
      b = x < b ? x : b;
      c = y < c ? y : c;
      d = z < d ? z : d;
    }
    a = b < a ? b : a;
    c = d < c ? d : c;
    least = c < a ? c : a;
  }
  for (; i < n; ++i) {
    const double w = at(i);
    least = w < least ? w : least;
  }
  return least;
}

} // namespace weft::shard::detail
