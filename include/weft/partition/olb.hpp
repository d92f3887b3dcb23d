// SPDX-License-Identifier: BSL-1.0
/// Opportunistic load balancing: op after op to where it can start first.
#pragma once

#include "weft/partition/list_scheduler.hpp"

namespace weft::partition {

/// OLB: ops in topological order, each on the device that is free first, however slow it is (ties: the earlier finish,
/// then the smaller device id). For a group, the compute time of its other members counts, too, as in `list_scheduler`.
/// Source: Maheswaran et al., JPDC 59(2), 1999. Complexity: O(devices · (n + m)).
/// Choose it as a baseline that ignores speeds.
using olb = list_scheduler<list::by_topological_order, list::least<list::available_time>, schedule::queue_end>;

} // namespace weft::partition
