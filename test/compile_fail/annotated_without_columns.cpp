// SPDX-License-Identifier: BSL-1.0
// expect: weft: an annotated graph is made of a graph and op_columns
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"

auto ops(const weft::csr_graph& g) {
#ifdef WEFT_COMPILE_FAIL
  return weft::annotated_graph{g}.num_ops();
#else
  return weft::annotated_graph{g, {}}.num_ops();
#endif
}
