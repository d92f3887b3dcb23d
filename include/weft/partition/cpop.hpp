// SPDX-License-Identifier: BSL-1.0
/// Critical path on a processor: a longest path on one device, the rest to where it finishes first.
#pragma once

#include "weft/partition/list_scheduler.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace weft::partition {

namespace list {

/// Priority: upward + downward rank. Pins a critical path, from the source with the largest priority from consumer to
/// consumer with the largest (ties: topologically first), to the device that computes it fastest (ties: the smaller
/// id).
struct by_way_through {
  static constexpr bool falls_along_edges = false;

  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace& scratch) const {
    ranking r{.key = upward_ranks(p)};
    const auto down = downward_ranks(p);
    for (const op_id v : ids(p.num_ops())) {
      r.key[v] += down[v];
    }
    r.pinned.assign(p.num_ops(), 0);
    auto position = scratch.template take<std::uint32_t>(p.num_ops());
    std::uint32_t number = 0;
    op_id at = none;
    const auto offer = [&](op_id v) {
      if (at == none || r.key[v] > r.key[at] || (r.key[v] == r.key[at] && position[v] < position[at])) {
        at = v;
      }
    };
    for (const op_id v : p.topological_order()) {
      position[v] = number++;
      if (std::ranges::empty(p.workload().inputs(v))) {
        offer(v);
      }
    }
    std::vector<op_id> path;
    while (at != none) {
      path.push_back(at);
      r.pinned[at] = 1;
      const op_id last = at;
      at = none;
      graph::for_each_successor(p.workload(), last, offer);
    }
    r.pinned_to = fastest(p, path);
    return r;
  }

private:
  /// An op that a device does not allow counts its mean compute time: it will run elsewhere.
  template <class Problem>
  static constexpr device_id fastest(const Problem& p, const std::vector<op_id>& path) {
    const mean_costs mean{p};
    device_id best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const device_id d : ids(p.num_devices())) {
      double sum = 0;
      for (const op_id v : path) {
        sum += p.allows(p.component(v), d) ? p.compute_time(v, d) : mean.compute(v);
      }
      if (sum < least) {
        least = sum;
        best = d;
      }
    }
    return best;
  }
};

/// A pinned op goes where it is pinned if it fits; others as `Otherwise` says.
template <class Otherwise>
struct pinned_or {
  [[no_unique_address]] Otherwise otherwise{};

  template <class Builder>
  constexpr option operator()(Builder& b, op_id v, const ranking& r, double group_weight) const {
    return r.pinned[v] != 0 && b.allows(v, r.pinned_to) ? b.at(v, r.pinned_to) : otherwise(b, v, r, group_weight);
  }
};

} // namespace list

/// CPOP: takes the ready op with the largest upward + downward rank (ties: topologically first). The ops of one
/// critical path go to the one device that computes the path fastest, every other op goes where it finishes earliest,
/// with insertion (ties: the smaller device id). An op of the path that does not fit that device goes where it finishes
/// earliest, too.
/// Source: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002.
/// Complexity: O(devices · (n + m) + n log n) plus the gaps passed.
/// Choose it where one path is most of the work and one device is best at it.
using cpop = list_scheduler<list::by_way_through, list::pinned_or<list::least<list::finish_time>>>;

} // namespace weft::partition
