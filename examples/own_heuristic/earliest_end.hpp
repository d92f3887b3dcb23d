// SPDX-License-Identifier: BSL-1.0
// A heuristic that decides when ops start, too.
// [order]
#pragma once

#include <weft/partition/assignment.hpp>
#include <weft/plan/order_by_start.hpp>

#include <algorithm>
#include <vector>

// Each op, in topological order, goes to the device on which it ends first, behind those that are there.
struct earliest_end {
  weft::outcome<weft::plan> operator()(const auto& p) const {
    weft::partition::assignment a{p};
    std::vector<double> start(p.num_ops()), end(p.num_ops()), idle_from(p.num_devices());
    for (const weft::op_id v : p.topological_order()) {
      const auto start_on = [&](weft::device_id d) {
        double inputs_there = 0;
        for (const weft::tensor_id t : p.workload().inputs(v)) {
          const weft::op_id u = p.workload().producer(t);
          const double transfer = a.device(u) == d ? 0 : p.transfer_time(t, a.device(u), d);
          inputs_there = std::max(inputs_there, end[u] + transfer);
        }
        return std::max(inputs_there, idle_from[d]);
      };
      if (const auto c = p.component(v); !a.is_placed(c)) {
        const auto end_on = [&](weft::device_id d) { return start_on(d) + p.compute_time(v, d); };
        const weft::device_id best = a.best_fit(c, end_on);
        if (best == weft::none) {
          return a.why_unplaced(c);
        }
        a.place(c, best);
      }
      const weft::device_id d = a.device(v);
      start[v] = start_on(d);
      end[v] = idle_from[d] = start[v] + p.compute_time(v, d);
    }
    return weft::plan{std::move(a).take(), weft::order_by_start(p, start)};
  }
};
// [order]
