// SPDX-License-Identifier: BSL-1.0
/// Workloads on an Erdős–Rényi graph made acyclic.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <algorithm>
#include <cstdint>

namespace weft::generate {

/// Each pair of ops is joined with the same probability, the smaller id first.
struct random_dag_options {
  std::uint32_t ops = 100;
  double degree = 3; ///< expected number of inputs per op, averaged over all ops: 2 · degree / (ops − 1) is the
                     ///< probability of an edge, at most 1
  random_amounts amounts = {};
};

/// A random workload without levels or locality: G(n, p) of Erdős and Rényi with every edge from the smaller to the
/// larger id. Expected edges: `ops · degree`. The structure alone is `random_dag(n, p, seed)` of graph/generate.hpp.
/// Throws `value_error` for options that are out of range. Complexity: O(n + m log d) expected.
inline workload random_dag(const random_dag_options& o, std::uint64_t seed = 0) {
  detail::check(o.amounts);
  detail::require(o.degree >= 0 && o.degree < none, "degree", "must be finite and not negative");
  const double pairs_per_op = (std::max(o.ops, 2u) - 1) / 2.0;
  rng random{rng::mix(seed)}; // another stream than that of the structure
  return detail::annotate(random_dag(std::size_t{o.ops}, std::min(1.0, o.degree / pairs_per_op), seed), o.amounts,
                          random);
}

} // namespace weft::generate
