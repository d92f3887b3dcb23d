// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/items.hpp"

#include "support/graphs.hpp"
#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace execute_items_test {

using namespace weft;
using concurrency::op_graph;
using execute::items;

op_graph graph_of(std::size_t n, const test::arcs& arcs) {
  workload_builder b;
  for (std::size_t i = 0; i < n; ++i) {
    b.add_op({.bytes = 0});
  }
  for (const auto& [u, v] : arcs) {
    b.add_edge(u, v);
  }
  return op_graph{std::move(b).build()};
}

TEST_CASE("items: short ops join what comes before them, or after") {
  // 0 -> 1 -> 2 -> 3, 2 -> 4: all short but 0 and 3
  const auto g = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {2, 4}});
  const std::vector<double> seconds{1, 1e-6, 1e-6, 1, 1e-6};
  const items joined{g, seconds};
  CHECK(joined.num_items() == 2);
  CHECK(joined.item_of(0) == joined.item_of(4));
  CHECK(std::ranges::equal(joined.ops(0), std::vector<op_id>{0, 1, 2, 4}));
  CHECK(std::ranges::equal(joined.ops(1), std::vector<op_id>{3}));

  const auto before = graph_of(3, {{0, 2}, {1, 2}}); // two short ones that start, and what needs them
  CHECK(items{before, std::vector<double>{1e-6, 1e-6, 1}}.num_items() == 1);
  CHECK(items{before, std::vector<double>{1, 1e-6, 1}}.num_items() == 2);
  CHECK(items{before, std::vector<double>(3, 1.0)}.num_items() == 3);
  CHECK(items{graph_of(0, {}), {}}.num_items() == 0);
}

TEST_CASE("items: an item does not get long") {
  test::arcs chain;
  for (op_id v = 1; v < 100; ++v) {
    chain.push_back({v - 1, v});
  }
  const items joined{graph_of(100, chain), std::vector<double>(100, 5e-6)};
  for (std::uint32_t i = 0; i < joined.num_items(); ++i) {
    CHECK(joined.ops(i).size() <= 10);
  }
  CHECK(joined.num_items() == 10);
}

TEST_CASE("items: of 2000 random graphs, each op is in one, in an order in which it may run, and no cycle arises") {
  rng random{17};
  for (int i = 0; i < 2000; ++i) {
    const std::size_t n = 1 + random.below(40);
    const auto g = graph_of(n, test::random_dag(n, random.uniform(0, 0.3), random));
    std::vector<double> seconds;
    for (std::size_t v = 0; v < n; ++v) {
      seconds.push_back(random.below(3) == 0 ? 1e-3 : random.uniform(0, 1e-5));
    }
    const items joined{g, seconds};
    CHECK(joined.num_ops() == n);
    std::vector<std::size_t> place(n, 0);
    std::size_t count = 0;
    test::arcs between;
    for (std::uint32_t item = 0; item < joined.num_items(); ++item) {
      CHECK(std::ranges::count_if(joined.ops(item), [&](op_id v) { return seconds[v] >= 1e-5; }) <= 1);
      for (const op_id v : joined.ops(item)) {
        CHECK(joined.item_of(v) == item);
        place[v] = count++;
      }
    }
    CHECK(count == n);
    for (const op_id u : ids(n)) {
      for (const op_id v : g.consumers(u)) {
        if (joined.item_of(u) == joined.item_of(v)) {
          CHECK(place[u] < place[v]);
        } else if (std::ranges::find(between, graph::arc{joined.item_of(u), joined.item_of(v)}) == between.end()) {
          between.push_back({joined.item_of(u), joined.item_of(v)});
        }
      }
    }
    CHECK_NOTHROW(graph_of(joined.num_items(), between));
  }
}

} // namespace execute_items_test
