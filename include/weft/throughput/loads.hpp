// SPDX-License-Identifier: BSL-1.0
/// Loads of devices and links per iteration under a placement, and the period that follows.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/schedule/check_plan.hpp"
#include "weft/throughput/charges.hpp"

#include <algorithm>
#include <vector>

namespace weft::throughput {

/// Seconds per resource (throughput/charges.hpp) and iteration when many iterations run one after the other through a
/// placement. With staged costs the load of an accelerator is Σ compute + Σ import times of the *distinct* tensors
/// that come in + Σ export times of the *distinct* own tensors that go out.
/// Throws `value_error` or `dangling_id_error` unless every op is on a device that exists. Complexity: O(n + m).
/// Source: Tarnawski et al., NeurIPS 2020, section 3.
template <class Problem>
constexpr std::vector<double> loads(const Problem& p, const placement& where) {
  check_placement(p, where, "placement");
  const charges<Problem> c{p};
  std::vector<double> load(c.num_resources(), 0.0);
  for (const op_id v : ids(p.num_ops())) {
    load[where[v]] += c.compute(v, where[v]);
  }
  std::vector<tensor_id> last(p.num_devices(), none); // the tensor that came to each device last
  for (const tensor_id t : ids(p.num_tensors())) {
    const device_id from = where[p.workload().producer(t)];
    bool leaves = false;
    for (const op_id consumer : p.workload().consumers(t)) {
      const device_id to = where[consumer];
      if (to != from && last[to] != t) {
        last[to] = t;
        leaves = true;
        c.moving(t, from, to, [&load](std::size_t r, double seconds) { load[r] += seconds; });
      }
    }
    if (leaves) {
      load[from] += c.leaving(t, from);
    }
  }
  return load;
}

/// Seconds between two results of a pipelined run: the largest load of a device or link. 0 if there is no op.
template <class Problem>
constexpr double period(const Problem& p, const placement& where) {
  const auto load = loads(p, where);
  return *std::ranges::max_element(load);
}

} // namespace weft::throughput
