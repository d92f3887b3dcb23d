// SPDX-License-Identifier: BSL-1.0
/// The edges of a DAG that no other path implies.
#pragma once

#include "weft/graph/adjacency.hpp"
#include "weft/graph/longest_path.hpp"

#include <algorithm>
#include <vector>

namespace weft::graph {

/// The unique smallest set of arcs with the same reachability (Aho, Garey, Ullman 1972), ordered by source and
/// then as in g. An arc u -> v is implied when a longer path leads from u to v, so from each u the search follows
/// only ops that lie above u's deepest successor. Complexity: O(n·m) at worst, O(n + m) memory.
template <must_be::walkable G>
std::vector<arc> transitive_reduction(const G& g) {
  const auto order = topological_order(g);
  const auto depth = depths(g, order);
  std::vector<op_id> reached_from(order.size(), none);
  std::vector<op_id> stack;
  std::vector<arc> kept;
  for (const op_id u : ids(order.size())) {
    std::uint32_t deepest = 0;
    for_each_successor(g, u, [&](op_id v) {
      deepest = std::max(deepest, depth[v]);
      stack.push_back(v);
    });
    while (!stack.empty()) {
      const op_id v = stack.back();
      stack.pop_back();
      for_each_successor(g, v, [&](op_id w) {
        if (depth[w] <= deepest && reached_from[w] != u) {
          reached_from[w] = u;
          stack.push_back(w);
        }
      });
    }
    for_each_successor(g, u, [&](op_id v) {
      if (reached_from[v] != u) {
        kept.push_back({u, v});
      }
    });
  }
  return kept;
}

} // namespace weft::graph
