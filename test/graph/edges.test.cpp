// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/edges.hpp"

#include "weft/workload/annotated_graph.hpp"

#include "support/graphs.hpp"
#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace graph_edges_test {

using namespace weft;

using numbers = std::vector<std::uint32_t>;

template <class G>
numbers successors(const G& g, op_id v) {
  numbers list;
  graph::for_each_successor(g, v, [&](op_id c) { list.push_back(c); });
  return list;
}
template <class G>
numbers predecessors(const G& g, op_id v) {
  numbers list;
  graph::for_each_predecessor(g, v, [&](op_id u) { list.push_back(u); });
  return list;
}

TEST_CASE("edges: of a workload, one for each consumer of each output, with its tensor") {
  const workload w = test::diamond(); // a -> {b, c} -> d, and b hands d a second tensor
  CHECK(successors(w, 0) == numbers{1, 2});
  CHECK(successors(w, 1) == numbers{3, 3});
  CHECK(successors(w, 3).empty());
  CHECK(predecessors(w, 3) == numbers{1, 1, 2});
  std::vector<flow_edge> forth;
  std::vector<flow_edge> back;
  for (const op_id v : ids(w.num_ops())) {
    graph::for_each_successor(w, v, [&](op_id c, const flow_edge& e) {
      CHECK(c == e.target);
      CHECK(v == e.source);
      forth.push_back(e);
    });
    graph::for_each_predecessor(w, v, [&](op_id u, const flow_edge& e) {
      CHECK(u == e.source);
      CHECK(v == e.target);
      back.push_back(e);
    });
  }
  CHECK(forth.size() == 5);
  CHECK(std::ranges::is_permutation(forth, back));
  for (const auto& e : forth) {
    CHECK(w.producer(e.tensor) == e.source);
    CHECK(std::ranges::count(w.consumers(e.tensor), e.target) == 1);
  }
  CHECK(graph::out_degree(w, 0) == 2);
  CHECK(graph::out_degree(w, 1) == 2);
  CHECK(graph::in_degrees(w) == numbers{0, 1, 1, 3});
}

TEST_CASE_TEMPLATE("edges: of a graph, its own", G, csr_graph, test::int_lists) {
  const auto g = test::make_graph<G>(4, {{0, 2}, {0, 3}, {1, 3}});
  CHECK(successors(g, 0) == numbers{2, 3});
  CHECK(successors(g, 3).empty());
  graph::for_each_successor(g, 1, [](op_id c, const graph::arc& e) {
    CHECK(c == 3);
    CHECK(e == graph::arc{1, 3});
  });
  CHECK(graph::out_degree(g, 0) == 2);
  CHECK(graph::in_degrees(g) == numbers{0, 0, 1, 2});
}

TEST_CASE("edges: against their direction, where the graph knows them, or as a workload's") {
  CHECK(predecessors(test::make_graph<csr_graph>(4, {{0, 2}, {0, 3}, {1, 3}}), 3) == numbers{0, 1});
  const auto lists = test::make_graph<test::int_lists>(4, {{0, 2}, {0, 3}, {1, 3}});
  static_assert(graph::walkable<test::int_lists> && !graph::walkable_backwards<test::int_lists>);
  const std::vector<double> work(4, 1);
  CHECK(predecessors(annotated_graph{lists, {.work = work}}, 3) == numbers{0, 1});
}

TEST_CASE("edges: the largest value over them, at least that of none") {
  const workload w = test::diamond();
  const auto id = [](op_id v) { return static_cast<double>(v); };
  CHECK(graph::max_over_successors(w, 0, 0.5, id) == 2);
  CHECK(graph::max_over_successors(w, 3, 0.5, id) == 0.5);
  CHECK(graph::max_over_predecessors(w, 3, 0.5, id) == 2);
  CHECK(graph::max_over_predecessors(w, 0, 0.5, id) == 0.5);
  byte_count most = 0;
  for (const tensor_id t : w.inputs(3)) {
    most = std::max(most, w.bytes(t));
  }
  CHECK(graph::max_over_predecessors(w, 3, byte_count{0},
                                     [&](op_id, const flow_edge& e) { return w.bytes(e.tensor); }) == most);
}

} // namespace graph_edges_test
