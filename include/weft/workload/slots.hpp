// SPDX-License-Identifier: BSL-1.0
/// Devices for ops that take several slots at once, as tasks do that ran on several cores of a node.
#pragma once

#include "weft/core/error.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <string>

namespace weft {

/// q with as many slots per device as ops of w run there at once, where these take the same number each: for the same
/// ops with one slot each, `std::move(w).with_one_slot_each()`, it is the same problem. Devices of one slot stay as
/// they are: there an op has the whole device. An op draws the power of all its slots; a send waits for a slot of
/// that size. Throws `value_error` for a device on which ops would take different numbers of slots, so that it
/// depends on which of them run, or more than it has. Complexity: O(ops × devices of several slots).
inline platform<> with_slots_of(const workload& w, const platform<>& q) {
  device_id next = 0;
  return q.changed([&](device& x) {
    const device_id d = next++;
    std::uint32_t least = none;
    std::uint32_t most = 1;
    for (op_id v = 0; x.slots > 1 && v < w.num_ops(); ++v) {
      if (w.kinds(v).contains(x.kind)) {
        least = std::min(least, w.slots(v));
        most = std::max(most, w.slots(v));
      }
    }
    if (most == 1) {
      return;
    }
    const auto name = q.name(d).empty() ? std::string{} : " '" + std::string{q.name(d)} + "'";
    const auto refuse = [&](const std::string& problem) {
      throw value_error("device " + std::to_string(d) + name,
                        problem + "; describe each node as one device of one slot, whose speed is that of all its "
                                  "cores, on which one op runs at a time");
    };
    if (least != most) {
      refuse("has " + std::to_string(x.slots) + " slots, and ops take " + std::to_string(least) + " to " +
             std::to_string(most) + " of them at once, which is not modelled");
    }
    if (most > x.slots) {
      refuse("has " + std::to_string(x.slots) + " slots, and each op takes " + std::to_string(most) + " at once");
    }
    const std::uint32_t at_once = x.slots / most;
    x.active_watts = x.idle_watts + (x.active_watts - x.idle_watts) * (at_once * most) / x.slots;
    x.slots = at_once;
  });
}

} // namespace weft
