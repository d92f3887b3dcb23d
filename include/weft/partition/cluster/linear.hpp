// SPDX-License-Identifier: BSL-1.0
/// Linear clustering: each cluster is a path.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/partition/cluster/clustering.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::partition::cluster {

/// Takes the longest path with its transfers (ties: topologically first op), makes a cluster of it, removes its ops
/// with all their edges, and goes on with the rest, until no edge is left; ops that are left alone stay alone. So no
/// two ops of a cluster could have run in parallel.
///
/// Beyond the paper: the members of a component are removed together, which makes clusters with groups less linear, and
/// a path is cut where no device could take the whole.
/// Source: Kim, Browne, *A General Approach to Mapping of Parallel Computations upon Multiprocessor Architectures*,
/// ICPP 1988; as in Sinnen, *Task Scheduling for Parallel Systems*, Wiley, 2007, algorithm 16.
/// Complexity: O(clusters · (n + m)).
struct linear {
  template <class Problem>
  constexpr clustering operator()(const mean_costs<Problem>& costs) const {
    const Problem& p = costs.problem();
    const auto& w = p.workload();
    cluster_sets<Problem> sets{p};
    std::vector<op_id> left(p.topological_order().begin(), p.topological_order().end()); // not in a path yet
    std::vector<std::uint8_t> is_left(p.num_ops(), 1);
    std::vector<double> length(p.num_ops(), 0.0);
    std::vector<op_id> next(p.num_ops(), none); // on the longest path from an op to the end
    for (;;) {
      op_id first = none;
      for (const op_id v : reversed(left)) {
        double rest = 0;
        next[v] = none;
        graph::for_each_successor(w, v, [&](op_id c, const flow_edge& e) {
          if (!is_left[c]) {
            return;
          }
          const double through = costs.transfer(e.tensor, c) + length[c];
          if (next[v] == none || through > rest ||
              (through == rest && costs.position(c) < costs.position(next[v]))) {
            rest = through;
            next[v] = c;
          }
        });
        length[v] = rest + costs.compute(v);
        if (next[v] != none && (first == none || length[v] >= length[first])) {
          first = v;
        }
      }
      if (first == none) {
        break;
      }
      for (op_id v = first; v != none; v = next[v]) {
        for (const op_id u : p.members(p.component(v))) {
          is_left[u] = 0;
        }
        if (next[v] != none) {
          const component_id a = sets.find(v);
          const component_id b = sets.find(next[v]);
          if (a != b && sets.can_unite(a, b)) {
            sets.unite(a, b);
          }
        }
      }
      std::erase_if(left, [&](op_id v) { return !is_left[v]; });
    }
    clustering result = sets.take();
    result.parallel_time = unbounded_schedule<Problem>{costs, costs.by_bottom_level()}.parallel_time(
      [&](op_id v) { return result.cluster[v]; });
    return result;
  }
};

} // namespace weft::partition::cluster
