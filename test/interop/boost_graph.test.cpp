// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/boost_graph.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace interop_boost_graph_test {

struct task {
  std::string name;
};
struct data {
  int bytes = 0;
};
using directed = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
using bidirectional = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, task, data>;
using directed_set = boost::adjacency_list<boost::setS, boost::vecS, boost::directedS, task>;
using bidirectional_list = boost::adjacency_list<boost::listS, boost::vecS, boost::bidirectionalS>;

static_assert(weft::dataflow_graph<directed> && !weft::bidirectional_dataflow_graph<directed>);
static_assert(weft::dataflow_graph<directed_set> && !weft::bidirectional_dataflow_graph<directed_set>);
static_assert(weft::bidirectional_dataflow_graph<bidirectional>);
static_assert(weft::bidirectional_dataflow_graph<bidirectional_list>);
// Vertices without dense ids, and edges without a direction, are not dataflow graphs.
static_assert(!weft::dataflow_graph<boost::adjacency_list<boost::vecS, boost::listS, boost::directedS>>);
static_assert(!weft::dataflow_graph<boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>>);
static_assert(weft::dataflow_workload<weft::annotated_graph<directed>>);
static_assert(weft::dataflow_workload<weft::annotated_graph<bidirectional>>);

/// 3 -> {0, 2}, 0 -> 1, 2 -> 1
template <class G>
G diamond() {
  G g(4);
  boost::add_edge(3, 0, g);
  boost::add_edge(3, 2, g);
  boost::add_edge(0, 1, g);
  boost::add_edge(2, 1, g);
  return g;
}

std::vector<weft::op_id> sorted(auto&& ids) {
  std::vector<weft::op_id> result;
  for (const weft::op_id v : ids) {
    result.push_back(v);
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST_CASE_TEMPLATE("boost_graph: graph algorithms run on it as it is", G, directed, bidirectional, directed_set,
                   bidirectional_list) {
  auto g = diamond<G>();
  CHECK(weft::num_ops(g) == 4);
  const auto order = weft::graph::topological_order(g);
  REQUIRE(order.size() == 4);
  CHECK(order.front() == 3);
  CHECK(order.back() == 1);
  boost::add_edge(1, 3, g);
  CHECK_THROWS_AS((void)weft::graph::topological_order(g), weft::cycle_error);
}

TEST_CASE_TEMPLATE("boost_graph: edges in both directions", G, bidirectional, bidirectional_list) {
  const auto g = diamond<G>();
  std::vector<weft::op_id> predecessors;
  for (const auto& e : weft::in_edges(g, 1)) {
    CHECK(weft::target(g, e) == 1);
    predecessors.push_back(weft::source(g, e));
  }
  CHECK(sorted(predecessors) == std::vector<weft::op_id>{0, 2});
}

TEST_CASE_TEMPLATE("boost_graph: a problem on it", G, directed, bidirectional, directed_set, bidirectional_list) {
  const auto g = diamond<G>();
  const std::vector<double> work{1, 2, 4, 8};
  const std::vector<weft::byte_count> bytes{10, 20, 30, 40};
  const std::vector<weft::group_id> groups{0, 0, weft::none, weft::none};
  const weft::annotated_graph w{g, {.work = work, .bytes = bytes, .groups = groups}};
  CHECK(&w.graph() == &g);
  CHECK(sorted(w.consumers(3)) == std::vector<weft::op_id>{0, 2});
  CHECK(sorted(w.inputs(1)) == std::vector<weft::tensor_id>{0, 2});
  CHECK(w.inputs(3).size() == 0);
  const weft::platform<weft::uniform_links> p{{{.speed = 2}, {.speed = 4}}, {{0, 10}}};
  const weft::problem problem{w, p};
  CHECK(problem.num_edges() == 4);
  CHECK(problem.num_components() == 3);
  CHECK(problem.topological_order().front() == 3);
  CHECK(problem.compute_time(3, 1) == 2);
  CHECK(problem.transfer_time(3, 0, 1) == 4);
  CHECK(problem.demand(problem.component(0)) == 10 + 20 + 40 + 10 + 30);
}

TEST_CASE("boost_graph: parallel edges are refused") {
  auto g = diamond<directed>();
  boost::add_edge(3, 0, g);
  const std::vector<double> work(4, 1);
  CHECK_THROWS_AS((weft::annotated_graph{g, {.work = work}}), weft::duplicate_edge_error);
}

} // namespace interop_boost_graph_test
