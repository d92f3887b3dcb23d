// SPDX-License-Identifier: BSL-1.0
/// Random series-parallel workloads.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <cstdint>
#include <vector>

namespace weft::generate {

/// Grown from one edge between a first and a last op: a random edge at a time gets an op in its middle (series), or an
/// op beside it (parallel).
struct series_parallel_options {
  std::uint32_t ops = 100;   ///< at least 2
  double parallel_share = 0.5; ///< probability that a step is a parallel one
  random_amounts amounts = {};
};

/// A random two-terminal series-parallel workload: exactly `ops` ops; `1 + series steps + 2 · parallel steps` edges,
/// where the steps are `ops − 2`. Ops are numbered in a topological order. Every such graph can come out.
/// Throws `value_error` for options that are out of range. Complexity: O(n).
/// Source: the recursive definition of Valdes, Tarjan, Lawler, SIAM J. Computing 11(2), 1982.
inline workload series_parallel(const series_parallel_options& o, std::uint64_t seed = 0) {
  detail::check(o.amounts);
  detail::require(o.ops >= 2 && o.ops < none, "ops", "must be from 2 to 2^32 - 2");
  detail::require(detail::is_probability(o.parallel_share), "parallel_share", "must be from 0 to 1");
  rng random{seed};
  std::vector<graph::arc> arcs{{0, 1}};
  for (op_id v = 2; v < o.ops; ++v) {
    const std::size_t chosen = random.below(arcs.size());
    const auto [from, to] = arcs[chosen];
    if (random.uniform() < o.parallel_share) {
      arcs.push_back({from, v});
    } else {
      arcs[chosen] = {from, v};
    }
    arcs.push_back({v, to});
  }
  const auto order = graph::topological_order(csr_graph{o.ops, arcs});
  std::vector<op_id> position(o.ops, 0);
  for (op_id i = 0; i < o.ops; ++i) {
    position[order[i]] = i;
  }
  for (auto& a : arcs) {
    a = {position[a.source], position[a.target]};
  }
  return detail::annotate(csr_graph{o.ops, arcs}, o.amounts, random);
}

} // namespace weft::generate
