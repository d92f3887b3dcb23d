// SPDX-License-Identifier: BSL-1.0
/// Graphs for tests: random ones, and the graph types that every graph algorithm is tested with.
#pragma once

#include "weft/core/random.hpp"
#include "weft/graph/csr.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace weft::test {

using arcs = std::vector<graph::arc>;
using int_lists = std::vector<std::vector<int>>;
using id_lists = std::vector<std::vector<std::uint32_t>>;

/// A graph of type G with n ops and these arcs, successors in ascending order.
template <class G>
G make_graph(std::size_t n, arcs list) {
  std::ranges::sort(list, {}, [](const graph::arc& a) { return std::pair{a.source, a.target}; });
  if constexpr (std::same_as<G, csr_graph>) {
    return csr_graph{n, list};
  } else {
    G g(n);
    for (const auto& [u, v] : list) {
      g[u].push_back(static_cast<typename G::value_type::value_type>(v));
    }
    return g;
  }
}

/// Each arc between ops in a random order of them with probability `density`.
inline arcs random_dag(std::size_t n, double density, rng& random) {
  std::vector<op_id> order(n);
  std::iota(order.begin(), order.end(), 0u);
  random.shuffle(order);
  arcs list;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (random.uniform() < density) {
        list.push_back({order[i], order[j]});
      }
    }
  }
  return list;
}

/// Which op reaches which over one or more arcs, by Warshall's algorithm: slow and simple.
inline std::vector<std::vector<bool>> reachability(std::size_t n, std::span<const graph::arc> list) {
  std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n, false));
  for (const auto& [u, v] : list) {
    reaches[u][v] = true;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (reaches[i][k] && reaches[k][j]) {
          reaches[i][j] = true;
        }
      }
    }
  }
  return reaches;
}

} // namespace weft::test
