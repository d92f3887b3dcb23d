// SPDX-License-Identifier: BSL-1.0
// expect: weft: a range is a graph if it lists, op by op, the integer ids
#include "weft/graph/adjacency.hpp"
#include "weft/graph/components.hpp"

#include <string>
#include <vector>

#ifdef WEFT_COMPILE_FAIL
using id = std::string;
#else
using id = long;
#endif

auto components(const std::vector<std::vector<id>>& g) { return weft::graph::connected_components(g); }
