// SPDX-License-Identifier: BSL-1.0
/// Highest level first with estimated times: by static level to where an op starts first.
#pragma once

#include "weft/partition/list_scheduler.hpp"

namespace weft::partition {

/// HLFET: ops in descending static level (ties: topologically first), each on the device where it starts earliest,
/// without insertion (ties: the earlier finish, then the smaller device id).
///
/// Departs: the level counts mean compute times, because devices differ.
/// Source: Adam, Chandy, Dickson, CACM 17(12), 1974. Complexity: O(devices · (n + m) + n log n).
/// Choose it to compare with the classic list scheduler for identical devices.
using hlfet = list_scheduler<list::by_static_level, list::least<list::start_time>, schedule::queue_end>;

} // namespace weft::partition
