// SPDX-License-Identifier: BSL-1.0
/// The importance of ops: the work on the longest path that goes through each, and how to break ties.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/workspace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::partition {

/// `down(v)` for every op: the most work on a path from v to a sink, including v, in work units. O(n + m).
template <class Problem>
constexpr std::vector<double> work_to_sink(const Problem& p) {
  const auto& w = p.workload();
  std::vector<double> down(p.num_ops(), 0.0);
  for (const op_id v : reversed(p.topological_order())) {
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        down[v] = std::max(down[v], down[c]);
      }
    }
    down[v] += w.work(v);
  }
  return down;
}

/// `up(v)` for every op: the most work on a path from a source to v, excluding v, in work units. O(n + m).
template <class Problem>
constexpr std::vector<double> work_from_source(const Problem& p) {
  const auto& w = p.workload();
  std::vector<double> up(p.num_ops(), 0.0);
  for (const op_id v : p.topological_order()) {
    const double through = up[v] + w.work(v);
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        up[c] = std::max(up[c], through);
      }
    }
  }
  return up;
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
