// SPDX-License-Identifier: BSL-1.0
/// Clustering schedulers: clusters for any number of devices, mapped to those there are, and an order.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/partition/cluster/dominant_sequence.hpp"
#include "weft/partition/cluster/edge_zeroing.hpp"
#include "weft/partition/cluster/linear.hpp"
#include "weft/partition/cluster/mapping.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/schedule/timeline.hpp"

#include <utility>
#include <vector>

namespace weft::partition {

/// Clusters the ops, maps the clusters to devices, and orders each device's ops: by descending path to the end under
/// that placement (ties: topologically first), each in the first gap that is long enough. Returns that order, too, for
/// `schedule::static_order`; like HEFT's, it delays inputs by sends but does not book them.
/// Complexity: that of clusterer and mapper, and O(n log n + m) plus the gaps passed. Uses no randomness.
template <class Clusterer, class Mapper>
struct clustered {
  [[no_unique_address]] Clusterer clusterer = {}; ///< which ops stay together
  [[no_unique_address]] Mapper mapper = {};       ///< on which devices clusters go

  template <class Problem>
    requires cluster::clusterer_for<Clusterer, Problem> && cluster::mapper_for<Mapper, Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    const cluster::mean_costs<Problem> costs{p};
    const auto where = mapper(costs, clusterer(costs));
    if (!where) {
      return where.error();
    }
    list::schedule_builder<Problem, schedule::timeline> b{p};
    for (const op_id v : sequence(p, costs, *where)) {
      b.take(v, b.at(v, (*where)[v]));
    }
    return std::move(b).decided(scratch);
  }

private:
  template <class Problem>
  static constexpr std::vector<op_id> sequence(const Problem& p, const cluster::mean_costs<Problem>& costs,
                                               const placement& where) {
    const auto rank = graph::longest_to_sink(
      p.workload(), p.topological_order(), [&](op_id v) { return p.compute_time(v, where[v]); },
      [&](const flow_edge& e) {
        const device_id from = where[e.source];
        const device_id to = where[e.target];
        return from == to ? 0 : p.send_time(e.tensor, from, to) + p.transfer_time(e.tensor, from, to);
      });
    std::vector<op_id> ops(p.topological_order().begin(), p.topological_order().end());
    weft::sort(ops, [&](op_id u, op_id v) {
      return rank[u] != rank[v] ? rank[u] > rank[v] : costs.position(u) < costs.position(v);
    });
    return ops;
  }
};

/// Sarkar's edge zeroing. Takes the edges in descending order of their mean transfer time and merges the clusters at
/// both ends if the parallel time does not grow; see partition/cluster/edge_zeroing.hpp. Clusters then go to devices by
/// `cluster::earliest_finish`.
/// Departs: starts from components, and merges only what some device could take as a whole.
/// Source: Sarkar, *Partitioning and Scheduling Parallel Programs for Multiprocessors*, MIT Press, 1989. Complexity:
/// O(m (n + m)) and that of the mapping, O(devices · (n + m)) plus the gaps passed.
/// Choose it for small graphs with few expensive transfers.
using edge_zeroing = clustered<cluster::edge_zeroing, cluster::earliest_finish>;
/// Linear clustering of Kim and Browne. Repeatedly makes a cluster of the longest path with its transfers and removes
/// it; see partition/cluster/linear.hpp. Clusters then go to devices by `cluster::earliest_finish`.
/// Departs: the members of a component are removed together, and a path is cut where no device could take the whole.
/// Source: Kim, Browne, *A General Approach to Mapping of Parallel Computations upon Multiprocessor Architectures*,
/// ICPP 1988. Complexity: O(clusters · (n + m)) and that of the mapping, O(devices · (n + m)) plus the gaps passed.
/// Choose it for graphs of a few long paths: no two ops of a cluster could have run in parallel.
using linear_clustering = clustered<cluster::linear, cluster::earliest_finish>;
/// Dominant sequence clustering of Yang and Gerasoulis. Ops, in descending order of the longest path through them, join
/// the cluster of the input that would arrive last if they then start sooner; see
/// partition/cluster/dominant_sequence.hpp. Clusters then go to devices by `cluster::earliest_finish`.
/// Departs: the first examined member of a component decides for all, and ops join only clusters that some device could
/// take as a whole.
/// Source: Yang, Gerasoulis, IEEE TPDS 5(9), 1994. Complexity: O((n + m) log(n + m)) and that of the mapping, O(devices
/// · (n + m)) plus the gaps passed.
/// Choose it beside HEFT where transfers are expensive. Of the clusterings, it is the fastest, and on most graphs the
/// best.
using dsc = clustered<cluster::dominant_sequence, cluster::earliest_finish>;

} // namespace weft::partition
