// SPDX-License-Identifier: BSL-1.0
/// From clusters to devices: merging clusters until there are as many as devices, and choosing the device of each.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/cluster/clustering.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/schedule/timeline.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <numeric>
#include <vector>

namespace weft::partition::cluster {

/// `s(costs, clusters)` places clusters on devices. A value that holds options and no state of a run.
template <class S, class Problem>
concept mapper_for = std::copy_constructible<S> &&
                     requires(const S& s, const mean_costs<Problem>& costs, const clustering& clusters) {
                       { s(costs, clusters) } -> std::same_as<outcome<placement>>;
                     };

namespace detail {

/// An assignment of whole clusters.
template <class Problem>
class cluster_assignment {
public:
  constexpr cluster_assignment(const Problem& p, const clustering& clusters)
      : p_{&p}, a_{p}, first_(clusters.num_clusters + 1, 0), components_(p.num_components(), 0),
        kinds_(clusters.num_clusters, kind_set::all()), demand_(clusters.num_clusters, 0) {
    for (component_id c = 0; c < p.num_components(); ++c) {
      ++first_[clusters.cluster[p.members(c).front()] + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    auto next = first_;
    for (component_id c = 0; c < p.num_components(); ++c) {
      const cluster_id k = clusters.cluster[p.members(c).front()];
      components_[next[k]++] = c;
      kinds_[k] = kinds_[k] & p.kinds(c);
      demand_[k] += p.demand(c);
    }
  }

  constexpr std::span<const component_id> components(cluster_id k) const {
    return std::span{components_}.subspan(first_[k], first_[k + 1] - first_[k]);
  }
  constexpr bool fits(cluster_id k, device_id d) const {
    return kinds_[k].contains(p_->platform().kind(d)) && a_.free(d) >= demand_[k];
  }
  /// Σ of the members' compute times on d.
  constexpr double seconds(cluster_id k, device_id d) const {
    double sum = 0;
    for (const component_id c : components(k)) {
      sum += p_->component_time(c, d);
    }
    return sum;
  }
  constexpr void place(cluster_id k, device_id d) {
    for (const component_id c : components(k)) {
      a_.place(c, d);
    }
  }
  constexpr assignment<Problem>& single() { return a_; } ///< for components one by one
  constexpr const assignment<Problem>& single() const { return a_; }

private:
  const Problem* p_;
  assignment<Problem> a_;
  std::vector<std::uint32_t> first_;       // per cluster, plus the end
  std::vector<component_id> components_;   // cluster by cluster, ascending
  buffer<kind_set> kinds_;                 // per cluster
  std::vector<byte_count> demand_;         // per cluster
};

} // namespace detail

/// Equal loads: clusters by descending mean compute time (ties: smaller number), each to the fitting device that is
/// done with all its clusters first (ties: smaller id). A cluster that fits nowhere as a whole is dealt out component
/// by component by the same rule. Source: the work profiling of Yang, Gerasoulis, *PYRROS*, ICS 1992; on unequal
/// devices it is the longest-processing-time rule. Complexity: O(n · devices + clusters log clusters).
struct load_balancing {
  template <class Problem>
  constexpr outcome<placement> operator()(const mean_costs<Problem>& costs, const clustering& clusters) const {
    const Problem& p = costs.problem();
    detail::cluster_assignment a{p, clusters};
    std::vector<double> load(clusters.num_clusters, 0.0);
    for (const op_id v : ids(p.num_ops())) {
      load[clusters.cluster[v]] += costs.compute(v);
    }
    std::vector<cluster_id> sequence(clusters.num_clusters, 0);
    std::iota(sequence.begin(), sequence.end(), 0u);
    weft::sort(sequence,
              [&](cluster_id x, cluster_id y) { return load[x] != load[y] ? load[x] > load[y] : x < y; });
    for (const cluster_id k : sequence) {
      device_id best = none;
      double least = 0;
      for (const device_id d : ids(p.num_devices())) {
        if (!a.fits(k, d)) {
          continue;
        }
        const double end = done(p, a, d, a.seconds(k, d));
        if (best == none || end < least) {
          best = d;
          least = end;
        }
      }
      if (best != none) {
        a.place(k, best);
        continue;
      }
      for (const component_id c : a.components(k)) {
        const device_id d =
          a.single().best_fit(c, [&](device_id e) { return done(p, a, e, p.component_time(c, e)); });
        if (d == none) {
          return a.single().why_unplaced(c);
        }
        a.single().place(c, d);
      }
    }
    return std::move(a.single()).take();
  }

private:
  template <class Problem>
  static constexpr double done(const Problem& p, const detail::cluster_assignment<Problem>& a, device_id d,
                               double more) {
    return (a.single().load(d) + more) / p.platform().slots(d);
  }
};

/// List scheduling of clusters: ops by descending bottom level, each in the first gap that is long enough; the first op
/// of a cluster decides for it and takes the fitting device where it finishes earliest (ties: smaller id); the compute
/// time of the other ops that are or would be decided for that device and have not been scheduled counts
/// `cluster_weight` times, over its slots. A cluster that fits nowhere as a whole is placed component by component.
/// Source: the processor assignment of Sarkar 1989, with HEFT's finish times on unequal devices.
/// Complexity: O(devices · (n + m)) plus the gaps passed.
struct earliest_finish {
  double cluster_weight = 0.5; ///< how much of the work that is still to come counts

  template <class Problem>
  constexpr outcome<placement> operator()(const mean_costs<Problem>& costs, const clustering& clusters) const {
    const Problem& p = costs.problem();
    detail::cluster_assignment a{p, clusters};
    list::schedule_builder<Problem, schedule::timeline> b{p};
    std::vector<double> done(p.num_devices(), 0.0); // compute time of the ops that have been scheduled
    for (const op_id v : costs.by_bottom_level()) {
      const component_id c = p.component(v);
      const cluster_id k = clusters.cluster[v];
      if (!a.single().is_placed(c)) {
        const auto choose = [&](auto fits, auto seconds) {
          device_id best = none;
          double least = 0;
          for (const device_id d : ids(p.num_devices())) {
            if (fits(d)) {
              const list::option o = b.at(v, d);
              const double all = a.single().load(d) + seconds(d);
              const bool ends = all < std::numeric_limits<double>::infinity();
              const double later = ends ? a.single().load(d) - done[d] + seconds(d) - o.duration : all;
              const double end = o.finish + (cluster_weight > 0 ? cluster_weight * later / p.platform().slots(d) : 0);
              if (best == none || end < least) {
                best = d;
                least = end;
              }
            }
          }
          return best;
        };
        const auto part = a.components(k);
        const bool whole = std::none_of(part.begin(), part.end(),
                                        [&](component_id each) { return a.single().is_placed(each); });
        device_id d = none;
        if (whole) {
          d = choose([&](device_id e) { return a.fits(k, e); }, [&](device_id e) { return a.seconds(k, e); });
        }
        if (d != none) {
          a.place(k, d);
        } else {
          d = choose([&](device_id e) { return a.single().fits(c, e); },
                     [&](device_id e) { return p.component_time(c, e); });
          if (d == none) {
            return a.single().why_unplaced(c);
          }
          a.single().place(c, d);
        }
      }
      const list::option o = b.at(v, a.single().device(v));
      b.take(v, o);
      done[o.device] += o.duration;
    }
    return std::move(a.single()).take();
  }
};

} // namespace weft::partition::cluster
