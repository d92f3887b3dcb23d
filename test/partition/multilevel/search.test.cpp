// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/multilevel/search.hpp"

#include "partition/multilevel/random_dag.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace multilevel_search_test {

using namespace weft;
using namespace weft::partition::multilevel;

TEST_CASE("search: with every option acyclic, also for parts of different size, and cycles never cut more") {
  rng random{1};
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const weighted_dag g = multilevel_test::random_dag(random, 400, i % 2 == 0);
    std::vector<double> limit;
    double limits = 0;
    for (std::uint32_t p = 0; p < 2 + random.below(5); ++p) {
      limit.push_back(1 + random.below(3));
      limits += limit.back();
    }
    for (double& l : limit) {
      l *= 1.2 * (g.total_weight() + 1) / limits;
    }
    search_options o;
    o.coarsest = 20;
    o.growth = random.uniform(1.5, 5);
    o.within_cut = random.below(2) == 0;
    cut_search search{o, random};
    const auto at_once = search(g, limit);
    const auto halved = search.by_halves(g, limit);
    REQUIRE(multilevel_test::leads_up(g, at_once));
    REQUIRE(multilevel_test::leads_up(g, halved));
    o.cycles = 5;
    const auto better = cut_search{o, random}.improved(g, halved, limit);
    REQUIRE(multilevel_test::leads_up(g, better));
    REQUIRE(cut_weight(g, better) <= cut_weight(g, halved));
  }
}

} // namespace multilevel_search_test
