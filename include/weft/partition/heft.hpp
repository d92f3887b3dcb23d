// SPDX-License-Identifier: BSL-1.0
/// Heterogeneous earliest finish time: by upward rank to where an op finishes first, in a gap if there is one.
#pragma once

#include "weft/partition/list_scheduler.hpp"

namespace weft::partition {

/// HEFT: ops in descending upward rank (ties: topologically first); each on the device where it finishes earliest, in
/// the first gap that is long enough (ties: smaller device id). Returns the order that it planned, too, for
/// `schedule::static_order`.
///
/// The rank counts mean compute times over the allowed devices and mean send and transfer times over pairs of devices
/// (nothing between colocated ops). Additions to the paper are in `list_scheduler`. With the paper's example of ten
/// tasks and three processors the makespan is the published 80.
///
/// Sends delay, but the plan does not book them on the sender's queue: a send is only known once its consumer has been
/// placed, when the good gaps are gone, and plans that book it there came out 10 % longer when they were run. So with
/// sends a run is a little longer than planned; without, it is as planned.
///
/// Departs: [CP], whose published HEFT takes the minimum over an op's inputs, where their maximum is what the op waits
/// for. Its makespans are 2.4 to 3.3 times these.
/// Source: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002.
/// Complexity: O(devices · (n + m) + n log n) plus the gaps passed.
/// Uses no randomness.
/// Choose it first: on most problems among the best heuristics, quick, and where refiners begin.
using heft = list_scheduler<list::by_upward_rank, list::least<list::finish_time>>;

} // namespace weft::partition
