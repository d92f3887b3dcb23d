// SPDX-License-Identifier: BSL-1.0
/// First come, first served.
#pragma once

#include "weft/schedule/concepts.hpp"

#include <algorithm>

namespace weft::schedule {

/// Items run in the order in which they became ready.
/// Source: [CP] §2. Complexity: O(log ready) per pick.
/// Choose it as the baseline: it is what most runtimes do.
struct fifo {
  template <class Problem>
  constexpr void assign_keys(const context<Problem>&, std::span<double> keys) const {
    std::fill(keys.begin(), keys.end(), 0.0);
  }
};

} // namespace weft::schedule
