// SPDX-License-Identifier: BSL-1.0
/// Modified critical path: by the latest possible start to where an op starts first.
#pragma once

#include "weft/partition/list_scheduler.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace weft::partition {

namespace list {

/// Priority: the latest possible start (ALAP: critical path − upward rank), the smallest first; ties: the smaller ALAP
/// of the consumer whose is smallest, then topologically first.
struct by_latest_start {
  static constexpr bool falls_along_edges = true;

  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace& scratch) const {
    const auto rank = upward_ranks(p);
    std::vector<double> next(p.num_ops(), 0.0); // the largest rank of a consumer has the smallest ALAP
    for (const op_id v : ids(p.num_ops())) {
      next[v] = graph::max_over_successors(p.workload(), v, 0.0, [&](op_id c) { return rank[c]; });
    }
    std::vector<op_id> order(p.topological_order().begin(), p.topological_order().end());
    sort_by_key(
      {order.data(), order.size()}, largest_first{rank}, [&](op_id u, op_id v) { return next[u] > next[v]; }, scratch);
    ranking r{.key = std::vector<double>(p.num_ops(), 0.0)};
    double key = static_cast<double>(p.num_ops());
    for (const op_id v : order) {
      r.key[v] = key--;
    }
    return r;
  }
};

} // namespace list

/// MCP: ops by their latest possible start (ALAP), each on the device where it starts earliest, with insertion (ties:
/// the earlier finish, then the smaller device id).
///
/// Departs: times are means, because devices differ. Ties between ALAPs are broken by the consumers' ALAPs only, not by
/// the sorted lists of all descendants' ALAPs, which take O(n²).
/// Source: Wu, Gajski, IEEE TPDS 1(3), 1990. Complexity: O(devices · (n + m) + n log n) plus the gaps passed.
/// Choose it for identical devices: it starts ops early, whatever the device's speed.
using mcp = list_scheduler<list::by_latest_start, list::least<list::start_time>>;

} // namespace weft::partition
