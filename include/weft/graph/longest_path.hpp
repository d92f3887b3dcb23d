// SPDX-License-Identifier: BSL-1.0
/// Longest paths in a DAG: levels, ranks and the critical path. One sweep each.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/graph/topological_order.hpp"

#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

namespace weft::graph {

/// A weight that an op or an edge adds to a path.
template <class F, class... Args>
concept weight_function = std::regular_invocable<F, Args...> &&
                          std::convertible_to<std::invoke_result_t<F, Args...>, double>;

} // namespace weft::graph

namespace weft {
namespace why_not {
template <class F, class... Args>
struct weight_function {
  static_assert(graph::weight_function<F, Args...>,
                "weft: a weight is a function that returns a number, of (op_id) for ops and of (edge) for edges");
};
} // namespace why_not

namespace must_be {
template <class F, class... Args>
concept weight_function = graph::weight_function<F, Args...> || explained<why_not::weight_function<F, Args...>>;
} // namespace must_be
} // namespace weft

namespace weft::graph {

/// An edge weight of zero, for paths that only count ops.
struct free_edges {
  constexpr double operator()(const auto&) const { return 0; }
};

/// For every op, the largest weight of a path from it to a sink, **including** itself ("bottom level", `down(v)`;
/// with mean costs the upward rank of HEFT). `order` is a topological order of g.
/// Complexity: O(n + m). Source: Topcuoglu, Hariri, Wu 2002, §4.1 for the rank.
template <must_be::walkable G, must_be::weight_function<op_id> OpWeight, class EdgeWeight = free_edges>
constexpr std::vector<double> longest_to_sink(const G& g, std::span<const op_id> order, OpWeight op_weight,
                                              EdgeWeight edge_weight = {}) {
  std::vector<double> rank(order.size(), 0.0);
  for (const op_id v : reversed(order)) {
    rank[v] = op_weight(v) +
              max_over_successors(g, v, 0.0, [&](op_id c, const auto& e) { return edge_weight(e) + rank[c]; });
  }
  return rank;
}

/// For every op, the largest weight of a path from a source to it, **excluding** itself ("top level", `up(v)`).
/// Complexity: O(n + m).
template <must_be::walkable G, must_be::weight_function<op_id> OpWeight, class EdgeWeight = free_edges>
constexpr std::vector<double> longest_from_source(const G& g, std::span<const op_id> order, OpWeight op_weight,
                                                  EdgeWeight edge_weight = {}) {
  std::vector<double> level(order.size(), 0.0);
  for (const op_id v : order) {
    const double here = level[v] + op_weight(v);
    for_each_successor(g, v, [&](op_id c, const auto& e) { level[c] = std::max(level[c], here + edge_weight(e)); });
  }
  return level;
}

/// The depth of every op: the number of edges on the longest path that leads to it.
template <must_be::walkable G>
constexpr std::vector<std::uint32_t> depths(const G& g, std::span<const op_id> order) {
  std::vector<std::uint32_t> depth(order.size(), 0);
  for (const op_id v : order) {
    for_each_successor(g, v, [&](op_id c) { depth[c] = std::max(depth[c], depth[v] + 1); });
  }
  return depth;
}

/// One path of the largest weight, from a source to a sink; ties go to the op with the smaller id.
/// Complexity: O(n + m).
template <must_be::walkable G, must_be::weight_function<op_id> OpWeight, class EdgeWeight = free_edges>
constexpr std::vector<op_id> critical_path(const G& g, std::span<const op_id> order, OpWeight op_weight,
                                           EdgeWeight edge_weight = {}) {
  const auto rank = longest_to_sink(g, order, op_weight, edge_weight);
  std::vector<op_id> path;
  if (order.empty()) {
    return path;
  }
  std::vector<std::uint8_t> has_input(order.size(), 0);
  for (const op_id v : order) {
    for_each_successor(g, v, [&](op_id c) { has_input[c] = 1; });
  }
  op_id at = none;
  for (const op_id v : ids(order.size())) {
    if (!has_input[v] && (at == none || rank[v] > rank[at])) {
      at = v;
    }
  }
  while (at != none) {
    path.push_back(at);
    op_id next = none;
    double best = 0;
    for_each_successor(g, at, [&](op_id c, const auto& e) {
      const double through = edge_weight(e) + rank[c];
      if (next == none || through > best || (through == best && c < next)) {
        best = through;
        next = c;
      }
    });
    at = next;
  }
  return path;
}

} // namespace weft::graph
