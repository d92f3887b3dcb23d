// SPDX-License-Identifier: BSL-1.0
// Every graph algorithm asks no more than its concept, and the concepts refuse near misses.
#include "weft/graph/archetype.hpp"
#include "weft/graph/components.hpp"
#include "weft/graph/csr.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/graph/transitive_reduction.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <forward_list>
#include <span>
#include <string>
#include <vector>

using namespace weft;

namespace {

/// Instantiates every algorithm with G and with callables that offer no more than they must.
template <class G, class Edge = edge_of<G>>
void instantiate(const G& g, std::span<const op_id> order) {
  struct op_weight {
    float operator()(op_id) const { return 0; } // anything that converts to double
  };
  struct edge_weight {
    int operator()(const Edge&) const { return 0; }
  };
  (void)graph::topological_order(g);
  (void)graph::acyclic_part(g);
  (void)graph::release_counter{g};
  (void)graph::out_degree(g, 0);
  (void)graph::in_degrees(g);
  (void)graph::connected_components(g);
  (void)graph::transitive_reduction(g);
  (void)graph::depths(g, order);
  (void)graph::longest_to_sink(g, order, op_weight{}, edge_weight{});
  (void)graph::longest_from_source(g, order, op_weight{}, edge_weight{});
  (void)graph::critical_path(g, order, op_weight{}, edge_weight{});
}

/// Exactly what `graph::has_tensors` asks.
struct tensors_archetype {
  std::size_t num_ops() const { return 0; }
  std::vector<tensor_id> inputs(op_id) const { return {}; }
  std::vector<tensor_id> outputs(op_id) const { return {}; }
  std::vector<op_id> consumers(tensor_id) const { return {}; }
  op_id producer(tensor_id) const { return 0; }
};
static_assert(graph::has_tensors<tensors_archetype> && !dataflow_graph<tensors_archetype>);
static_assert(graph::walkable<tensors_archetype> && graph::walkable_backwards<tensors_archetype>);

[[maybe_unused]] void all() {
  instantiate(graph::archetype{}, {});
  instantiate(graph::bidirectional_archetype{}, {});
  instantiate<tensors_archetype, flow_edge>({}, {});
}

// Near misses: each lacks exactly one thing.
using graph::archetype;

struct without_ops : archetype {
  std::size_t num_ops() const = delete;
};
static_assert(!graph::has_ops<without_ops> && !dataflow_graph<without_ops>);

struct without_out_edges : archetype {
  edge_range out_edges(op_id) const = delete;
};
static_assert(graph::has_ops<without_out_edges> && !graph::has_out_edges<without_out_edges>);
static_assert(!dataflow_graph<without_out_edges>);

struct without_target : archetype {
  op_id target(const edge&) const = delete;
};
static_assert(!graph::has_out_edges<without_target> && !dataflow_graph<without_target>);

struct edges_are_no_range : archetype {
  int out_edges(op_id) const { return 0; }
};
static_assert(!dataflow_graph<edges_are_no_range>);

struct without_source : graph::bidirectional_archetype {
  op_id source(const edge&) const = delete;
};
static_assert(dataflow_graph<without_source> && !bidirectional_dataflow_graph<without_source>);

struct only_mutable {
  std::size_t num_ops() { return 0; }
  archetype::edge_range out_edges(op_id) { return {}; }
  op_id target(const archetype::edge&) { return 0; }
};
static_assert(!dataflow_graph<only_mutable>, "algorithms take graphs by reference to const");

static_assert(!dataflow_graph<int> && !dataflow_graph<std::string>);

// A workload walks a graph's edges more than once, so the edges of the plainest graph are not enough for it.
static_assert(!workload_parts::has_repeatable_edges<archetype>);
static_assert(workload_parts::has_repeatable_edges<csr_graph>);
static_assert(workload_parts::has_repeatable_edges<std::vector<std::forward_list<int>>>);

// A foreign type joins by a specialisation of graph_access alone, before members are looked at.
struct foreign {
  int size = 0;
  void num_ops() const {} // something else by the same name
};

} // namespace

template <>
struct weft::graph_access<foreign> {
  static constexpr std::size_t num_ops(const foreign& g) { return static_cast<std::size_t>(g.size); }
  static constexpr std::span<const op_id> out_edges(const foreign&, op_id) { return {}; }
  static constexpr op_id target(const foreign&, op_id e) { return e; }
};

namespace {
static_assert(dataflow_graph<foreign> && !bidirectional_dataflow_graph<foreign>);
static_assert(weft::num_ops(foreign{3}) == 3);
[[maybe_unused]] void foreign_too() { instantiate(foreign{}, {}); }
} // namespace
