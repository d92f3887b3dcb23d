// SPDX-License-Identifier: BSL-1.0
/// What a model file says: the graph, measured times if it has any, and what had to be assumed.
#pragma once

#include "weft/workload/workload.hpp"

#include <string>
#include <vector>

namespace weft {

/// A workload as a file describes it. Times that somebody measured stand beside the graph, since they hold for one
/// kind of device only; cost/measured.hpp makes a cost model of them.
struct model {
  workload ops = {};
  std::string format = {};             ///< what the file is, such as `ONNX`
  std::vector<double> seconds = {};    ///< measured compute time per op; NaN where there is none; empty if nowhere
  kind_set measured_on = {};           ///< the kind of device on which it was measured
  std::vector<std::string> notes = {}; ///< one line each: what was assumed, left out, or not understood

  /// Whether the file tells times and no FLOP: every op has a measured time, and that time is its work.
  /// Complexity: O(n).
  bool work_is_time() const {
    if (seconds.empty()) {
      return false;
    }
    for (const op_id v : ids(ops.num_ops())) {
      if (!(seconds[v] == ops.work(v))) {
        return false;
      }
    }
    return true;
  }
};

} // namespace weft
