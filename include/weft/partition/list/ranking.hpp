// SPDX-License-Identifier: BSL-1.0
/// Rankings for list schedulers: the result of a priority, and the ranks that most of them use.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/core/workspace.hpp"
#include "weft/partition/list/mean_costs.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

namespace weft::partition::list {

/// In which order ops come, and what is known of their future.
struct ranking {
  std::vector<double> key = {};    ///< per op, the largest first; empty: all are equal
  std::vector<double> beyond = {}; ///< seconds from an op's end to the end, by device: ops × devices; may be empty
  device_id pinned_to = none;      ///< where the ops of `pinned` go if they fit
  std::vector<std::uint8_t> pinned = {}; ///< per op; may be empty
  std::vector<double> mean_compute = {}; ///< per op, for offsets; may be empty
  bool key_orders = true;          ///< false: `key` is there to be read, ops come in topological order

  /// A row of `beyond`, or an empty one.
  constexpr std::span<const double> beyond_row(op_id v, std::size_t num_devices) const {
    return beyond.empty() ? std::span<const double>{} : std::span{beyond}.subspan(v * num_devices, num_devices);
  }
};

/// The largest of `key + way` over the consumers of v, 0 if there are none; the way to a consumer in v's own component
/// is 0, else `way(tensor)` seconds; `alone` says that no consumer is. O(consumers).
template <class Problem, class Way>
constexpr double longest_way_out(const Problem& p, op_id v, bool alone, std::span<const double> key, Way way) {
  const auto& w = p.workload();
  const component_id here = p.component(v);
  double rest = 0;
  for (const tensor_id t : w.outputs(v)) {
    const auto& consumers = w.consumers(t);
    if (std::ranges::empty(consumers)) {
      continue;
    }
    const double seconds = way(t);
    for (const op_id c : consumers) {
      rest = std::max(rest, (alone || p.component(c) != here ? seconds : 0) + key[c]);
    }
  }
  return rest;
}

/// The upward rank of every op, in seconds: the longest way to the end through mean compute times and mean sends and
/// transfers, nothing between colocated ops. O(n + m) for linear costs over links, else O(n · devices + m · pairs),
/// with at most 8 · devices pairs. Topcuoglu, Hariri, Wu 2002, §4.
template <class Problem>
constexpr std::vector<double> upward_ranks(const Problem& p) {
  const mean_costs mean{p};
  std::vector<double> rank(p.num_ops(), 0.0);
  for (const op_id v : reversed(p.topological_order())) {
    rank[v] =
      longest_way_out(p, v, mean.alone(v), rank, [&](tensor_id t) { return mean.transfer(t); }) + mean.compute(v);
  }
  return rank;
}

/// The static level of every op, in seconds: the longest way to the end through mean compute times alone. The same
/// complexity without transfers. Adam, Chandy, Dickson 1974.
template <class Problem>
constexpr std::vector<double> static_levels(const Problem& p) {
  const mean_costs mean{p};
  std::vector<double> level(p.num_ops(), 0.0);
  for (const op_id v : reversed(p.topological_order())) {
    level[v] = longest_way_out(p, v, mean.alone(v), level, [](tensor_id) { return 0.0; }) + mean.compute(v);
  }
  return level;
}

/// The downward rank of every op, in seconds: the longest way from the beginning to its start. Topcuoglu et al., §4.
template <class Problem>
constexpr std::vector<double> downward_ranks(const Problem& p) {
  const mean_costs mean{p};
  const auto& w = p.workload();
  std::vector<double> rank(p.num_ops(), 0.0);
  for (const op_id v : p.topological_order()) {
    const double done = rank[v] + mean.compute(v);
    for (const tensor_id t : w.outputs(v)) {
      const double way = std::ranges::empty(w.consumers(t)) ? 0 : mean.transfer(t);
      for (const op_id c : w.consumers(t)) {
        rank[c] = std::max(rank[c], done + (p.component(c) == p.component(v) ? 0 : way));
      }
    }
  }
  return rank;
}

/// Priority: upward rank.
struct by_upward_rank {
  static constexpr bool falls_along_edges = true;
  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace&) const {
    return {.key = upward_ranks(p)};
  }
};

/// Priority: static level.
struct by_static_level {
  static constexpr bool falls_along_edges = true;
  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace&) const {
    return {.key = static_levels(p)};
  }
};

/// Priority: none, ops come in topological order.
struct by_topological_order {
  static constexpr bool falls_along_edges = true;
  template <class Problem>
  constexpr ranking operator()(const Problem&, workspace&) const {
    return {};
  }
};

} // namespace weft::partition::list
