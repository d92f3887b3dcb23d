// SPDX-License-Identifier: BSL-1.0
/// Predict earliest finish time: to where an op and what follows it finish first.
#pragma once

#include "weft/partition/list/future_costs.hpp"
#include "weft/partition/list_scheduler.hpp"

#include <vector>

namespace weft::partition {

namespace list {

/// The optimistic cost table OCT, ops × devices in seconds: from the end of the op on that device to the end of all, if
/// every consumer went where that is shortest. Its mean over the devices is the priority, and what comes beyond.
struct by_optimistic_cost {
  static constexpr bool falls_along_edges = false;

  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace&) const {
    ranking r;
    r.beyond = future_costs(
      p, [](op_id, device_id) { return 0.0; },
      [&p](op_id, op_id c, device_id e, double later) { return later + p.compute_time(c, e); });
    r.key.assign(p.num_ops(), 0.0);
    for (const op_id v : ids(p.num_ops())) {
      r.key[v] = mean_of_row(p, r.beyond, v);
    }
    return r;
  }
};

} // namespace list

/// PEFT: takes the ready op with the largest mean optimistic cost (ties: topologically first), on the device with the
/// least finish time + optimistic cost, with insertion (ties: the earlier finish, then the smaller device id).
/// Source: Arabnejad, Barbosa, IEEE TPDS 25(3), 2014. Complexity: O(devices · (n + m) + n log n) plus the gaps passed.
/// Memory: 8 bytes per op and device, by definition.
/// Choose it beside HEFT where transfers are expensive: it looks beyond the next op, at HEFT's complexity.
using peft = list_scheduler<list::by_optimistic_cost, list::least<list::finish_time>>;

} // namespace weft::partition
