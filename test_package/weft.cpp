// SPDX-License-Identifier: BSL-1.0
#include <weft/all.hpp>

int main() {
  const std::vector<std::vector<int>> successors{{1, 2}, {3}, {3}, {}};
  return weft::graph::topological_order(successors).back() == 3 ? 0 : 1;
}
