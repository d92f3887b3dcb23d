// SPDX-License-Identifier: BSL-1.0
/// Improved predict priority task scheduling: as PEFT, for ops with many consumers first.
#pragma once

#include "weft/partition/list/future_costs.hpp"
#include "weft/partition/list_scheduler.hpp"

#include <limits>
#include <ranges>

namespace weft::partition {

namespace list {

/// The predict cost matrix PCM, ops × devices in seconds: PCM(v, d) = max over the consumers c of min over the devices
/// e of (PCM(c, e) + compute time of v and of c on e + mean transfer unless e = d); that of an op without consumers is
/// its compute time. Priority: mean PCM · number of consumers. Beyond: PCM − compute time.
struct by_predicted_cost {
  static constexpr bool falls_along_edges = false;

  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace&) const {
    const auto& w = p.workload();
    const auto num_consumers = [&w](op_id v) { return graph::out_degree(w, v); };
    ranking r;
    r.beyond = future_costs(
      p, [&](op_id v, device_id d) { return num_consumers(v) == 0 ? p.compute_time(v, d) : 0.0; },
      [&](op_id v, op_id c, device_id e, double later) { return later + p.compute_time(v, e) + p.compute_time(c, e); });
    r.key.assign(p.num_ops(), 0.0);
    for (const op_id v : ids(p.num_ops())) {
      r.key[v] = mean_of_row(p, r.beyond, v) * static_cast<double>(num_consumers(v));
      for (const device_id d : ids(p.num_devices())) {
        const double own = p.compute_time(v, d);
        r.beyond[v * p.num_devices() + d] -= own < std::numeric_limits<double>::infinity() ? own : 0;
      }
    }
    return r;
  }
};

} // namespace list

/// IPPTS: takes the ready op with the largest mean predicted cost times its number of consumers (ties: topologically
/// first), on the device with the least finish time + predicted cost − compute time, with insertion (ties: the earlier
/// finish, then the smaller device id).
///
/// Departs: a consumer counts once per tensor that it takes, while the paper's graphs have one edge between two ops.
/// Because the number of consumers can give an op a higher priority than its inputs have, only ready ops compete.
/// Source: Djigal, Feng, Lu, Ge, IEEE TPDS 32(5), 2021. Complexity: O(devices · (n + m) + n log n) plus the gaps
/// passed.
/// Memory: 8 bytes per op and device, by definition.
/// Choose it beside PEFT, from which it is derived; which is better depends on the graph.
using ippts = list_scheduler<list::by_predicted_cost, list::least<list::finish_time>>;

} // namespace weft::partition
