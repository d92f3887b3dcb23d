// SPDX-License-Identifier: BSL-1.0
// expect: weft: num_ops\(\) of this graph does not return a number
#include "weft/graph/archetype.hpp"
#include "weft/graph/topological_order.hpp"

struct my_graph : weft::graph::archetype {
#ifdef WEFT_COMPILE_FAIL
  const char* num_ops() const { return "three"; }
#endif
};

auto order(const my_graph& g) { return weft::graph::topological_order(g); }
