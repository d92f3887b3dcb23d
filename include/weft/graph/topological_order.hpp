// SPDX-License-Identifier: BSL-1.0
/// Topological order, and the cycle when there is none.
#pragma once

#include "weft/core/error.hpp"
#include "weft/graph/release_counter.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace weft::graph {

/// The ops that are on no cycle and behind none, each after all of its predecessors (Kahn 1962); among those that may
/// come next, the one that became free first, sources in ascending id. Throws `dangling_id_error`. Complexity: O(n +
/// m).
template <must_be::walkable G>
constexpr std::vector<op_id> acyclic_part(const G& g) {
  release_counter waiting{g};
  std::vector<op_id> order;
  order.reserve(num_ops(g));
  waiting.for_each_ready([&](op_id v) { order.push_back(v); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    waiting.finish(g, order[i], [&](op_id c) { order.push_back(c); });
  }
  return order;
}

namespace detail {

/// Precondition: `sorted` is the acyclic part, and not all.
template <class G>
[[noreturn]] void throw_cycle(const G& g, const std::vector<op_id>& sorted) {
  std::vector<std::uint8_t> is_left(num_ops(g), 1);
  for (const op_id v : sorted) {
    is_left[v] = 0;
  }
  std::vector<op_id> before(num_ops(g), none); // each op that is left waits for another one
  for (const op_id v : ids(num_ops(g))) {
    if (is_left[v]) {
      for_each_successor(g, v, [&](op_id c) { before[c] = before[c] == none ? v : before[c]; });
    }
  }
  auto at = static_cast<op_id>(std::find(is_left.begin(), is_left.end(), 1) - is_left.begin());
  for (; is_left[at]; at = before[at]) {
    is_left[at] = 0; // seen
    if (before[at] == none) {
      throw value_error("op " + std::to_string(at), "has an input whose producer does not list it as a consumer");
    }
  }
  std::vector<op_id> cycle{at};
  for (op_id v = before[at]; v != at; v = before[v]) {
    cycle.push_back(v);
  }
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  std::string names;
  for (const op_id v : cycle) {
    names += std::to_string(v) + " -> ";
  }
  names += std::to_string(cycle.front());
  throw cycle_error(std::move(cycle), names);
}

} // namespace detail

/// The ops, each after all of its predecessors, in the order of `acyclic_part`. Throws `cycle_error` naming a cycle
/// from its smallest op on, `dangling_id_error`, and `value_error` for a workload whose lists contradict each other.
/// Complexity: O(n + m).
template <must_be::walkable G>
constexpr std::vector<op_id> topological_order(const G& g) {
  auto order = acyclic_part(g);
  if (order.size() < num_ops(g)) {
    detail::throw_cycle(g, order);
  }
  return order;
}

/// The ops, each after all of its predecessors; among those that may come next, the one with the smallest id, or that
/// the op with the smallest id waits for. Ops that were added as a program runs them are in that order, and copies that
/// were added at the end come where they are read. Throws as `topological_order`. Complexity: O(n log n + m).
template <must_be::walkable G>
std::vector<op_id> program_order(const G& g) {
  const auto sorted = topological_order(g);
  std::vector<std::pair<op_id, op_id>> place(num_ops(g)); // by op: the smallest id that waits for it, and its own
  for (auto i = sorted.rbegin(); i != sorted.rend(); ++i) {
    place[*i] = {*i, *i};
    for_each_successor(g, *i, [&](op_id c) { place[*i].first = std::min(place[*i].first, place[c].first); });
  }
  release_counter waiting{g};
  std::priority_queue<std::pair<op_id, op_id>, std::vector<std::pair<op_id, op_id>>, std::greater<>> ready;
  waiting.for_each_ready([&](op_id v) { ready.push(place[v]); });
  std::vector<op_id> order;
  while (!ready.empty()) {
    order.push_back(ready.top().second);
    ready.pop();
    waiting.finish(g, order.back(), [&](op_id c) { ready.push(place[c]); });
  }
  return order;
}

} // namespace weft::graph
