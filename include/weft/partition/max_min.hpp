// SPDX-License-Identifier: BSL-1.0
/// Max-min: the ready op whose earliest completion is latest.
#pragma once

#include "weft/partition/batch_scheduler.hpp"

namespace weft::partition {

namespace list {
/// The best completion time.
struct best_completion {
  constexpr double operator()(double best, double) const { return best; }
};
} // namespace list

/// Max-min: the ready op whose earliest completion time is latest goes to the device where it completes then. Ties:
/// topologically first, the smaller device id.
///
/// Departs: the source has independent ops, all ready at once; here each step considers the ready ops.
/// Source: Ibarra, Kim, JACM 24(2), 1977, algorithm E; Maheswaran et al., JPDC 59(2), 1999.
/// Complexity: O(n · ready ops + devices · updates), at most ready ops updates per step.
/// Choose it for independent ops, a few of them long: those come first.
using max_min = batch_scheduler<list::best_completion>;

} // namespace weft::partition
