// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/components.hpp"

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace graph_components_test {

using namespace weft;

#define GRAPH_TYPES csr_graph, test::int_lists, test::id_lists

TEST_CASE("disjoint sets: the smallest member represents its set") {
  graph::disjoint_sets sets{6};
  sets.unite(4, 5);
  sets.unite(2, 5);
  CHECK(sets.find(5) == 2);
  CHECK(sets.find(4) == 2);
  sets.unite(0, 1);
  sets.unite(1, 4);
  sets.unite(4, 0); // again
  for (const std::uint32_t x : {0u, 1u, 2u, 4u, 5u}) {
    CHECK(sets.find(x) == 0);
  }
  CHECK(sets.find(3) == 3);
}

TEST_CASE_TEMPLATE("components: numbered by their smallest op", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(7, {{5, 1}, {5, 3}, {2, 6}, {6, 4}});
  CHECK(graph::connected_components(g) == std::vector<std::uint32_t>{0, 1, 2, 1, 2, 1, 2});
  CHECK(graph::connected_components(test::make_graph<G>(0, {})).empty());
}

TEST_CASE_TEMPLATE("components: agree with reachability over undirected edges", G, GRAPH_TYPES) {
  rng random{77};
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = random.below(15) + 1u;
    const auto arcs = test::random_dag(n, random.uniform(0, 0.3), random);
    auto undirected = arcs;
    for (const auto& [u, v] : arcs) {
      undirected.push_back({v, u});
    }
    const auto reaches = test::reachability(n, undirected);
    const auto component = graph::connected_components(test::make_graph<G>(n, arcs));
    for (const op_id u : ids(n)) {
      for (const op_id v : ids(n)) {
        CHECK((component[u] == component[v]) == (u == v || reaches[u][v]));
      }
    }
  }
}

constexpr std::uint32_t last_component() { return graph::connected_components(test::int_lists{{}, {2}, {}})[2]; }
static_assert(last_component() == 1);

} // namespace graph_components_test
