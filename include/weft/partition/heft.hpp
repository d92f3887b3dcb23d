// SPDX-License-Identifier: BSL-1.0
/// Heterogeneous earliest finish time: by upward rank to where an op finishes first, in a gap if there is one.
#pragma once

#include "weft/partition/list_scheduler.hpp"

namespace weft::partition {

/// HEFT: ops in descending upward rank (ties: topologically first), each on the device where it finishes earliest, in
/// the first gap that is long enough (ties: smaller device id). Returns the planned order, too, for
/// `schedule::static_order`.
///
/// The rank counts mean compute times over the allowed devices, and mean send and transfer times over pairs of devices
/// (nothing between colocated ops). Extensions of the paper's algorithm are described with `list_scheduler`. On the
/// paper's example of ten tasks and three processors the makespan is the published 80.
///
/// Sends delay transfers, but the plan does not reserve time for them on the sender. A send is only known once its
/// consumer has been placed, when the good gaps are taken; plans that reserved it there ran 10 % longer. So with sends
/// a run is a little longer than planned; without sends it is as planned.
///
/// Departs: not from the paper, but from the code published with [CP], whose HEFT takes the minimum over an op's inputs
/// although the op waits for their maximum. Its makespans are 2.4 to 3.3 times these.
/// Source: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002.
/// Complexity: O(devices · (n + m) + n log n) plus the gaps passed.
/// Uses no randomness.
/// Choose it first: it is fast, on most problems among the best heuristics, and a good start for refiners.
using heft = list_scheduler<list::by_upward_rank, list::least<list::finish_time>>;

} // namespace weft::partition
