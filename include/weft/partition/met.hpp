// SPDX-License-Identifier: BSL-1.0
/// Minimum execution time: op after op to where it is computed fastest.
#pragma once

#include "weft/partition/list_scheduler.hpp"

namespace weft::partition {

/// MET: ops in topological order, each on the device that computes it fastest, however busy that is (ties: the earlier
/// finish, then the smaller device id).
/// Source: Maheswaran et al., JPDC 59(2), 1999.
/// Complexity: O(devices · (n + m)).
/// Choose it as a baseline that ignores loads.
using met = list_scheduler<list::by_topological_order, list::least<list::compute_time>, schedule::queue_end>;

} // namespace weft::partition
