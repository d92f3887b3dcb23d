// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/transitive_reduction.hpp"

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace graph_transitive_reduction_test {

using namespace weft;

#define GRAPH_TYPES csr_graph, test::int_lists, test::id_lists

TEST_CASE_TEMPLATE("transitive reduction: shortcuts of any length go", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(5, {{0, 1}, {1, 2}, {2, 3}, {0, 2}, {0, 3}, {1, 3}, {0, 4}});
  CHECK(graph::transitive_reduction(g) == test::arcs{{0, 1}, {0, 4}, {1, 2}, {2, 3}});
}

TEST_CASE_TEMPLATE("transitive reduction: agrees with the definition on random graphs", G, GRAPH_TYPES) {
  rng random{31};
  std::size_t dropped = 0;
  for (int round = 0; round < 100; ++round) {
    const std::size_t n = random.below(16) + 1u;
    auto arcs = test::random_dag(n, random.uniform(0, 0.9), random);
    const auto reaches = test::reachability(n, arcs);
    std::ranges::sort(arcs, {}, [](const graph::arc& a) { return std::pair{a.source, a.target}; });
    test::arcs needed;
    for (const auto& a : arcs) {
      bool implied = false;
      for (const op_id v : ids(n)) {
        implied = implied || (reaches[a.source][v] && reaches[v][a.target]);
      }
      if (!implied) {
        needed.push_back(a);
      }
    }
    dropped += arcs.size() - needed.size();
    CHECK(graph::transitive_reduction(test::make_graph<G>(n, arcs)) == needed);
  }
  CHECK(dropped > 100);
}

TEST_CASE("transitive reduction: needs a graph without cycles") {
  CHECK_THROWS_AS(graph::transitive_reduction(test::int_lists{{1}, {0}}), cycle_error);
}

} // namespace graph_transitive_reduction_test
