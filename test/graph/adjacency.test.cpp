// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/adjacency.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <span>
#include <vector>

namespace graph_adjacency_test {

using namespace weft;

template <class G>
std::vector<graph::arc> all_arcs(const G& g) {
  std::vector<graph::arc> list;
  for (const op_id v : ids(weft::num_ops(g))) {
    for (const auto& e : weft::out_edges(g, v)) {
      list.push_back({weft::source(g, e), weft::target(g, e)});
    }
  }
  return list;
}

static_assert(dataflow_graph<std::vector<std::vector<int>>>);
static_assert(dataflow_graph<std::vector<std::span<const std::uint64_t>>>);
static_assert(dataflow_graph<std::deque<std::forward_list<std::uint16_t>>>);
static_assert(dataflow_graph<std::array<std::array<std::int8_t, 1>, 3>>);
static_assert(!bidirectional_dataflow_graph<std::vector<std::vector<int>>>);
static_assert(!dataflow_graph<std::vector<std::vector<double>>>, "ids are integers");
static_assert(!dataflow_graph<std::vector<int>>);
static_assert(!dataflow_graph<std::forward_list<std::vector<int>>>, "an op is found by its number");

constexpr int sum_at_compile_time() {
  const std::vector<std::vector<int>> g{{1, 2}, {2}, {}};
  int sum = 0;
  for (const op_id v : ids(weft::num_ops(g))) {
    for (const auto& e : weft::out_edges(g, v)) {
      sum += 10 * static_cast<int>(weft::source(g, e)) + static_cast<int>(weft::target(g, e));
    }
  }
  return sum;
}
static_assert(sum_at_compile_time() == 15);

TEST_CASE("adjacency: lists of lists are graphs as they are") {
  const std::vector<graph::arc> expected{{0, 2}, {0, 1}, {2, 1}};
  CHECK(all_arcs(std::vector<std::vector<int>>{{2, 1}, {}, {1}}) == expected);
  CHECK(all_arcs(std::deque<std::forward_list<std::uint16_t>>{{2, 1}, {}, {1}}) == expected);
  CHECK(all_arcs(std::array<std::vector<std::int64_t>, 3>{{{2, 1}, {}, {1}}}) == expected);
  const std::uint32_t flat[] = {2, 1, 1};
  CHECK(all_arcs(std::vector<std::span<const std::uint32_t>>{{flat, 2}, {}, {flat + 2, 1}}) == expected);
}

TEST_CASE("adjacency: the lists are read in place") {
  std::vector<std::vector<int>> g{{1}, {}};
  const auto edges = weft::out_edges(g, 0);
  g[0][0] = 0;
  CHECK((*edges.begin()).target == 0);
}

} // namespace graph_adjacency_test
