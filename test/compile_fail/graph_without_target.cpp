// SPDX-License-Identifier: BSL-1.0
// expect: weft: this graph lacks target
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"

struct my_graph : weft::csr_graph {
#ifdef WEFT_COMPILE_FAIL
  weft::op_id target(const auto&) const = delete;
#endif
};

auto ops(const my_graph& g, const weft::op_columns& columns) { return weft::annotated_graph{g, columns}.num_ops(); }
