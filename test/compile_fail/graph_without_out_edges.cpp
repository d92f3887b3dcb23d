// SPDX-License-Identifier: BSL-1.0
// expect: weft: this graph lacks out_edges
#include "weft/graph/archetype.hpp"
#include "weft/graph/topological_order.hpp"

struct my_graph : weft::graph::archetype {
#ifdef WEFT_COMPILE_FAIL
  edge_range out_edges(weft::op_id) const = delete;
#endif
};

auto order(const my_graph& g) { return weft::graph::topological_order(g); }
