// SPDX-License-Identifier: BSL-1.0
/// Clusters of ops that are to share a device, clusters in the making, and the time they take on enough devices.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/graph/components.hpp"
#include "weft/partition/cluster/mean_costs.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::partition::cluster {

using cluster_id = std::uint32_t;

/// A clustering of a problem's ops. Whole components are in one cluster, and every cluster with more than one component
/// would fit alone on some device, by kinds and by memory.
struct clustering {
  std::vector<cluster_id> cluster; ///< per op; numbered from 0 in order of the smallest op
  std::size_t num_clusters = 0;
  double parallel_time = 0; ///< seconds on as many devices as there are clusters, each like the mean of the real ones
};

/// `s(costs)` clusters the ops of a problem. A value that holds options and no state of a run.
template <class S, class Problem>
concept clusterer_for = std::copy_constructible<S> && requires(const S& s, const mean_costs<Problem>& costs) {
  { s(costs) } -> std::same_as<clustering>;
};

/// Disjoint sets of components that only grow where a device could take the whole.
template <class Problem>
class cluster_sets {
public:
  constexpr explicit cluster_sets(const Problem& p)
      : p_{&p}, sets_{p.num_components()}, kinds_(p.num_components(), kind_set{}), demand_(p.num_components(), 0) {
    for (component_id c = 0; c < p.num_components(); ++c) {
      kinds_[c] = p.kinds(c);
      demand_[c] = p.demand(c);
    }
    for (const device_id d : ids(p.num_devices())) { // the largest device of each kind
      const device_kind kind = p.platform().kind(d);
      const auto capacity = p.capacity(d);
      const auto known = std::find_if(largest_.begin(), largest_.end(), [&](const room& r) { return r.kind == kind; });
      if (known == largest_.end()) {
        largest_.push_back({kind, capacity});
      } else {
        known->capacity = std::max(known->capacity, capacity);
      }
    }
  }

  /// The set of v's component, named by one of its components.
  constexpr component_id find(op_id v) { return sets_.find(p_->component(v)); }

  /// Precondition: a and b are names of different sets.
  constexpr bool can_unite(component_id a, component_id b) const {
    const kind_set both = kinds_[a] & kinds_[b];
    return std::any_of(largest_.begin(), largest_.end(), [&](const room& r) {
      return both.contains(r.kind) && r.capacity >= demand_[a] && r.capacity - demand_[a] >= demand_[b];
    });
  }

  /// Returns the name of the union. Precondition: `can_unite(a, b)`.
  constexpr component_id unite(component_id a, component_id b) {
    sets_.unite(a, b);
    const component_id c = sets_.find(a);
    kinds_[c] = kinds_[a] & kinds_[b];
    demand_[c] = demand_[a] + demand_[b];
    return c;
  }

  /// The sets as a clustering, without a time.
  constexpr clustering take() {
    clustering result;
    result.cluster.assign(p_->num_ops(), 0);
    std::vector<cluster_id> number(p_->num_components(), none);
    for (const op_id v : ids(p_->num_ops())) {
      cluster_id& of_set = number[find(v)];
      if (of_set == none) {
        of_set = static_cast<cluster_id>(result.num_clusters++);
      }
      result.cluster[v] = of_set;
    }
    return result;
  }

private:
  struct room {
    device_kind kind;
    byte_count capacity;
  };

  const Problem* p_;
  graph::disjoint_sets sets_;
  buffer<kind_set> kinds_;          // per name of a set
  std::vector<byte_count> demand_;  // per name of a set
  buffer<room> largest_;
};

/// The time of a clustering on enough devices, when each runs its ops in a given order. Keeps its buffers.
template <class Problem>
class unbounded_schedule {
public:
  /// `sequence` is a topological order of the ops.
  constexpr unbounded_schedule(const mean_costs<Problem>& costs, std::vector<op_id> sequence)
      : costs_{&costs}, sequence_{std::move(sequence)},
        level_{
          graph::longest_to_sink(costs.problem().workload(), sequence_, [&](op_id v) { return costs.compute(v); })},
        finish_(sequence_.size(), 0.0), free_(sequence_.size(), 0.0) {}

  /// Seconds for `cluster_of(op)`, a number below the number of ops; infinite if they exceed `limit`. O(n + m).
  template <class ClusterOf>
  constexpr double parallel_time(ClusterOf cluster_of, double limit = std::numeric_limits<double>::infinity()) {
    const auto& w = costs_->problem().workload();
    std::fill(free_.begin(), free_.end(), 0.0);
    double end = 0;
    for (const op_id v : sequence_) {
      const auto here = cluster_of(v);
      const double start = graph::max_over_predecessors(w, v, free_[here], [&](op_id u, const flow_edge& e) {
        return finish_[u] + (cluster_of(u) == here ? 0 : costs_->transfer(e.tensor, v));
      });
      if (start + level_[v] > limit * (1 + 1e-12)) { // what follows v takes that long in any clustering
        return std::numeric_limits<double>::infinity();
      }
      free_[here] = finish_[v] = start + costs_->compute(v);
      end = std::max(end, finish_[v]);
    }
    return end;
  }

private:
  const mean_costs<Problem>* costs_;
  std::vector<op_id> sequence_;
  std::vector<double> level_;  // per op: longest path to the end, without transfers
  std::vector<double> finish_; // per op
  std::vector<double> free_;   // per cluster
};

} // namespace weft::partition::cluster
