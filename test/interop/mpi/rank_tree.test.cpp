// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/rank_tree.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace interop_mpi_rank_tree_test {

namespace mpi = weft::mpi;
using numbers = std::vector<std::uint32_t>;

TEST_CASE("rank_tree: levels of groups, without those that say nothing new") {
  mpi::rank_tree tree{5};
  tree.add_level(std::vector<std::string>{"a", "b", "c", "d", "e"}); // a host per rank
  CHECK(tree.num_levels() == 1);
  tree.add_level(std::vector<std::string>{"y", "x", "y", "x", "z"});
  tree.add_level(std::vector<int>{3, 3, 3, 3, 7});
  tree.add_level(std::vector<int>{1, 1, 1, 1, 0});
  tree.add_level(std::vector<int>(5, 0));
  CHECK(tree.num_levels() == 4);
  CHECK(tree.num_groups(0) == 5);
  CHECK(tree.num_groups(1) == 3);
  CHECK(tree.num_groups(2) == 2);
  CHECK(tree.num_groups(3) == 1);
  CHECK(tree.members(1, 0) == numbers{0, 2});
  CHECK(tree.members(2, 0) == numbers{0, 1, 2, 3});
  CHECK(tree.level_of(0, 0) == 0);
  CHECK(tree.level_of(0, 2) == 1);
  CHECK(tree.level_of(1, 2) == 2);
  CHECK(tree.level_of(4, 2) == 3);
}

/// Distances of things on a line, some noise included.
std::vector<std::vector<std::uint32_t>> levels_of(const std::vector<double>& at) {
  const std::size_t n = at.size();
  std::vector<double> distance(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      distance[a * n + b] = std::abs(at[a] - at[b]);
    }
  }
  return mpi::levels_by_distance(distance, n);
}

TEST_CASE("levels_by_distance: a level ends where distances jump, not where they differ a little") {
  CHECK(levels_of({0, 10, 21, 31.5, 41}).empty());
  CHECK(levels_of({0, 10}).empty());
  const auto two = levels_of({0, 100, 10, 111, 21});
  REQUIRE(two.size() == 1);
  CHECK(two[0] == numbers{0, 1, 0, 1, 0});
  const auto three = levels_of({0, 1, 10, 11.2, 100, 101});
  REQUIRE(three.size() == 2);
  mpi::rank_tree tree{6};
  for (const auto& level : three) {
    tree.add_level(level);
  }
  CHECK(tree.num_groups(1) == 3);
  CHECK(tree.num_groups(2) == 2);
  CHECK(tree.members(2, 0) == numbers{0, 1, 2, 3});
}

} // namespace interop_mpi_rank_tree_test
