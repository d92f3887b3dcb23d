// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/downsets.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace graph_downsets_test {

using namespace weft;

struct predecessor_lists {
  std::vector<std::vector<std::uint32_t>> lists;
  std::size_t size() const { return lists.size(); }
  const std::vector<std::uint32_t>& predecessors(std::uint32_t i) const { return lists[i]; }
};

/// The members of each downset, as bits, by the steps that lead there; all ways to a downset agree.
std::vector<std::uint32_t> members(const graph::downsets& family) {
  std::vector<std::uint32_t> sets(family.size(), 0);
  for (std::uint32_t i = 0; i < family.size(); ++i) {
    for (const auto& step : family.from(i)) {
      std::uint32_t larger = sets[i];
      for (std::uint32_t a = 0; a < step.count; ++a) {
        larger |= 1u << family.added[step.first + a];
      }
      CHECK(step.to > i);
      CHECK((sets[step.to] == 0 || sets[step.to] == larger));
      sets[step.to] = larger;
    }
  }
  return sets;
}

TEST_CASE("all_downsets: a diamond has six") {
  const predecessor_lists diamond{{{}, {0}, {0}, {1, 2}}};
  const auto family = graph::all_downsets(diamond, 6);
  REQUIRE(family.has_value());
  CHECK(members(*family) == std::vector<std::uint32_t>{0, 1, 3, 5, 7, 15});
  CHECK(!graph::all_downsets(diamond, 5).has_value());
}

TEST_CASE("all_downsets: no nodes, and nodes without edges") {
  const predecessor_lists empty{};
  CHECK(graph::all_downsets(empty, 1)->size() == 1);
  const predecessor_lists apart{{{}, {}, {}}};
  CHECK(graph::all_downsets(apart, 8)->size() == 8);
}

TEST_CASE("prefixes: one node at a time, or several") {
  const std::array<std::uint32_t, 3> order{2, 0, 1};
  CHECK(members(graph::prefixes(order, 1)) == std::vector<std::uint32_t>{0, 4, 5, 7});
  CHECK(members(graph::prefixes(order, 2)) == std::vector<std::uint32_t>{0, 5, 7});
}

} // namespace graph_downsets_test
