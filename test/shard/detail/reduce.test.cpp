// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/detail/reduce.hpp"

#include "support/rounds.hpp"
#include "support/variants.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/choice.hpp"
#include "weft/shard/detail/enumeration.hpp"
#include "weft/shard/detail/weights.hpp"
#include "weft/shard/variant_model.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace shard_reduce_test {

using namespace weft;
using namespace shard::detail;

/// The least cost of a core by enumeration, with fixed costs.
std::optional<std::int64_t> least_of_core(const core& c, std::vector<std::uint32_t>& x) {
  if (c.infeasible) {
    return std::nullopt;
  }
  enumeration all{c};
  REQUIRE(all.run(1'000'000'000, [] { return false; }));
  x = all.best();
  const auto cost = shard::add_costs(all.cost(), c.fixed_cost);
  return cost < shard::never ? std::optional{cost} : std::nullopt;
}

TEST_CASE("reduce: keeps the least cost, and choices of the core are choices of the problem") {
  rng random{21};
  int smaller = 0, with_nodes = 0;
  for (int repeat = 0; repeat < test::rounds(5000); ++repeat) {
    const auto plain = weft_test::draw_variants(random, 6, 4);
    const auto p = shard::lower(plain);
    auto c = reduce(p);
    CAPTURE(repeat);
    std::vector<std::uint32_t> x;
    const auto least = least_of_core(c, x);
    REQUIRE(least == weft_test::least_cost(plain));
    if (least) {
      REQUIRE(weft_test::cost_of(plain, c.lifted(x)) == least);
      smaller += c.num_nodes() < p.num_ops();
      with_nodes += c.num_nodes() > 0;
      // Any other choice has the cost and the peak that the core has for it.
      std::vector<std::uint32_t> other;
      for (const auto v : ids(c.num_nodes())) {
        other.push_back(random.below(c.num_variants(v)));
      }
      const weights w{c};
      const choice made{c, w, other};
      const auto value = shard::value_of(p, c.lifted(other));
      const bool fits = made.value().feasible() && made.value().cost() + c.fixed_cost < shard::never;
      REQUIRE(value.feasible(p.limit()) == fits);
      if (made.value().feasible()) {
        const auto counted = made.value().cost() + c.fixed_cost; // rounded down where costs are beyond 2^53
        REQUIRE(value.cost >= counted);
        REQUIRE(value.cost - counted <= value.cost >> 50);
      }
    }
  }
  if (test::are_all_rounds) {
    CHECK(smaller > 1000);
    CHECK(with_nodes > 500);
  }
}

} // namespace shard_reduce_test
