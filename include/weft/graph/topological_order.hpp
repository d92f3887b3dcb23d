// SPDX-License-Identifier: BSL-1.0
/// Topological order, and the cycle when there is none.
#pragma once

#include "weft/core/error.hpp"
#include "weft/graph/concepts.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weft::graph {

/// The number of edges that enter each op. Throws `dangling_id_error` for an edge to an op that does not exist.
/// Complexity: O(n + m).
template <must_be::dataflow_graph G>
constexpr std::vector<std::uint32_t> in_degrees(const G& g) {
  const auto n = num_ops(g);
  std::vector<std::uint32_t> degree(n, 0);
  for (const op_id v : ids(n)) {
    for (const auto& e : weft::out_edges(g, v)) {
      const op_id w = weft::target(g, e);
      if (w >= n) {
        throw dangling_id_error("edge " + std::to_string(v) + " -> " + weft::detail::missing_id(w),
                                "the graph has " + weft::detail::only_ops(n));
      }
      ++degree[w];
    }
  }
  return degree;
}

namespace detail {

/// The ops of one cycle, found by depth-first search among the ops that a topological sort could not reach.
template <must_be::dataflow_graph G>
std::vector<op_id> find_cycle(const G& g, const std::vector<std::uint32_t>& unresolved) {
  const auto n = num_ops(g);
  std::vector<op_id> next_on_path(n, none);
  std::vector<std::uint8_t> state(n, 0); // 0 unseen, 1 on the path, 2 done
  std::vector<op_id> path;
  for (const op_id root : ids(n)) {
    if (unresolved[root] == 0 || state[root] != 0) {
      continue;
    }
    path.assign(1, root);
    state[root] = 1;
    while (!path.empty()) {
      const op_id v = path.back();
      op_id child = none;
      for (const auto& e : weft::out_edges(g, v)) {
        const op_id w = weft::target(g, e);
        if (unresolved[w] == 0 || state[w] == 2) {
          continue;
        }
        if (state[w] == 1) {
          return {std::find(path.begin(), path.end(), w), path.end()};
        }
        child = w;
        break;
      }
      if (child == none) {
        state[v] = 2;
        path.pop_back();
      } else {
        state[child] = 1;
        path.push_back(child);
      }
    }
  }
  return path;
}

} // namespace detail

/// The ops, each after all of its predecessors (Kahn 1962); among those that may come next, the one that became
/// free first, sources in ascending id. Throws `cycle_error` naming a cycle, `dangling_id_error`.
/// Complexity: O(n + m).
template <must_be::dataflow_graph G>
constexpr std::vector<op_id> topological_order(const G& g) {
  auto waiting = in_degrees(g);
  std::vector<op_id> order;
  order.reserve(waiting.size());
  for (const op_id v : ids(waiting.size())) {
    if (waiting[v] == 0) {
      order.push_back(v);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const auto& e : weft::out_edges(g, order[i])) {
      const op_id w = weft::target(g, e);
      if (--waiting[w] == 0) {
        order.push_back(w);
      }
    }
  }
  if (order.size() < waiting.size()) {
    auto cycle = detail::find_cycle(g, waiting);
    std::string names;
    for (const op_id v : cycle) {
      names += std::to_string(v) + " -> ";
    }
    names += std::to_string(cycle.front());
    throw cycle_error(std::move(cycle), names);
  }
  return order;
}

} // namespace weft::graph
