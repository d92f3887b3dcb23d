// SPDX-License-Identifier: BSL-1.0
#include <weft/graph/adjacency.hpp>
#include <weft/views/edges.hpp>

#include <range/v3/range/operations.hpp>

#include <vector>

int main() {
  const std::vector<std::vector<int>> successors{{1, 2}, {3}, {3}, {}};
  return ranges::distance(weft::views::edges(successors)) == 4 ? 0 : 1;
}
