// SPDX-License-Identifier: BSL-1.0
/// Min-min: the ready op that can be complete first.
#pragma once

#include "weft/partition/pair_scheduler.hpp"

namespace weft::partition {

namespace list {
/// The compute time: a start and it make a completion time.
struct plus_compute_time {
  template <class Problem>
  constexpr double operator()(const Problem&, const ranking&, op_id, device_id, double compute) const {
    return compute;
  }
};
} // namespace list

/// Min-min: the ready op with the earliest completion time goes to the device where it completes then, without
/// insertion. Ties: topologically first, the smaller device id.
///
/// Departs: the source has independent ops, all ready at once; here each step considers the ready ops.
/// Source: Ibarra, Kim, JACM 24(2), 1977, algorithm D; Maheswaran et al., JPDC 59(2), 1999.
/// Complexity: O(devices · (n log n + m)), see `pair_scheduler`.
/// Choose it for wide graphs of short ops with few dependences.
using min_min = pair_scheduler<list::by_topological_order, list::plus_compute_time>;

} // namespace weft::partition
