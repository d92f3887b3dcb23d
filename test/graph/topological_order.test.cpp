// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/topological_order.hpp"

#include "weft/graph/archetype.hpp"

#include "support/cyclic.hpp"
#include "support/graphs.hpp"
#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace graph_topological_order_test {

using namespace weft;

/// True if an order has each of n ops once, after what it waits for.
bool is_order(const std::vector<op_id>& order, std::size_t n, const test::arcs& arcs) {
  std::vector<std::size_t> position(n, n);
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
  }
  return order.size() == n && std::set(order.begin(), order.end()).size() == n &&
         std::all_of(arcs.begin(), arcs.end(), [&](const auto& arc) {
           const auto& [u, v] = arc;
           return position[u] < position[v];
         });
}

#define GRAPH_TYPES csr_graph, test::int_lists, test::id_lists

TEST_CASE_TEMPLATE("topological order: first come first, sources ascending", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(6, {{5, 0}, {3, 0}, {3, 1}, {0, 2}, {1, 2}});
  CHECK(graph::topological_order(g) == std::vector<op_id>{3, 4, 5, 1, 0, 2});
  CHECK(graph::in_degrees(g) == std::vector<std::uint32_t>{2, 1, 2, 0, 0, 0});
}

TEST_CASE_TEMPLATE("topological order: every op after its predecessors, on random graphs", G, GRAPH_TYPES) {
  rng random{2};
  for (int round = 0; round < 40; ++round) {
    const std::size_t n = random.below(30) + 1u;
    const auto arcs = test::random_dag(n, random.uniform(0, 0.5), random);
    CHECK(is_order(graph::topological_order(test::make_graph<G>(n, arcs)), n, arcs));
  }
}

TEST_CASE_TEMPLATE("program order: by ids, and what was added later where it is read", G, GRAPH_TYPES) {
  const auto in_order = test::make_graph<G>(5, {{0, 3}, {1, 2}, {2, 4}, {3, 4}});
  CHECK(graph::program_order(in_order) == std::vector<op_id>{0, 1, 2, 3, 4});
  const auto with_copies = test::make_graph<G>(7, {{0, 1}, {1, 2}, {2, 3}, {5, 2}, {6, 5}, {0, 6}, {0, 4}});
  CHECK(graph::program_order(with_copies) == std::vector<op_id>{0, 1, 6, 5, 2, 3, 4});
  rng random{3};
  for (int round = 0; round < 40; ++round) {
    const std::size_t n = random.below(30) + 1u;
    const auto arcs = test::random_dag(n, random.uniform(0, 0.5), random);
    CHECK(is_order(graph::program_order(test::make_graph<G>(n, arcs)), n, arcs));
  }
  CHECK_THROWS_AS(graph::program_order(test::make_graph<G>(2, {{0, 1}, {1, 0}})), cycle_error);
}

TEST_CASE_TEMPLATE("topological order: no ops, no edges", G, GRAPH_TYPES) {
  CHECK(graph::topological_order(test::make_graph<G>(0, {})).empty());
  CHECK(graph::topological_order(test::make_graph<G>(3, {})) == std::vector<op_id>{0, 1, 2});
}

TEST_CASE_TEMPLATE("topological order: a cycle is named, without the ops before and behind it", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(7, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {2, 5}, {5, 6}});
  CHECK_THROWS_WITH_AS(
    graph::topological_order(g),
    "the graph has a cycle: 1 -> 2 -> 3 -> 1; a dataflow graph must be acyclic (unroll loops first)", cycle_error);
}

TEST_CASE_TEMPLATE("topological order: an op that waits for itself", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(3, {{0, 1}, {1, 1}, {1, 2}});
  try {
    (void)graph::topological_order(g);
    FAIL("accepted a self-loop");
  } catch (const cycle_error& e) {
    CHECK(e.ops == std::vector<op_id>{1});
  }
}

TEST_CASE_TEMPLATE("topological order: the ops of a reported cycle form one, on random graphs", G, GRAPH_TYPES) {
  rng random{8};
  int cyclic = 0;
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = random.below(12) + 2u;
    test::arcs arcs;
    for (const op_id u : ids(n)) {
      for (const op_id v : ids(n)) {
        if (random.uniform() < 1.2 / static_cast<double>(n)) {
          arcs.push_back({u, v});
        }
      }
    }
    const auto reaches = test::reachability(n, arcs);
    bool expected = false;
    for (const op_id v : ids(n)) {
      expected = expected || reaches[v][v];
    }
    try {
      (void)graph::topological_order(test::make_graph<G>(n, arcs));
      CHECK_FALSE(expected);
    } catch (const cycle_error& e) {
      ++cyclic;
      CHECK(expected);
      REQUIRE_FALSE(e.ops.empty());
      CHECK(std::set(e.ops.begin(), e.ops.end()).size() == e.ops.size());
      for (std::size_t i = 0; i < e.ops.size(); ++i) {
        const graph::arc step{e.ops[i], e.ops[(i + 1) % e.ops.size()]};
        CHECK(std::ranges::find(arcs, step) != arcs.end());
      }
    }
  }
  CHECK(cyclic > 50);
  CHECK(cyclic < 190);
}

TEST_CASE_TEMPLATE("acyclic part: what is on no cycle and behind none", G, GRAPH_TYPES) {
  CHECK(graph::acyclic_part(test::make_graph<G>(5, {{4, 1}, {1, 2}, {2, 1}, {2, 3}, {4, 0}})) ==
        std::vector<op_id>{4, 0});
}

TEST_CASE("topological order: of a workload; its cycle is named from the smallest op on") {
  CHECK(graph::topological_order(test::diamond()) == std::vector<op_id>{0, 1, 2, 3});
  CHECK_THROWS_WITH_AS(
    graph::topological_order(test::with_cycle{}),
    "the graph has a cycle: 1 -> 2 -> 1; a dataflow graph must be acyclic (unroll loops first)", cycle_error);
  CHECK_THROWS_WITH_AS(graph::topological_order(test::contradictory{}),
                       "op 1: has an input whose producer does not list it as a consumer", value_error);
}

TEST_CASE("topological order: an edge to an op that does not exist is named") {
  CHECK_THROWS_WITH_AS(graph::topological_order(test::id_lists{{1}, {2}}),
                       "edge 1 -> 2: the graph has only the ops 0 to 1", dangling_id_error);
  CHECK_THROWS_AS(graph::topological_order(test::int_lists{{-1}}), dangling_id_error);
  const auto beyond = std::uint64_t{1} << 32; // would be op 0, and so a cycle, as a number of 32 bits
  CHECK_THROWS_AS(graph::topological_order(std::vector<std::vector<std::uint64_t>>{{beyond}}), dangling_id_error);
}

TEST_CASE("topological order: more ops than ids can number are refused before anything is allocated") {
  struct vast : graph::archetype {
    std::size_t num_ops() const { return std::size_t{1} << 32; }
  };
  CHECK_THROWS_WITH_AS(graph::topological_order(vast{}),
                       "graph: has 4294967296 ops; ids have 32 bits, so at most 4294967295 are possible", value_error);
}

constexpr op_id last_at_compile_time() {
  return graph::topological_order(test::int_lists{{2}, {0, 2}, {}}).back();
}
static_assert(last_at_compile_time() == 2);

} // namespace graph_topological_order_test
