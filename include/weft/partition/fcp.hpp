// SPDX-License-Identifier: BSL-1.0
/// Fast critical path: by upward rank to one of two devices.
#pragma once

#include "weft/partition/list_scheduler.hpp"

#include <array>

namespace weft::partition {

namespace list {

/// Of two devices the one where the op starts earlier (ties: finishes earlier, then the smaller id): the one that is
/// free first, of those that take the op (ties: the smaller id), and the enabling one, which makes the input that would
/// be the last to arrive there. If none of them takes it, any, where it starts first. O(devices + inputs).
struct idle_or_enabling {
  template <class Builder>
  constexpr option operator()(Builder& b, op_id v, const ranking& r, double group_weight) const {
    const auto& p = b.problem();
    device_id idle = none;
    for (const device_id d : ids(p.num_devices())) {
      if (b.allows(v, d) && (idle == none || b.available()[d] < b.available()[idle])) {
        idle = d;
      }
    }
    if (idle == none) {
      return least<start_time>{}(b, v, r, group_weight);
    }
    option best = b.at(v, idle);
    if (const device_id enabling = enabling_device(b, v, idle);
        enabling != none && enabling != idle && b.allows(v, enabling)) {
      const option o = b.at(v, enabling);
      const bool earlier = o.start != best.start     ? o.start < best.start
                           : o.finish != best.finish ? o.finish < best.finish
                                                     : o.device < best.device;
      best = earlier ? o : best;
    }
    return best;
  }

  /// Where the input is made that would be the last to arrive on d; `none` without inputs. Ties: the first.
  template <class Builder>
  static constexpr device_id enabling_device(Builder& b, op_id v, device_id d) {
    const auto& w = b.problem().workload();
    device_id from = none;
    double last = 0;
    for (const tensor_id t : w.inputs(v)) {
      if (const double arrival = b.rows().arrival_of(t, d); from == none || arrival > last) {
        from = b.placed().device(w.producer(t));
        last = arrival;
      }
    }
    return from;
  }
};

} // namespace list

/// FCP: ops in descending upward rank (ties: topologically first), without insertion, each on one of two devices,
/// whichever lets it start earlier: the device that is free first, or the one that sends the last input to arrive.
///
/// Departs: the first free device is found by a scan of all (O(devices) instead of O(log devices)), and the list of
/// ready ops has no limit.
/// Source: Radulescu, van Gemund, ICS 1999. Complexity: O(n · (devices + log n) + m).
/// Choose it for many identical devices and little planning time: it tries two devices per op.
using fcp = list_scheduler<list::by_upward_rank, list::idle_or_enabling, schedule::queue_end>;

} // namespace weft::partition
