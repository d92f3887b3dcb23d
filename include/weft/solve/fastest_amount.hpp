// SPDX-License-Identifier: BSL-1.0
/// The amount of recomputation with which a step is fastest, even if what does not fit then runs elsewhere.
#pragma once

#include "weft/core/least_enough.hpp"

#include <cstdint>
#include <limits>

namespace weft::solve {

/// What a judge says of a step of which so much runs again.
struct amount_verdict {
  double seconds = std::numeric_limits<double>::infinity(); ///< infinite if no plan was found
  bool is_enough = false; ///< nothing runs elsewhere than is fastest for want of memory: more would only take longer
};

/// An amount with what was said of it.
struct judged_amount {
  std::uint32_t amount = 0;
  amount_verdict verdict = {};
};

/// The amount from 0 to `max_amount` with which a step is fastest, of those that are tried: 0, amounts that double
/// until one is enough, and those by which bisection finds the least that is, where all larger ones are enough, too.
/// Amounts that are not enough count as well: a step that keeps more, and runs a little elsewhere, may be faster than
/// one that runs all of it again, or the other way round. Of equally fast ones it is the least. `judge(amount)` returns
/// an `amount_verdict`; it is asked once of each. Complexity: O(log max_amount) calls.
template <class Judge>
judged_amount fastest_amount(std::uint32_t max_amount, Judge judge) {
  judged_amount best;
  least_enough(std::uint32_t{0}, max_amount, [&](std::uint32_t amount) {
    const amount_verdict x = judge(amount);
    if (x.seconds < best.verdict.seconds || (x.seconds == best.verdict.seconds && amount < best.amount)) {
      best = {amount, x};
    }
    return x.is_enough;
  });
  return best;
}

} // namespace weft::solve
