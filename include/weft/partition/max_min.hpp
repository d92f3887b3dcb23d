// SPDX-License-Identifier: BSL-1.0
/// Max-min.
#pragma once

#include "weft/partition/batch_scheduler.hpp"

namespace weft::partition {

namespace list {
/// The best completion time.
struct best_completion {
  constexpr double operator()(double best, double) const { return best; }
};
} // namespace list

/// Max-min: of the ready ops, the one whose earliest completion is latest goes to the device where that is. Ties:
/// topologically first, the smaller device id.
///
/// Departs: the source has independent ops, all ready at once; here each step looks at those that are ready.
/// Source: Ibarra, Kim, JACM 24(2), 1977, algorithm E; Maheswaran et al., JPDC 59(2), 1999.
/// Complexity: see `batch_scheduler`.
using max_min = batch_scheduler<list::best_completion>;

} // namespace weft::partition
