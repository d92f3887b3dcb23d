// SPDX-License-Identifier: BSL-1.0
/// Tables of the cost to go after each op, for each device that it could run on.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/partition/list/mean_costs.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

namespace weft::partition::list {

/// A table ops × devices, filled from the end: `own(v, d) + max over the consumers c of v of min over the devices e of
/// (link(v, c, e) + way)`, where the way is the mean send and transfer, 0 from a device to itself. Consumers in v's
/// component stay on d; of the others only devices that they allow count. `own` is called as `own(v, d)`, and
/// `link(v, c, e, row)` with c's row of the table. O(devices · (n + m)). Memory: 8 bytes per op and device.
template <class Problem, class Own, class Link>
constexpr std::vector<double> future_costs(const Problem& p, Own own, Link link) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto& w = p.workload();
  const std::size_t k = p.num_devices();
  const mean_costs mean{p};
  std::vector<double> table(p.num_ops() * k, 0.0);
  std::vector<double> at(k, 0.0);
  for (const op_id v : reversed(p.topological_order())) {
    double* const row = table.data() + v * k;
    for (const tensor_id t : w.outputs(v)) {
      const double way = std::ranges::empty(w.consumers(t)) ? 0 : mean.transfer(t);
      for (const op_id c : w.consumers(t)) {
        const bool together = p.component(c) == p.component(v);
        double elsewhere = infinity;
        for (const device_id e : ids(k)) {
          at[e] = p.allows(p.component(c), e) ? link(v, c, e, table[c * k + e]) : infinity;
          elsewhere = std::min(elsewhere, at[e] + way);
        }
        for (const device_id d : ids(k)) {
          const double least = together ? at[d] : std::min(at[d], elsewhere);
          row[d] = std::max(row[d], least == infinity ? 0 : least); // what fits nowhere fails later
        }
      }
    }
    for (const device_id d : ids(k)) {
      row[d] += own(v, d);
    }
  }
  return table;
}

/// Mean of a table's row over the devices that v's component allows; 0 if there are none.
template <class Problem>
constexpr double mean_of_row(const Problem& p, const std::vector<double>& table, op_id v) {
  double sum = 0;
  std::size_t count = 0;
  for (const device_id d : ids(p.num_devices())) {
    const double entry = table[v * p.num_devices() + d];
    if (p.allows(p.component(v), d) && entry < std::numeric_limits<double>::infinity()) {
      sum += entry;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

} // namespace weft::partition::list
