// SPDX-License-Identifier: BSL-1.0
// A Boost.Graph adjacency_list as it is, without a copy.
#include <weft/all.hpp>
#include <weft/interop/boost_graph.hpp>

#include <cstdio>

// [boost_graph]
using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
static_assert(weft::bidirectional_dataflow_graph<graph>);
// [boost_graph]

int main() {
  graph g{6};
  for (const auto& [u, v] : {std::pair{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 5}, {4, 5}}) {
    boost::add_edge(static_cast<graph::vertex_descriptor>(u), static_cast<graph::vertex_descriptor>(v), g);
  }
  const std::vector<double> work{1, 4, 5, 6, 3, 1};
  const weft::annotated_graph workload{g, {.work = work}};

  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{}};
  const auto result =
    weft::pipeline(weft::refine::branch_and_bound{}, weft::schedule::static_order{})(weft::problem{workload, platform});
  std::printf("makespan %.1f, %s\n", result.makespan, to_string(result.status).data());
}
