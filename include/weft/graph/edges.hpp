// SPDX-License-Identifier: BSL-1.0
/// The edges of an op, forwards and backwards, of anything that has some: of graphs and of workloads.
#pragma once

#include "weft/core/error.hpp"
#include "weft/graph/concepts.hpp"

#include <algorithm>
#include <concepts>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

namespace weft {

/// An edge of a workload: `target` consumes `tensor`, which `source` produces.
struct flow_edge {
  op_id source = none;
  op_id target = none;
  tensor_id tensor = none;
  friend constexpr bool operator==(const flow_edge&, const flow_edge&) = default;
};

namespace graph {

/// A range of ids.
template <class R>
concept id_list = std::ranges::forward_range<R> && std::ranges::sized_range<R> &&
                  std::convertible_to<std::ranges::range_reference_t<R>, std::uint32_t>;

/// G tells which tensors an op consumes and produces, and which ops consume and produce a tensor: the edges of a
/// workload. An op lists a tensor at most once among its inputs.
template <class G>
concept has_tensors = has_ops<G> && requires(const G& g, op_id v, tensor_id t) {
  { g.inputs(v) } -> id_list;
  { g.outputs(v) } -> id_list;
  { g.consumers(t) } -> id_list;
  { g.producer(t) } -> std::convertible_to<op_id>;
};

/// A graph that algorithms can walk: a dataflow graph, or a workload, whose edges are a `flow_edge` for each consumer
/// of each output.
template <class G>
concept walkable = has_tensors<G> || dataflow_graph<G>;

/// A graph that algorithms can walk against the edges, too.
template <class G>
concept walkable_backwards = has_tensors<G> || bidirectional_dataflow_graph<G>;

} // namespace graph

namespace must_be {
template <class G>
concept walkable = graph::walkable<G> || explained<why_not::dataflow_graph<G>>;
} // namespace must_be

namespace graph {

namespace detail {
/// The edge is for functions that ask for it.
template <class F, class Edge>
constexpr decltype(auto) call(F& f, op_id v, const Edge& e) {
  if constexpr (std::invocable<F&, op_id, const Edge&>) {
    return f(v, e);
  } else {
    return f(v);
  }
}
} // namespace detail

/// Calls `visit(successor)` or `visit(successor, edge)` for each edge that leaves v, in the order of the graph; of a
/// workload, output by output.
/// ```
/// graph::for_each_successor(w, v, [&](op_id c, const flow_edge& e) { bytes[c] += w.bytes(e.tensor); });
/// ```
template <must_be::walkable G, class Visit>
constexpr void for_each_successor(const G& g, op_id v, Visit visit) {
  if constexpr (has_tensors<G>) {
    for (const tensor_id t : g.outputs(v)) {
      for (const op_id c : g.consumers(t)) {
        detail::call(visit, c, flow_edge{v, c, t});
      }
    }
  } else {
    for (const auto& e : weft::out_edges(g, v)) {
      detail::call(visit, weft::target(g, e), e);
    }
  }
}

/// Calls `visit(predecessor)` or `visit(predecessor, edge)` for each edge that enters v.
template <walkable_backwards G, class Visit>
constexpr void for_each_predecessor(const G& g, op_id v, Visit visit) {
  if constexpr (has_tensors<G>) {
    for (const tensor_id t : g.inputs(v)) {
      const op_id u = static_cast<op_id>(g.producer(t));
      detail::call(visit, u, flow_edge{u, v, t});
    }
  } else {
    for (const auto& e : weft::in_edges(g, v)) {
      detail::call(visit, weft::source(g, e), e);
    }
  }
}

/// The largest of `least` and `value(successor)` or `value(successor, edge)` over the edges that leave v.
template <must_be::walkable G, class T, class Value>
constexpr T max_over_successors(const G& g, op_id v, T least, Value value) {
  for_each_successor(g, v, [&](op_id c, const auto& e) { least = std::max<T>(least, detail::call(value, c, e)); });
  return least;
}

/// The same over the edges that enter v.
template <walkable_backwards G, class T, class Value>
constexpr T max_over_predecessors(const G& g, op_id v, T least, Value value) {
  for_each_predecessor(g, v, [&](op_id u, const auto& e) { least = std::max<T>(least, detail::call(value, u, e)); });
  return least;
}

/// The number of edges that leave v. O(1) per output of a workload.
template <must_be::walkable G>
constexpr std::size_t out_degree(const G& g, op_id v) {
  std::size_t degree = 0;
  if constexpr (has_tensors<G>) {
    for (const tensor_id t : g.outputs(v)) {
      degree += static_cast<std::size_t>(std::ranges::size(g.consumers(t)));
    }
  } else {
    for_each_successor(g, v, [&](op_id) { ++degree; });
  }
  return degree;
}

/// The number of edges that enter each op, in any container with `assign`. Throws `dangling_id_error` for an edge of a
/// graph to an op that does not exist. Complexity: O(n + m); of a workload, O(n).
template <must_be::walkable G, class Counts>
constexpr void count_in_degrees(const G& g, Counts& degree) {
  const auto n = num_ops(g);
  degree.assign(n, 0);
  for (const op_id v : ids(n)) {
    if constexpr (has_tensors<G>) {
      degree[v] = static_cast<std::uint32_t>(std::ranges::size(g.inputs(v)));
    } else {
      for_each_successor(g, v, [&](op_id w) {
        if (w >= n) {
          throw dangling_id_error("edge " + std::to_string(v) + " -> " + weft::detail::missing_id(w),
                                  "the graph has " + weft::detail::only_ops(n));
        }
        ++degree[w];
      });
    }
  }
}

/// The same as a vector.
template <must_be::walkable G>
constexpr std::vector<std::uint32_t> in_degrees(const G& g) {
  std::vector<std::uint32_t> degree;
  count_in_degrees(g, degree);
  return degree;
}

} // namespace graph
} // namespace weft
