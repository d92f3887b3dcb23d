// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/multilevel/orders.hpp"

#include "partition/multilevel/random_dag.hpp"

#include "weft/graph/generate.hpp"
#include "weft/partition/multilevel/refine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace multilevel_orders_test {

using namespace weft;
using namespace weft::partition::multilevel;

void check_order(const weighted_dag& g, const std::vector<op_id>& order) {
  REQUIRE(order.size() == g.size());
  std::vector<std::size_t> place(g.size(), g.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  for (op_id v = 0; v < g.size(); ++v) {
    REQUIRE(place[v] < g.size());
    for (const op_id w : g.out.row(v)) {
      REQUIRE(place[v] < place[w]);
    }
  }
}

TEST_CASE("orders: all are topological") {
  rng random{1};
  for (int i = 0; i < 300; ++i) {
    const weighted_dag g = multilevel_test::random_dag(random, 100, i % 2 == 0);
    check_order(g, order_by(earliest_levels(g)));
    check_order(g, order_by(latest_levels(g)));
    check_order(g, depth_first_order<true>(g));
    check_order(g, depth_first_order<false>(g));
    check_order(g, growing_order<true>(g, random));
    check_order(g, growing_order<false>(g, random));
  }
}

TEST_CASE("orders: depth first, an op comes right after what it needs, or what it needs right before it") {
  const weighted_dag g = number(csr_graph{6, std::vector<graph::arc>{{0, 2}, {1, 3}, {2, 4}, {3, 5}}}).dag;
  CHECK(depth_first_order<true>(g) == std::vector<op_id>{0, 2, 4, 1, 3, 5});
  CHECK(depth_first_order<false>(g) == std::vector<op_id>{0, 2, 4, 1, 3, 5});
}

TEST_CASE("orders: pieces end where little passes") {
  // Two bundles of edges with a single edge between: the middle of the order is in the second.
  std::vector<graph::arc> arcs{{3, 4}};
  for (const op_id first : {0u, 4u}) {
    for (op_id u = first; u < first + 4; ++u) {
      for (op_id v = u + 1; v < first + 4; ++v) {
        arcs.push_back({u, v});
      }
    }
  }
  arcs.push_back({7, 8});
  arcs.push_back({8, 9});
  const weighted_dag g = number(csr_graph{10, arcs}).dag;
  const auto order = order_by(earliest_levels(g));
  const auto narrow = cut_at_narrow_places(g, order, std::vector<double>{6.5, 6.5});
  CHECK(narrow == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
  const auto exact = cut_at_narrow_places(g, order, std::vector<double>{5, 5});
  CHECK(exact == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("orders: cutting by weight keeps to what is always possible") {
  rng random{2};
  for (int i = 0; i < 500; ++i) {
    const weighted_dag g = multilevel_test::random_dag(random, 60, true);
    const std::uint32_t parts = 1 + random.below(8);
    double heaviest = 0;
    for (op_id v = 0; v < g.size(); ++v) {
      heaviest = std::max(heaviest, g.weight_of(v));
    }
    const double most = (g.total_weight() / parts + (1 - 1.0 / parts) * heaviest) * (1 + 1e-12);
    const auto part = cut_by_weight(g, order_by(earliest_levels(g)), parts, most);
    REQUIRE(multilevel_test::leads_up(g, part));
    std::vector<double> weight(parts, 0);
    for (op_id v = 0; v < g.size(); ++v) {
      weight.at(part[v]) += g.weight_of(v);
    }
    REQUIRE(*std::max_element(weight.begin(), weight.end()) <= most);
  }
}

} // namespace multilevel_orders_test
