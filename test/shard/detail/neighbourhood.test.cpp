// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/detail/neighbourhood.hpp"

#include "support/rounds.hpp"
#include "support/variants.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/enumeration.hpp"
#include "weft/shard/detail/reduce.hpp"
#include "weft/shard/variant_model.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace shard_neighbourhood_test {

using namespace weft;
using namespace shard::detail;

TEST_CASE("neighbourhood_search: what it changes is never worse, and reaches the optimum of small problems") {
  rng random{24};
  int optimal = 0, feasible = 0;
  for (int repeat = 0; repeat < test::rounds(400); ++repeat) {
    auto c = reduce(shard::lower(weft_test::draw_variants(random, 7, 4)));
    if (c.infeasible || c.num_nodes() == 0) {
      continue;
    }
    enumeration all{c};
    REQUIRE(all.run(1'000'000'000, [] { return false; }));
    const weights w{c};
    std::vector<std::uint32_t> x;
    for (const auto v : ids(c.num_nodes())) {
      x.push_back(random.below(c.num_variants(v)));
    }
    choice now{c, w, x};
    neighbourhood_search search{c, w};
    const std::vector<double> prices(c.room.size(), 0.0);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const auto to = search(now, prices, {}, seed, [] { return false; });
      const auto before = now.value();
      now.change(c, w, to);
      REQUIRE_FALSE(before < now.value());
      // Changes keep what is counted anew from nothing.
      REQUIRE(choice{c, w, now.variants()}.value() == now.value());
    }
    if (all.cost() < shard::never) {
      ++feasible;
      optimal += now.value().feasible() && now.value().cost() <= all.cost();
      REQUIRE((!now.value().feasible() || all.cost() - now.value().cost() <= all.cost() >> 50));
    }
  }
  CHECK(optimal >= feasible * 9 / 10);
}

} // namespace shard_neighbourhood_test
