// SPDX-License-Identifier: BSL-1.0
// expect: weft: a weight is a function that returns a number
#include "weft/graph/adjacency.hpp"
#include "weft/graph/longest_path.hpp"

#ifdef WEFT_COMPILE_FAIL
using weight = const char*;
#else
using weight = int;
#endif

auto ranks(const std::vector<std::vector<int>>& g, std::span<const weft::op_id> order) {
  return weft::graph::longest_to_sink(g, order, [](weft::op_id) { return weight{}; });
}
