// SPDX-License-Identifier: BSL-1.0
/// Strongly connected components of graphs that may have cycles.
#pragma once

#include "weft/graph/adjacency.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::graph {

/// For every node the number of its strongly connected component, such that an edge never leads to a smaller number:
/// the components in a topological order of what is left when each of them becomes one node. Without recursion.
/// Precondition: the lists hold numbers of nodes. Complexity: O(n + m).
/// Source: Tarjan, *Depth-first search and linear graph algorithms*, SIAM Journal on Computing 1, 1972.
template <adjacency_lists G>
constexpr std::vector<std::uint32_t> strong_components(const G& successors) {
  const auto n = static_cast<std::size_t>(std::ranges::size(successors));
  std::vector<std::uint32_t> component(n, none);
  std::vector<std::uint32_t> number(n, none); // in the order of the search
  std::vector<std::uint32_t> low(n, 0);
  std::vector<std::uint32_t> next(n, 0); // edge to follow
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> path;
  std::uint32_t count = 0, found = 0;
  for (std::uint32_t root = 0; root < n; ++root) {
    if (number[root] == none) {
      path.push_back(root);
    }
    while (!path.empty()) {
      const auto v = path.back();
      if (number[v] == none) {
        number[v] = low[v] = count++;
        open.push_back(v);
      }
      if (next[v] < std::ranges::size(successors[v])) {
        const auto s = static_cast<std::uint32_t>(successors[v][next[v]++]);
        if (number[s] == none) {
          path.push_back(s);
        } else if (component[s] == none) {
          low[v] = std::min(low[v], number[s]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        low[path.back()] = std::min(low[path.back()], low[v]);
      }
      if (low[v] == number[v]) {
        for (auto member = none; member != v; open.pop_back()) {
          member = open.back();
          component[member] = found;
        }
        ++found;
      }
    }
  }
  for (auto& c : component) {
    c = found - 1 - c; // the search finds the last ones first
  }
  return component;
}

} // namespace weft::graph
