// SPDX-License-Identifier: BSL-1.0
/// Earliest task first: of all ready ops and devices the pair that starts first.
#pragma once

#include "weft/partition/pair_scheduler.hpp"

namespace weft::partition {

/// ETF: schedules the pair of a ready op and a device with the earliest start, without insertion. Ties: the larger
/// static level, topologically first, the smaller device id.
///
/// Departs: the static level counts mean compute times, because devices differ.
/// Source: Hwang, Chow, Anger, Lee, SIAM J. Computing 18(2), 1989; O(n² · devices) there.
/// Complexity: O(devices · (n log n + m)), see `pair_scheduler`.
/// Choose it for identical devices: it starts ops early, whatever the device's speed.
using etf = pair_scheduler<list::by_static_level, list::no_offset>;

} // namespace weft::partition
