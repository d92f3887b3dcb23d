// SPDX-License-Identifier: BSL-1.0
// expect: weft: this workload lacks num_tensors.*annotated_graph
#include "weft/graph/csr.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/annotated_graph.hpp"

auto ops(const weft::csr_graph& g, const weft::op_columns& columns, const weft::platform<>& p) {
#ifdef WEFT_COMPILE_FAIL
  (void)columns;
  return weft::problem{g, p}.num_ops();
#else
  const weft::annotated_graph w{g, columns};
  return weft::problem{w, p}.num_ops();
#endif
}
