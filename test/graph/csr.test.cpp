// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/csr.hpp"

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace graph_csr_test {

using namespace weft;

static_assert(bidirectional_dataflow_graph<csr_graph>);

TEST_CASE("csr: successors and predecessors come out ascending, in both directions") {
  const test::arcs arcs{{2, 0}, {0, 3}, {2, 3}, {0, 1}, {1, 3}};
  const csr_graph g{4, arcs};
  CHECK(g.num_ops() == 4);
  CHECK(g.num_edges() == 5);
  CHECK(std::ranges::equal(g.successors(0), std::vector<op_id>{1, 3}));
  CHECK(std::ranges::equal(g.successors(2), std::vector<op_id>{0, 3}));
  CHECK(g.successors(3).empty());
  CHECK(std::ranges::equal(g.predecessors(3), std::vector<op_id>{0, 1, 2}));
  CHECK(g.predecessors(2).empty());
}

TEST_CASE("csr: edges know both ends") {
  const test::arcs arcs{{0, 2}, {1, 2}};
  const csr_graph g{3, arcs};
  std::vector<graph::arc> in;
  for (const auto& e : weft::in_edges(g, 2)) {
    CHECK(weft::target(g, e) == 2);
    in.push_back({weft::source(g, e), weft::target(g, e)});
  }
  CHECK(in == test::arcs{{0, 2}, {1, 2}});
  for (const auto& e : weft::out_edges(g, 1)) {
    CHECK(weft::source(g, e) == 1);
    CHECK(weft::target(g, e) == 2);
  }
}

TEST_CASE("csr: random arcs are found again from both sides") {
  rng random{4};
  for (int round = 0; round < 30; ++round) {
    const std::size_t n = random.below(20) + 1u;
    auto arcs = test::random_dag(n, 0.3, random);
    random.shuffle(arcs);
    const csr_graph g{n, arcs};
    test::arcs out;
    test::arcs in;
    for (const op_id v : ids(n)) {
      for (const op_id w : g.successors(v)) {
        out.push_back({v, w});
      }
      for (const op_id u : g.predecessors(v)) {
        in.push_back({u, v});
      }
    }
    const auto key = [](const graph::arc& a) { return std::pair{a.source, a.target}; };
    std::ranges::sort(arcs, {}, key);
    std::ranges::sort(in, {}, key);
    CHECK(out == arcs);
    CHECK(in == arcs);
  }
}

TEST_CASE("csr: an empty graph") {
  CHECK(csr_graph{}.num_ops() == 0);
  CHECK(csr_graph{0, {}}.num_edges() == 0);
  CHECK(csr_graph{3, {}}.successors(2).empty());
}

TEST_CASE("csr: an arc to or from an op that does not exist is named") {
  const test::arcs to{{0, 1}, {1, 3}};
  CHECK_THROWS_WITH_AS((csr_graph{3, to}), "edge 1 -> 3: the graph has only the ops 0 to 2", dangling_id_error);
  const test::arcs from{{7, 1}};
  CHECK_THROWS_WITH_AS((csr_graph{3, from}), "edge 7 -> 1: the graph has only the ops 0 to 2", dangling_id_error);
  const test::arcs negative{{0, static_cast<op_id>(-1)}};
  CHECK_THROWS_WITH_AS((csr_graph{1, negative}), "edge 0 -> -1: the graph has only op 0", dangling_id_error);
}

TEST_CASE("csr: an arc given twice is named") {
  const test::arcs arcs{{0, 1}, {2, 1}, {0, 2}, {0, 1}};
  try {
    const csr_graph g{3, arcs};
    FAIL("accepted a duplicate edge");
  } catch (const duplicate_edge_error& e) {
    CHECK(e.source == 0);
    CHECK(e.target == 1);
    CHECK(std::string{e.what()} == "duplicate edge 0 -> 1: list each consumer of a tensor once");
  }
}

constexpr std::size_t edges_at_compile_time() {
  const graph::arc arcs[] = {{1, 0}, {1, 2}, {0, 2}};
  const csr_graph g{3, arcs};
  return g.predecessors(2).size() * 10 + g.successors(1)[0];
}
static_assert(edges_at_compile_time() == 20);

TEST_CASE("csr: more ops than ids can number are refused before anything is allocated") {
  CHECK_THROWS_WITH_AS((csr_graph{std::size_t{1} << 32, {}}),
                       "graph: has 4294967296 ops; ids have 32 bits, so at most 4294967295 are possible", value_error);
  CHECK_THROWS_AS((csr_graph{std::numeric_limits<std::size_t>::max(), {}}), value_error);
}

} // namespace graph_csr_test
