// SPDX-License-Identifier: BSL-1.0
// expect: graph_must_outlive_the_annotated_graph
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <vector>

auto ops(const std::vector<double>& work) {
#ifdef WEFT_COMPILE_FAIL
  return weft::annotated_graph{weft::csr_graph{}, {.work = work}}.num_ops();
#else
  const weft::csr_graph g;
  return weft::annotated_graph{g, {.work = work}}.num_ops();
#endif
}
