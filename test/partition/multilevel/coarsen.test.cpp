// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/multilevel/coarsen.hpp"

#include "partition/multilevel/random_dag.hpp"

#include "weft/graph/generate.hpp"
#include "weft/graph/polyhedral.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace multilevel_coarsen_test {

using namespace weft;
using namespace weft::partition::multilevel;

/// That clusters are numbered along the edges between them (so their quotient is acyclic), are within the limits, and
/// that the quotient has just these edges, with the sums of their weights.
void check_clusters(const weighted_dag& g, const clusters& c, const cluster_limits& limits) {
  REQUIRE(c.of.size() == g.size());
  std::vector<double> weight(c.count, 0);
  std::vector<std::size_t> size(c.count, 0);
  std::map<std::pair<op_id, op_id>, double> edges;
  for (op_id v = 0; v < g.size(); ++v) {
    REQUIRE(c.of[v] < c.count);
    weight[c.of[v]] += g.weight_of(v);
    ++size[c.of[v]];
    for (std::uint32_t e = g.out.first[v]; e < g.out.first[v + 1]; ++e) {
      const op_id w = g.out.to[e];
      REQUIRE(c.of[v] <= c.of[w]);
      if (c.of[v] != c.of[w]) {
        edges[{c.of[v], c.of[w]}] += g.out.weight_of(e);
      }
    }
  }
  for (std::size_t k = 0; k < c.count; ++k) {
    REQUIRE(size[k] > 0);
    REQUIRE((size[k] == 1 || weight[k] <= limits.weight));
  }
  if (!limits.part.empty()) {
    const auto part = c.gather(limits.part);
    REQUIRE(std::ranges::equal(c.spread(part), limits.part));
  }
  const weighted_dag q = quotient(g, c);
  REQUIRE(q.weight == weight);
  REQUIRE(q.num_edges() == edges.size());
  REQUIRE(q.in.size() == edges.size());
  for (op_id k = 0; k < q.size(); ++k) {
    for (std::uint32_t e = q.out.first[k]; e < q.out.first[k + 1]; ++e) {
      REQUIRE(edges.at({k, q.out.to[e]}) == q.out.weight_of(e));
    }
    for (std::uint32_t e = q.in.first[k]; e < q.in.first[k + 1]; ++e) {
      REQUIRE(edges.at({q.in.to[e], k}) == q.in.weight_of(e));
    }
  }
}

#ifdef WEFT_SANITIZED
constexpr int rounds = 300;
#else
constexpr int rounds = 3000;
#endif

TEST_CASE("coarsen: of every kind of cluster, on thousands of random graphs, the quotient is acyclic") {
  rng random{1};
  for (int i = 0; i < rounds; ++i) {
    CAPTURE(i);
    const weighted_dag g = multilevel_test::random_dag(random, i % 20 == 0 ? 300 : 40, i % 2 == 0);
    const auto part = multilevel_test::random_parts(random, g, 3);
    cluster_limits limits{random.uniform(0, 12), {}};
    if (i % 3 == 0) {
      limits.part = part;
    }
    check_clusters(g, cones<true>(g, limits), limits);
    check_clusters(g, cones<false>(g, limits), limits);
    check_clusters(g, level_clustering{g, earliest_levels(g), limits}(), limits);
    check_clusters(g, level_clustering{g, latest_levels(g), limits}(), limits);
    std::vector<std::uint32_t> between(g.size()); // any numbers that rise along edges will do
    for (op_id v = 0; v < g.size(); ++v) {
      for (const op_id u : g.in.row(v)) {
        between[v] = std::max(between[v], between[u] + 1 + random.below(2));
      }
    }
    check_clusters(g, level_clustering{g, between, limits}(), limits);
  }
}

TEST_CASE("coarsen: cones are the trees that feed one op, or that one op feeds") {
  // 0 -> 2, 1 -> 2, 2 -> 3, 2 -> 4, 3 -> 5
  const weighted_dag g = number(csr_graph{6, std::vector<graph::arc>{{0, 2}, {1, 2}, {2, 3}, {2, 4}, {3, 5}}}).dag;
  CHECK(cones<true>(g, {10, {}}).of == std::vector<op_id>{0, 0, 0, 2, 1, 2});
  CHECK(cones<false>(g, {10, {}}).of == std::vector<op_id>{0, 1, 2, 2, 2, 2});
  CHECK(cones<true>(g, {2, {}}).of == std::vector<op_id>{0, 1, 1, 3, 2, 3});
}

TEST_CASE("coarsen: a hierarchy gets down to the size asked for, keeps all weight, and follows a partition") {
  const weighted_dag g = number(generate::two_matrix_products()).dag;
  std::vector<std::uint32_t> part(g.size());
  for (op_id v = 0; v < g.size(); ++v) {
    part[v] = v * 5 / static_cast<op_id>(g.size());
  }
  hierarchy h;
  coarsen(h, g, {.vertices = 2000, .heaviest = 500}, part);
  CHECK(h.coarsest(g).size() <= 2000);
  CHECK(h.graphs.size() == h.steps.size());
  CHECK(h.coarsest(g).total_weight() == 36'500);
  auto back = h.project(part);
  for (std::size_t i = h.steps.size(); i-- > 0;) {
    back = h.steps[i].spread(back);
  }
  CHECK(back == part);
}

TEST_CASE("coarsen: levels are the numbers of edges of longest paths") {
  const weighted_dag g = number(csr_graph{5, std::vector<graph::arc>{{0, 1}, {1, 4}, {2, 3}, {2, 4}}}).dag;
  CHECK(earliest_levels(g) == std::vector<std::uint32_t>{0, 1, 0, 1, 2});
  CHECK(latest_levels(g) == std::vector<std::uint32_t>{0, 1, 1, 2, 2});
}

TEST_CASE("coarsen: an induced graph has the edges between its vertices") {
  const weighted_dag g = number(csr_graph{5, std::vector<graph::arc>{{0, 1}, {0, 3}, {1, 2}, {2, 3}, {3, 4}}}).dag;
  const std::vector<std::uint32_t> side{1, 0, 1, 1, 0};
  const std::vector<op_id> name{10, 11, 12, 13, 14};
  std::vector<op_id> inner;
  const weighted_dag s = induced(g, side, 1, name, inner);
  CHECK(inner == std::vector<op_id>{10, 12, 13});
  CHECK(s.out.to == std::vector<op_id>{2, 2});
  CHECK(s.in.to == std::vector<op_id>{0, 1});
}

} // namespace multilevel_coarsen_test
