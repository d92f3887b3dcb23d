// SPDX-License-Identifier: BSL-1.0
/// The ways that are not tried, as simulating them takes long and they cannot be the ones to take.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/workload/workload.hpp"

#include <cstddef>

namespace weft::planner {

/// The seconds of all ops that may run on the device, there. Complexity: O(n).
inline double seconds_alone(const task& t, const workload& w, device_id device) {
  double seconds = 0;
  for (const op_id v : ids(w.num_ops())) {
    if (w.kinds(v).contains(t.machine().kind(device))) {
      seconds += t.costs().ops.compute_time(w, v, t.machine(), device);
    }
  }
  return seconds;
}

/// Steps on so many devices that take long to simulate, and cannot be faster than the best with all work in equal parts
/// and nothing sent. Of smaller models all are shown, which tells how many devices pay.
class pruning {
public:
  pruning(const task& t, device_id device)
      : num_ops_{t.whole().ops.num_ops()}, seconds_{seconds_alone(t, t.whole().ops, device)},
        least_gain_{t.how().least_gain} {}
  bool is_large(std::size_t ranks) const { return num_ops_ * ranks > 100'000; }
  bool is_hopeless(std::size_t ranks, const comparison& all) const {
    return is_large(ranks) && seconds_ / static_cast<double>(ranks) >= (1 + least_gain_) * all.least_seconds();
  }

private:
  std::size_t num_ops_;
  double seconds_;
  double least_gain_; // fewer devices that are as much slower may be the ones to take
};

} // namespace weft::planner
