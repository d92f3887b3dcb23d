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

placed_model model_of(std::size_t n, std::vector<std::pair<op_id, op_id>> edges, std::size_t devices = 2) {
  placed_model m;
  m.run.trace.ops.resize(n);
  for (std::size_t v = 0; v < n; ++v) {
    m.run.trace.ops[v].device = static_cast<device_id>(v % devices);
  }
  m.devices.resize(devices);
  m.edges = std::move(edges);
  std::sort(m.edges.begin(), m.edges.end());
  return m;
}

void check_drawing(const graph_drawing& g, std::size_t n) {
  CHECK(g.node_of.size() == n);
  for (const auto& [u, v] : g.edges) {
    CHECK(g.x[u] <= g.x[v]);
    CHECK((g.grouped || g.x[u] < g.x[v]));
  }
  std::map<double, std::vector<double>> layers;
  for (std::size_t i = 0; i < g.x.size(); ++i) {
    layers[g.x[i]].push_back(g.y[i]);
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
  CHECK(g.x == std::vector<double>{0, 1, 2, 3, 2});
  CHECK(g.layers == 4);
  CHECK(g.device == std::vector<device_id>{0, 1, 0, 1, 0});
}

TEST_CASE("draw_graph: what gathers many ends does not pull them to the right") {
  std::vector<std::pair<op_id, op_id>> edges;
  for (op_id v = 1; v <= 20; ++v) {
    edges.emplace_back(v - 1, v);       // a chain
    edges.emplace_back(v, v + 21);      // with a leaf per op
    edges.emplace_back(v + 21, op_id{42}); // all of which 42 waits for
  }
  const auto g = draw_graph(model_of(43, edges));
  check_drawing(g, 43);
  CHECK(g.x[22] == 2);
  CHECK(g.x[41] == 21);
  CHECK(g.x[42] == 22);
}

TEST_CASE("spread: as close to what is wanted as the distance of 1 allows") {
  std::vector<double> y(4, 0);
  spread({0, 1, 2, 3}, {5, 5, 5, 9}, y);
  CHECK(y == std::vector<double>{4, 5, 6, 9});
  spread({3, 2, 1, 0}, {0, 0, 0, 0}, y);
  CHECK(y == std::vector<double>{1.5, .5, -.5, -1.5});
}

TEST_CASE("draw_graph: nothing, one, and random graphs, each op or grouped") {
  CHECK(draw_graph(model_of(0, {})).x.empty());
  CHECK(draw_graph(model_of(1, {})).x == std::vector<double>{0});
  rng random{7};
  for (const std::size_t n : {2u, 10u, 100u, 1000u}) {
    std::vector<std::pair<op_id, op_id>> edges;
    for (op_id v = 1; v < n; ++v) {
      edges.emplace_back(static_cast<op_id>(random() % v), v);
      edges.emplace_back(static_cast<op_id>(random() % v), v);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto m = model_of(n, edges, 3);
    check_drawing(draw_graph(m), n);
    const auto few = draw_graph(m, n / 2);
    check_drawing(few, n);
    CHECK(few.grouped);
    CHECK(few.x.size() <= std::max<std::size_t>(n / 2, 4));
    for (std::size_t v = 0; v < n; ++v) {
      CHECK(few.device[few.node_of[v]] == v % 3);
    }
  }
}

} // namespace report_detail_graph_drawing_test
