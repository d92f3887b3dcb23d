// SPDX-License-Identifier: BSL-1.0
/// Sufferage: the ready op that loses most without its best device.
#pragma once

#include "weft/partition/batch_scheduler.hpp"

namespace weft::partition {

namespace list {
/// The loss of an op that does not get its best device.
struct completion_lost {
  constexpr double operator()(double best, double second) const { return second - best; }
};
} // namespace list

/// Sufferage: the ready op that loses most without the device where it completes first goes to that device; an op that
/// fits only one device loses everything. Ties: topologically first, the smaller device id.
///
/// Departs: the source has independent ops, and decides on several per round, one for each device; here each step
/// considers the ready ops and takes one.
/// Source: Maheswaran, Ali, Siegel, Hensgen, Freund, JPDC 59(2), 1999.
/// Complexity: O(n · ready ops + devices · updates), at most ready ops updates per step.
/// Choose it for ops with few dependences, on unrelated devices.
using sufferage = batch_scheduler<list::completion_lost>;

} // namespace weft::partition
