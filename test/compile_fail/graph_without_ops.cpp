// SPDX-License-Identifier: BSL-1.0
// expect: weft: this graph lacks num_ops
#include "weft/graph/archetype.hpp"
#include "weft/graph/topological_order.hpp"

struct my_graph : weft::graph::archetype {
#ifdef WEFT_COMPILE_FAIL
  std::size_t num_ops() const = delete;
#endif
};

auto order(const my_graph& g) { return weft::graph::topological_order(g); }
