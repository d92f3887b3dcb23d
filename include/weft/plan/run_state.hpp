// SPDX-License-Identifier: BSL-1.0
/// The state of a run at some time: what had begun, and which devices are gone.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/readable.hpp"
#include "weft/plan/trace.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// A run that is not over: the part of its trace that had begun before a time. Times are in seconds from the start of
/// the run. It says nothing of costs, so that the problem from which it goes on may be another one than it began with.
struct run_state {
  double now = 0;
  /// By op: where and when it began, and when it ended or is expected to; device `none` where it has not begun. And the
  /// transfers that have begun, those on their way with the arrival that is expected. An op that began had its inputs
  /// on its device, also where no transfer says so, as executors record none.
  trace begun = {};
  std::vector<device_id> gone = {}; ///< devices that failed: what ran there did not end, what lay only there is lost
  friend bool operator==(const run_state&, const run_state&) = default;
};

/// The state of the run of a trace at a time: what began before it. Ends and arrivals after it are expected as
/// recorded; where you know better, change them. Takes the trace of a whole run as well as of one that was ended
/// early, of whose ops some have no device. Throws `value_error` for a time that is negative or not finite.
/// Complexity: O(n + transfers).
inline run_state state_at(const trace& run, double now, std::vector<device_id> gone = {}) {
  if (!(now >= 0 && now <= std::numeric_limits<double>::max())) {
    throw value_error("state_at", readable_number(now) + " is not a time of a run; give seconds from its start, at "
                                                         "least 0");
  }
  run_state s{now, {std::vector<op_record>(run.ops.size()), {}, 0}, std::move(gone)};
  for (const op_id v : ids(run.ops.size())) {
    if (run.ops[v].device != none && run.ops[v].start < now) {
      s.begun.ops[v] = run.ops[v];
      s.begun.makespan = std::max(s.begun.makespan, run.ops[v].finish);
    }
  }
  for (const auto& x : run.transfers) {
    const bool sending = x.send_start < x.send_finish && x.send_start < now;
    if (sending || x.start < now) {
      s.begun.transfers.push_back(x);
      s.begun.makespan = std::max(s.begun.makespan, x.arrival);
    }
  }
  return s;
}

} // namespace weft
