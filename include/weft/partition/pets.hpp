// SPDX-License-Identifier: BSL-1.0
/// Performance effective task scheduling: level by level to where an op finishes first.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/partition/list_scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <vector>

namespace weft::partition {

namespace list {

/// Priority: level by level (hops on the longest way from a source), within a level by descending rank = mean compute
/// time + mean transfers to all consumers + the largest rank of a producer; ties: the smaller mean compute time, then
/// topologically first.
struct by_level_and_rank {
  static constexpr bool falls_along_edges = true;

  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace&) const {
    const auto& w = p.workload();
    const mean_costs mean{p};
    std::vector<double> rank(p.num_ops(), 0.0); // until an op's turn: the largest rank of its producers
    std::vector<double> compute(p.num_ops(), 0.0);
    std::vector<std::uint32_t> level(p.num_ops(), 0);
    for (const op_id v : p.topological_order()) {
      compute[v] = mean.compute(v);
      rank[v] += compute[v];
      for (const tensor_id t : w.outputs(v)) {
        const double way = std::ranges::empty(w.consumers(t)) ? 0 : mean.transfer(t);
        for (const op_id c : w.consumers(t)) {
          rank[v] += p.component(c) == p.component(v) ? 0 : way;
        }
      }
      graph::for_each_successor(w, v, [&](op_id c) {
        rank[c] = std::max(rank[c], rank[v]);
        level[c] = std::max(level[c], level[v] + 1);
      });
    }
    std::vector<std::uint32_t> position(p.num_ops(), 0);
    std::vector<op_id> order(p.topological_order().begin(), p.topological_order().end());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
    }
    weft::sort(order, [&](op_id u, op_id v) {
      return level[u] != level[v]       ? level[u] < level[v]
             : rank[u] != rank[v]       ? rank[u] > rank[v]
             : compute[u] != compute[v] ? compute[u] < compute[v]
                                        : position[u] < position[v];
    });
    ranking r{.key = std::vector<double>(p.num_ops(), 0.0)};
    double key = static_cast<double>(p.num_ops());
    for (const op_id v : order) {
      r.key[v] = key--;
    }
    return r;
  }
};

} // namespace list

/// PETS: level by level, ops by rank, each on the device where it finishes earliest, with insertion (ties: the smaller
/// device id).
///
/// Departs: the source rounds ranks to integers, which would depend on the unit of time.
/// Source: Ilavarasan, Thambidurai, J. Computer Sciences 3(2), 2007.
/// Complexity: O(devices · (n + m) + n log n) plus the gaps passed.
/// Choose it to compare, or for graphs with levels of similar ops.
using pets = list_scheduler<list::by_level_and_rank, list::least<list::finish_time>>;

} // namespace weft::partition
