// SPDX-License-Identifier: BSL-1.0
/// Weakly connected components, and the disjoint sets they are made with.
#pragma once

#include "weft/graph/edges.hpp"

#include <numeric>
#include <vector>

namespace weft::graph {

/// Disjoint sets of `0 … n - 1` with path halving; the representative of a set is its smallest member.
class disjoint_sets {
public:
  constexpr explicit disjoint_sets(std::size_t n) : parent_(n, 0) { std::iota(parent_.begin(), parent_.end(), 0u); }

  constexpr std::uint32_t find(std::uint32_t x) {
    while (parent_[x] != x) {
      x = parent_[x] = parent_[parent_[x]];
    }
    return x;
  }

  constexpr void unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    (a < b ? parent_[b] : parent_[a]) = a < b ? a : b;
  }

private:
  std::vector<std::uint32_t> parent_;
};

/// For every op the number of its weakly connected component, counted from 0 in order of the smallest op.
/// Complexity: O((n + m) α(n)).
template <must_be::walkable G>
constexpr std::vector<std::uint32_t> connected_components(const G& g) {
  const auto n = num_ops(g);
  disjoint_sets sets{n};
  for (const op_id v : ids(n)) {
    for_each_successor(g, v, [&](op_id c) { sets.unite(v, c); });
  }
  std::vector<std::uint32_t> component(n, 0);
  std::uint32_t count = 0;
  for (const op_id v : ids(n)) {
    const auto root = sets.find(v);
    component[v] = root == v ? count++ : component[root];
  }
  return component;
}

} // namespace weft::graph
