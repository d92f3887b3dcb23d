// SPDX-License-Identifier: BSL-1.0
/// Random graphs with weights, for the tests of multilevel algorithms.
#pragma once

#include "weft/core/random.hpp"
#include "weft/graph/csr.hpp"
#include "weft/partition/multilevel/weighted_dag.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace multilevel_test {

/// Weights 1 if not `weighted`, else 0 to 3 for edges and 0 to 4 for vertices.
inline weft::partition::multilevel::weighted_dag random_dag(weft::rng& random, std::size_t max_ops, bool weighted) {
  const std::size_t n = 1 + random.below(max_ops);
  const std::size_t reach = 1 + random.below(n);
  const double p = random.uniform(0, 5.0 / static_cast<double>(reach));
  std::vector<weft::graph::arc> arcs;
  for (weft::op_id u = 0; u < n; ++u) {
    for (weft::op_id v = u + 1; v < n && v <= u + reach; ++v) {
      if (random.uniform() < p) {
        arcs.push_back({u, v});
      }
    }
  }
  const weft::csr_graph g{n, arcs};
  if (!weighted) {
    return weft::partition::multilevel::number(g).dag;
  }
  return weft::partition::multilevel::number(
           g, [&](weft::op_id v) { return v * 7 % 5; },
           [&](const weft::graph::arc& e) { return (e.source + 3 * e.target) % 4; })
    .dag;
}

/// Any partition whose edges lead to the same or a higher part.
inline std::vector<std::uint32_t> random_parts(weft::rng& random, const weft::partition::multilevel::weighted_dag& g,
                                               std::uint32_t parts) {
  std::vector<std::uint32_t> part(g.size());
  for (weft::op_id v = 0; v < g.size(); ++v) {
    std::uint32_t low = 0;
    for (const weft::op_id u : g.in.row(v)) {
      low = std::max(low, part[u]);
    }
    part[v] = low + (random.below(3) == 0 ? random.below(parts - low) : 0);
  }
  return part;
}

inline bool leads_up(const weft::partition::multilevel::weighted_dag& g, const std::vector<std::uint32_t>& part) {
  for (weft::op_id v = 0; v < g.size(); ++v) {
    for (const weft::op_id w : g.out.row(v)) {
      if (part[w] < part[v]) {
        return false;
      }
    }
  }
  return true;
}

} // namespace multilevel_test
