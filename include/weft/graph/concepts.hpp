// SPDX-License-Identifier: BSL-1.0
/// The concept of a dataflow graph: the five access points, and the concepts built from them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/explained.hpp"
#include "weft/core/ids.hpp"

#include <concepts>
#include <ranges>

namespace weft {

/// The customisation point for foreign graph types: specialise it with static functions of the same names
/// as the members below. The primary template forwards to members.
template <class G>
struct graph_access {
  static constexpr auto num_ops(const G& g)
    requires requires { g.num_ops(); }
  { return g.num_ops(); }
  static constexpr decltype(auto) out_edges(const G& g, op_id v)
    requires requires { g.out_edges(v); }
  { return g.out_edges(v); }
  static constexpr decltype(auto) in_edges(const G& g, op_id v)
    requires requires { g.in_edges(v); }
  { return g.in_edges(v); }
  static constexpr auto source(const G& g, const auto& e)
    requires requires { g.source(e); }
  { return g.source(e); }
  static constexpr auto target(const G& g, const auto& e)
    requires requires { g.target(e); }
  { return g.target(e); }
};

/// The number of ops of a graph; their ids are `0 … num_ops(g) - 1`. Throws `value_error` if ids cannot number them.
template <class G>
  requires requires(const G& g) { { graph_access<G>::num_ops(g) } -> std::convertible_to<std::size_t>; }
constexpr std::size_t num_ops(const G& g) {
  return checked_count(static_cast<std::size_t>(graph_access<G>::num_ops(g)), "graph", "ops");
}

/// The edges that leave v, one for each consumer of one of its outputs.
template <class G>
  requires requires(const G& g, op_id v) { graph_access<G>::out_edges(g, v); }
constexpr decltype(auto) out_edges(const G& g, op_id v) {
  return graph_access<G>::out_edges(g, v);
}

/// The edges that enter v, one for each of its inputs.
template <class G>
  requires requires(const G& g, op_id v) { graph_access<G>::in_edges(g, v); }
constexpr decltype(auto) in_edges(const G& g, op_id v) {
  return graph_access<G>::in_edges(g, v);
}

/// The op that an edge comes from.
template <class G, class E>
  requires requires(const G& g, const E& e) { { graph_access<G>::source(g, e) } -> std::convertible_to<op_id>; }
constexpr op_id source(const G& g, const E& e) {
  return to_id(graph_access<G>::source(g, e));
}

/// The op that an edge goes to.
template <class G, class E>
  requires requires(const G& g, const E& e) { { graph_access<G>::target(g, e) } -> std::convertible_to<op_id>; }
constexpr op_id target(const G& g, const E& e) {
  return to_id(graph_access<G>::target(g, e));
}

namespace graph {

/// G tells how many ops it has.
template <class G>
concept has_ops = requires(const G& g) {
  { weft::num_ops(g) } -> std::same_as<std::size_t>;
};

/// G lists, for an op, the edges that leave it, each with its target.
template <class G>
concept has_out_edges = requires(const G& g, op_id v) {
  { weft::out_edges(g, v) } -> std::ranges::input_range;
} && requires(const G& g, std::ranges::range_value_t<decltype(weft::out_edges(g, op_id{}))> e) {
  { weft::target(g, e) } -> std::same_as<op_id>;
};

/// G lists, for an op, the edges that enter it, each with its source.
template <class G>
concept has_in_edges = requires(const G& g, op_id v) {
  { weft::in_edges(g, v) } -> std::ranges::input_range;
} && requires(const G& g, std::ranges::range_value_t<decltype(weft::in_edges(g, op_id{}))> e) {
  { weft::source(g, e) } -> std::same_as<op_id>;
};

} // namespace graph

/// A graph whose ops have the dense ids `0 … n - 1` and that can be walked along its edges. All graph
/// algorithms need no more than this. See graph/archetype.hpp for a type that offers exactly this.
template <class G>
concept dataflow_graph = graph::has_ops<G> && graph::has_out_edges<G>;

/// A dataflow graph that can also be walked against its edges.
template <class G>
concept bidirectional_dataflow_graph = dataflow_graph<G> && graph::has_in_edges<G>;

namespace why_not {
template <class G>
struct dataflow_graph {
  static constexpr bool counts_ops = requires(const G& g) { graph_access<G>::num_ops(g); };
  static constexpr bool has_edges = requires(const G& g, op_id v) {
    { weft::out_edges(g, v) } -> std::ranges::input_range;
  };
  static_assert(counts_ops || !std::ranges::range<const G>,
                "weft: a range is a graph if it lists, op by op, the integer ids of the op's successors, and if "
                "weft/graph/adjacency.hpp is included; see docs/concepts/dataflow_graph.md");
  WEFT_DETAIL_HAS(counts_ops || !std::ranges::range<const G>, (const G& g), graph_access<G>::num_ops(g),
                  std::convertible_to<std::size_t>, "graph", "num_ops()", "a number", "dataflow_graph");
  WEFT_DETAIL_HAS(counts_ops, (const G& g, op_id v), weft::out_edges(g, v), std::ranges::input_range, "graph",
                  "out_edges(op_id)", "a range of the edges that leave an op", "dataflow_graph");
  WEFT_DETAIL_HAS(has_edges, (const G& g, std::ranges::range_value_t<decltype(weft::out_edges(g, op_id{}))> e),
                  graph_access<G>::target(g, e), std::convertible_to<op_id>, "graph", "target(edge)",
                  "the op_id that an edge of out_edges goes to", "dataflow_graph");
};
} // namespace why_not

namespace must_be {
template <class G>
concept dataflow_graph = weft::dataflow_graph<G> || explained<why_not::dataflow_graph<G>>;
} // namespace must_be

/// The type of the edges of G.
template <dataflow_graph G>
using edge_of = std::ranges::range_value_t<decltype(weft::out_edges(std::declval<const G&>(), op_id{}))>;

} // namespace weft
