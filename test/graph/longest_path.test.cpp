// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/longest_path.hpp"

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace graph_longest_path_test {

using namespace weft;

#define GRAPH_TYPES csr_graph, test::int_lists, test::id_lists

/// A random DAG with op weights and with edge weights by (source, target).
struct weighted {
  std::size_t n = 0;
  test::arcs arcs;
  std::vector<double> op;
  std::vector<double> edge; // [source * n + target]

  explicit weighted(rng& random) {
    n = random.below(9) + 1u;
    arcs = test::random_dag(n, random.uniform(0.1, 0.8), random);
    for (std::size_t v = 0; v < n; ++v) {
      op.push_back(static_cast<double>(random.below(10)));
    }
    for (std::size_t e = 0; e < n * n; ++e) {
      edge.push_back(static_cast<double>(random.below(10)));
    }
  }
  double between(op_id u, op_id v) const { return edge[u * n + v]; }
};

/// Calls `visit(path, weight)` for every path that begins at `from`, by plain enumeration.
void each_path(const weighted& w, op_id from, const std::function<void(const std::vector<op_id>&, double)>& visit) {
  std::vector<op_id> path{from};
  const std::function<void(double)> extend = [&](double weight) {
    visit(path, weight);
    for (const auto& [u, v] : w.arcs) {
      if (u == path.back()) {
        path.push_back(v);
        extend(weight + w.between(u, v) + w.op[v]);
        path.pop_back();
      }
    }
  };
  extend(w.op[from]);
}

TEST_CASE_TEMPLATE("longest paths: agree with the enumeration of all paths", G, GRAPH_TYPES) {
  rng random{21};
  for (int round = 0; round < 100; ++round) {
    const weighted w{random};
    const auto g = test::make_graph<G>(w.n, w.arcs);
    const auto order = graph::topological_order(g);
    const auto op_weight = [&](op_id v) { return w.op[v]; };
    const auto edge_weight = [&](const auto& e) { return w.between(weft::source(g, e), weft::target(g, e)); };

    std::vector<double> rank(w.n, 0);
    std::vector<double> level(w.n, 0);
    std::vector<std::uint32_t> depth(w.n, 0);
    double longest = 0;
    for (const op_id v : ids(w.n)) {
      each_path(w, v, [&](const std::vector<op_id>& path, double weight) {
        rank[v] = std::max(rank[v], weight);
        longest = std::max(longest, weight);
        auto& end = level[path.back()];
        end = std::max(end, weight - w.op[path.back()]);
        depth[path.back()] = std::max(depth[path.back()], static_cast<std::uint32_t>(path.size() - 1));
      });
    }
    CHECK(graph::longest_to_sink(g, order, op_weight, edge_weight) == rank);
    CHECK(graph::longest_from_source(g, order, op_weight, edge_weight) == level);
    CHECK(graph::depths(g, order) == depth);

    const auto path = graph::critical_path(g, order, op_weight, edge_weight);
    REQUIRE_FALSE(path.empty());
    double weight = w.op[path.front()];
    for (std::size_t i = 1; i < path.size(); ++i) {
      CHECK(std::ranges::find(w.arcs, graph::arc{path[i - 1], path[i]}) != w.arcs.end());
      weight += w.between(path[i - 1], path[i]) + w.op[path[i]];
    }
    CHECK(weight == longest);
    CHECK(std::ranges::none_of(w.arcs, [&](const graph::arc& a) { return a.target == path.front(); }));
    CHECK(std::ranges::none_of(w.arcs, [&](const graph::arc& a) { return a.source == path.back(); }));
  }
}

TEST_CASE_TEMPLATE("longest paths: edges are free unless weighed", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(4, {{0, 1}, {1, 3}, {0, 2}, {2, 3}});
  const auto order = graph::topological_order(g);
  const auto weight = [](op_id v) { return v + 1.0; };
  CHECK(graph::longest_to_sink(g, order, weight) == std::vector<double>{8, 6, 7, 4});
  CHECK(graph::longest_from_source(g, order, weight) == std::vector<double>{0, 1, 1, 4});
  CHECK(graph::critical_path(g, order, weight) == std::vector<op_id>{0, 2, 3});
  CHECK(graph::depths(g, order) == std::vector<std::uint32_t>{0, 1, 1, 2});
}

TEST_CASE_TEMPLATE("critical path: ties go to the smaller op, at the start and on the way", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(6, {{1, 4}, {1, 3}, {3, 5}, {4, 5}, {0, 3}, {2, 4}});
  const auto order = graph::topological_order(g);
  CHECK(graph::critical_path(g, order, [](op_id) { return 1.0; }) == std::vector<op_id>{0, 3, 5});
  CHECK(graph::critical_path(g, order, [](op_id v) { return v == 1 ? 2.0 : 1.0; }) == std::vector<op_id>{1, 3, 5});
}

TEST_CASE_TEMPLATE("longest paths: a graph without ops", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(0, {});
  CHECK(graph::critical_path(g, {}, [](op_id) { return 1.0; }).empty());
  CHECK(graph::longest_to_sink(g, {}, [](op_id) { return 1.0; }).empty());
}

constexpr double longest_at_compile_time() {
  const test::int_lists g{{1, 2}, {3}, {3}, {}};
  const auto order = graph::topological_order(g);
  const auto weight = [](op_id v) { return v * 1.0; };
  const auto path = graph::critical_path(g, order, weight);
  return graph::longest_to_sink(g, order, weight)[0] * 10 + path[1] + graph::longest_from_source(g, order, weight)[3] +
         graph::depths(g, order)[3];
}
static_assert(longest_at_compile_time() == 56);

} // namespace graph_longest_path_test
