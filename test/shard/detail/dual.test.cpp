// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/detail/dual.hpp"

#include "support/rounds.hpp"
#include "support/variants.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/enumeration.hpp"
#include "weft/shard/detail/reduce.hpp"
#include "weft/shard/variant_model.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace shard_dual_test {

using namespace weft;
using namespace shard::detail;

TEST_CASE("dual: no bound is above the least cost") {
  rng random{22};
  for (int repeat = 0; repeat < test::rounds(1500); ++repeat) {
    auto c = reduce(shard::lower(weft_test::draw_variants(random, 7, 4)));
    if (c.infeasible || c.num_nodes() == 0) {
      continue;
    }
    enumeration all{c};
    REQUIRE(all.run(1'000'000'000, [] { return false; }));
    const auto least = all.cost();
    if (least >= shard::never) {
      continue;
    }
    std::vector<std::uint32_t> x;
    const weights w{c};
    dual d{c, w};
    for (int sweep = 0; sweep < 60; ++sweep) {
      if (sweep == 20) {
        d.rescale(least + random.between(0, 10));
      }
      const auto bound = d.improve(least + random.between(-5, 50), x);
      REQUIRE(bound <= least);
      REQUIRE(d.bound() <= least);
    }
  }
}

} // namespace shard_dual_test
