// SPDX-License-Identifier: BSL-1.0
/// The importance of ops: the work on the longest path that goes through each, and how to break ties.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/problem.hpp"

#include <numeric>
#include <vector>

namespace weft::partition {

/// `down(v)` for every op: the most work on a path from v to a sink, including v, in work units. O(n + m).
template <class Problem>
constexpr std::vector<double> work_to_sink(const Problem& p) {
  return graph::longest_to_sink(p.workload(), p.topological_order(), [&](op_id v) { return p.workload().work(v); });
}

/// `up(v)` for every op: the most work on a path from a source to v, excluding v, in work units. O(n + m).
template <class Problem>
constexpr std::vector<double> work_from_source(const Problem& p) {
  return graph::longest_from_source(p.workload(), p.topological_order(), [&](op_id v) { return p.workload().work(v); });
}

/// `imp(v) = up(v) + down(v)` for every op, in work units. [CP] §3
template <class Problem>
constexpr std::vector<double> importance(const Problem& p) {
  auto imp = work_to_sink(p);
  const auto up = work_from_source(p);
  for (const op_id v : ids(p.num_ops())) {
    imp[v] += up[v];
  }
  return imp;
}

/// A random permutation of the ops, to break ties with.
template <class Problem>
constexpr auto random_ranks(const Problem& p, rng& random, workspace& scratch) {
  auto rank = scratch.take<std::uint32_t>(p.num_ops());
  std::iota(rank.begin(), rank.end(), 0u);
  random.shuffle(rank);
  return rank;
}

} // namespace weft::partition
