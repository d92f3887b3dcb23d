// SPDX-License-Identifier: BSL-1.0
/// Edge zeroing: clusters grow along the edges that cost most.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/cluster/clustering.hpp"

#include <algorithm>
#include <vector>

namespace weft::partition::cluster {

/// Looks at the edges in descending order of their mean transfer time (ties: topologically first producer, then first
/// consumer) and unites the clusters at both ends if the parallel time does not grow. Within a cluster, ops run by
/// descending bottom level of the graph as it was.
///
/// Beyond the book: starts from components, and unites only what some device could take as a whole.
/// Source: Sarkar, *Partitioning and Scheduling Parallel Programs for Multiprocessors*, MIT Press, 1989; the order in a
/// cluster as in Gerasoulis, Yang, J. Parallel Distributed Computing 16, 1992. Complexity: O(m (n + m)).
struct edge_zeroing {
  template <class Problem>
  constexpr clustering operator()(const mean_costs<Problem>& costs) const {
    const Problem& p = costs.problem();
    const auto& w = p.workload();
    struct edge {
      double transfer;
      tensor_id tensor;
      op_id target;
    };
    buffer<edge> edges;
    for (const tensor_id t : ids(p.num_tensors())) {
      for (const op_id c : w.consumers(t)) {
        if (p.component(w.producer(t)) != p.component(c)) {
          edges.push_back({costs.transfer(t, c), t, c});
        }
      }
    }
    weft::sort(edges, [&](const edge& a, const edge& b) {
      if (a.transfer != b.transfer) {
        return a.transfer > b.transfer;
      }
      const auto pa = costs.position(w.producer(a.tensor));
      const auto pb = costs.position(w.producer(b.tensor));
      return pa != pb ? pa < pb : costs.position(a.target) < costs.position(b.target);
    });
    cluster_sets<Problem> sets{p};
    std::vector<component_id> of(p.num_ops(), 0); // per op: its set
    for (const op_id v : ids(p.num_ops())) {
      of[v] = sets.find(v);
    }
    unbounded_schedule<Problem> schedule{costs, costs.by_bottom_level()};
    double least = schedule.parallel_time([&](op_id v) { return of[v]; });
    for (const edge& e : edges) {
      const component_id a = of[w.producer(e.tensor)];
      const component_id b = of[e.target];
      if (a == b || !sets.can_unite(a, b)) {
        continue;
      }
      const double time = schedule.parallel_time([&](op_id v) { return of[v] == b ? a : of[v]; }, least);
      if (time > least) {
        continue;
      }
      least = time;
      const component_id name = sets.unite(a, b);
      for (component_id& c : of) {
        c = c == a || c == b ? name : c;
      }
    }
    clustering result = sets.take();
    result.parallel_time = least;
    return result;
  }
};

} // namespace weft::partition::cluster
