// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/multilevel/refine.hpp"

#include "partition/multilevel/random_dag.hpp"

#include "weft/partition/multilevel/volume.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

namespace multilevel_refine_test {

using namespace weft;
using namespace weft::partition::multilevel;

double volume(const weighted_dag& g, const std::vector<std::uint32_t>& part) {
  const auto output = output_weights(g);
  std::set<std::pair<op_id, std::uint32_t>> sent;
  double sum = 0;
  for (op_id v = 0; v < g.size(); ++v) {
    for (const op_id w : g.out.row(v)) {
      if (part[w] != part[v] && sent.insert({v, part[w]}).second) {
        sum += output[v];
      }
    }
  }
  return sum;
}

/// Moves at random along what the gains offer, and compares what they say with the cost worked out anew.
template <class Gains, class Cost>
void check_gains(Cost cost) {
  rng random{1};
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    const weighted_dag g = multilevel_test::random_dag(random, 30, i % 2 == 0);
    auto part = multilevel_test::random_parts(random, g, 4);
    Gains gains{g, part};
    for (int step = 0; step < 20 && gains.vertices().size() > 0; ++step) {
      const op_id v = gains.vertices().vertex(random.below(gains.vertices().size()));
      std::vector<std::pair<std::uint32_t, double>> moves;
      gains.for_each_move(v, [&](std::uint32_t to, double gain) { moves.push_back({to, gain}); });
      if (moves.empty()) {
        continue;
      }
      const auto [to, gain] = moves[random.below(moves.size())];
      const double before = cost(g, part);
      gains.move(v, to, [](op_id) {});
      REQUIRE(part[v] == to);
      REQUIRE(multilevel_test::leads_up(g, part));
      REQUIRE(cost(g, part) == doctest::Approx(before - gain));
    }
  }
}

TEST_CASE("refine: what moves are said to gain is what they gain") {
  check_gains<edge_gains>([](const auto& g, const auto& part) { return cut_weight(g, part); });
  check_gains<volume_gains>([](const auto& g, const auto& part) { return volume(g, part); });
}

TEST_CASE_TEMPLATE("refine: gains what it says, keeps acyclic, and to the limits", Gains, edge_gains, volume_gains) {
  constexpr bool edges = std::is_same_v<Gains, edge_gains>;
  rng random{2};
  double all = 0;
  for (int i = 0; i < 600; ++i) {
    CAPTURE(i);
    const weighted_dag g = multilevel_test::random_dag(random, 80, i % 2 == 0);
    auto part = multilevel_test::random_parts(random, g, 4);
    std::vector<double> weight(4, 0);
    for (op_id v = 0; v < g.size(); ++v) {
      weight[part[v]] += g.weight_of(v);
    }
    std::vector<double> limit = weight;
    for (double& l : limit) {
      l += random.below(6);
    }
    const double before = edges ? cut_weight(g, part) : volume(g, part);
    const double gained = refiner<Gains>{g, part, limit}({.passes = 5, .patience = 30});
    REQUIRE(gained >= 0);
    REQUIRE((edges ? cut_weight(g, part) : volume(g, part)) == doctest::Approx(before - gained));
    REQUIRE(multilevel_test::leads_up(g, part));
    for (op_id v = 0; v < g.size(); ++v) {
      limit[part[v]] -= g.weight_of(v);
    }
    for (const double l : limit) {
      REQUIRE(l >= 0);
    }
    all += gained;
  }
  CHECK(all > 1000);
}

TEST_CASE("refine: climbs over a hill") {
  // A chain of three that all lead to the other part: its last op gains nothing when it moves alone, all three gain 3.
  const weighted_dag g =
    number(
      csr_graph{8, std::vector<graph::arc>{{0, 1}, {0, 7}, {1, 2}, {1, 7}, {2, 7}, {3, 7}, {4, 7}, {5, 7}, {6, 7}}})
      .dag;
  std::vector<std::uint32_t> part{0, 0, 0, 1, 1, 1, 1, 1};
  const std::vector<double> limit{8, 8};
  CHECK(refiner<edge_gains>{g, part, limit}({}) == 3);
  CHECK(part == std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 1, 1});
}

} // namespace multilevel_refine_test
