// SPDX-License-Identifier: BSL-1.0
/// A lower bound on the period.
#pragma once

#include "weft/throughput/detail/refutation.hpp"

#include <algorithm>
#include <limits>

namespace weft::throughput {

/// No placement has a smaller period, up to rounding; infinite if some component may go nowhere. The largest period
/// below `most` that is refuted (`detail::refutation`), found by bisection; `most` is the period of a known
/// placement, or infinite. With costs that are not staged, communication does not count.
/// Complexity: O(log(most / bound) · (parcels · classes² · merges + components · classes)).
template <class Problem>
double period_bound(const flow<Problem>& f, double most = std::numeric_limits<double>::infinity()) {
  detail::refutation<Problem> refuted{f};
  double low = 0;
  double high = 0;
  for (component_id c = 0; c < f.num_components(); ++c) { // all on the worst devices
    if (f.allowed(c).empty()) {
      return std::numeric_limits<double>::infinity();
    }
    double worst = 0;
    for (const device_id d : f.allowed(c)) {
      worst = std::max(worst, f.time(c, d));
    }
    high += worst;
  }
  high = std::min(high, most);
  const double least = 1e-12 * high; // below that, the bound is 0
  while (high - low > 1e-7 * high && high > least) {
    const double middle = low + (high - low) / 2; // exact, fused or not
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

} // namespace weft::throughput
