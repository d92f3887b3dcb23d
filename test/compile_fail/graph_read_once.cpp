// SPDX-License-Identifier: BSL-1.0
// expect: weft: a workload walks the edges of its graph more than once
#include "weft/graph/archetype.hpp"
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"

#ifdef WEFT_COMPILE_FAIL
using my_graph = weft::graph::archetype;
#else
using my_graph = weft::csr_graph;
#endif

auto ops(const my_graph& g, const weft::op_columns& columns) { return weft::annotated_graph{g, columns}.num_ops(); }
