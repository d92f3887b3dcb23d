// SPDX-License-Identifier: BSL-1.0
#include "weft/report/detail/graph_drawing.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace report_detail_graph_drawing_test {

using namespace weft;
using namespace weft::report;
using namespace weft::report::detail;

placed_model model_of(std::size_t n, const op_edges& edges) {
  placed_model m;
  m.run.trace.ops.resize(n);
  for (const auto& [u, v] : edges) {
    m.edges.push_back({u, v, u});
  }
  return m;
}

void check_drawing(const graph_drawing& g, std::size_t n) {
  REQUIRE(g.layer.size() == n);
  REQUIRE(g.place.size() == n);
  for (const auto& [u, v] : g.edges) {
    CHECK(g.layer[u] < g.layer[v]);
  }
  std::map<std::uint32_t, std::vector<double>> layers;
  for (std::size_t i = 0; i < n; ++i) {
    layers[g.layer[i]].push_back(g.place[i]);
  }
  for (auto& [x, list] : layers) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i) {
      CHECK(list[i] - list[i - 1] > 1 - 1e-9); // no boxes on top of each other
    }
  }
}

TEST_CASE("draw_graph: layers follow the edges; a parameter is beside its use") {
  // 0 -> 1 -> 2 -> 3, and 4 is needed by 3 only
  const auto g = draw_graph(model_of(5, {{0, 1}, {1, 2}, {2, 3}, {4, 3}}));
  check_drawing(g, 5);
  CHECK(g.layer == std::vector<std::uint32_t>{0, 1, 2, 3, 2});
  CHECK(g.layers == 4);
}

TEST_CASE("draw_graph: what gathers many ends does not pull them to the right") {
  op_edges edges;
  for (op_id v = 1; v <= 20; ++v) {
    edges.emplace_back(v - 1, v);       // a chain
    edges.emplace_back(v, v + 21);      // with a leaf per op
    edges.emplace_back(v + 21, op_id{42}); // all of which 42 waits for
  }
  const auto g = draw_graph(model_of(43, edges));
  check_drawing(g, 43);
  CHECK(g.layer[22] == 2);
  CHECK(g.layer[41] == 21);
  CHECK(g.layer[42] == 22);
}

TEST_CASE("spread: as close to what is wanted as the distance of 1 allows") {
  std::vector<double> y(4, 0);
  spread({0, 1, 2, 3}, {5, 5, 5, 9}, y);
  CHECK(y == std::vector<double>{4, 5, 6, 9});
  spread({3, 2, 1, 0}, {0, 0, 0, 0}, y);
  CHECK(y == std::vector<double>{1.5, .5, -.5, -1.5});
}

TEST_CASE("draw_graph: nothing, one, and random graphs") {
  CHECK(draw_graph(model_of(0, {})).layers == 0);
  CHECK(draw_graph(model_of(1, {})).layer == std::vector<std::uint32_t>{0});
  rng random{7};
  for (const std::size_t n : {2u, 10u, 100u, 1000u}) {
    op_edges edges;
    for (op_id v = 1; v < n; ++v) {
      edges.emplace_back(static_cast<op_id>(random() % v), v);
      edges.emplace_back(static_cast<op_id>(random() % v), v);
    }
    const auto g = draw_graph(model_of(n, edges));
    check_drawing(g, n);
    CHECK(std::is_sorted(g.edges.begin(), g.edges.end()));
    CHECK(std::adjacent_find(g.edges.begin(), g.edges.end()) == g.edges.end());
    CHECK(draw_graph(model_of(n, edges), false).layer == g.layer);
  }
}

} // namespace report_detail_graph_drawing_test
