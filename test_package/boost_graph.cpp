// SPDX-License-Identifier: BSL-1.0
#include <weft/graph/topological_order.hpp>
#include <weft/interop/boost_graph.hpp>

int main() {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS> g(2);
  add_edge(1, 0, g);
  return weft::graph::topological_order(g).back() == 0 ? 0 : 1;
}
