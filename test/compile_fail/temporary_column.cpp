// SPDX-License-Identifier: BSL-1.0
// expect: weft: the columns of an annotated_graph are not copied
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <vector>

auto ops(const weft::csr_graph& g) {
#ifdef WEFT_COMPILE_FAIL
  return weft::annotated_graph{g, {.work = std::vector<double>(3, 1.0)}}.num_ops();
#else
  const std::vector<double> work(3, 1.0);
  return weft::annotated_graph{g, {.work = work}}.num_ops();
#endif
}
