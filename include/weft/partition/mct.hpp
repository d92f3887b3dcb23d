// SPDX-License-Identifier: BSL-1.0
/// Minimum completion time: op after op to where it is complete first.
#pragma once

#include "weft/partition/list_scheduler.hpp"

namespace weft::partition {

/// MCT: ops in topological order, each on the device where it completes first, without insertion (ties: the smaller
/// device id).
/// Source: Maheswaran et al., JPDC 59(2), 1999. Complexity: O(devices · (n + m)).
/// Choose it as a baseline without priorities.
using mct = list_scheduler<list::by_topological_order, list::least<list::finish_time>, schedule::queue_end>;

} // namespace weft::partition
