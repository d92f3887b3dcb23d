// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/detail/reduce.hpp"

#include "support/rounds.hpp"
#include "support/variants.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/choice.hpp"
#include "weft/shard/detail/dual.hpp"
#include "weft/shard/detail/elimination.hpp"
#include "weft/shard/detail/enumeration.hpp"
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
    const auto c = reduce(p);
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
      const choice made{c, other};
      const auto value = shard::value_of(p, c.lifted(other));
      const bool fits = made.value().feasible() && made.value().cost() + c.fixed_cost < shard::never;
      REQUIRE(value.feasible(p.limit()) == fits);
      if (made.value().feasible()) {
        REQUIRE(value.cost == made.value().cost() + c.fixed_cost);
      }
    }
  }
  if (test::are_all_rounds) {
    CHECK(smaller > 1000);
    CHECK(with_nodes > 500);
  }
}

TEST_CASE("dual: no bound is above the least cost") {
  rng random{22};
  for (int repeat = 0; repeat < test::rounds(1500); ++repeat) {
    const auto c = reduce(shard::lower(weft_test::draw_variants(random, 7, 4)));
    std::vector<std::uint32_t> x;
    const auto least = least_of_core(c, x);
    if (!least || c.num_nodes() == 0) {
      continue;
    }
    dual d{c};
    for (int sweep = 0; sweep < 60; ++sweep) {
      if (sweep == 20) {
        d.rescale(*least - c.fixed_cost + random.between(0, 10));
      }
      const auto bound = d.improve(*least - c.fixed_cost + random.between(-5, 50), x);
      REQUIRE(bound <= *least - c.fixed_cost);
      REQUIRE(d.bound() <= *least - c.fixed_cost);
    }
  }
}

TEST_CASE("elimination: finds the least cost of some nodes, the others fixed") {
  rng random{23};
  int eliminated = 0;
  for (int repeat = 0; repeat < test::rounds(1500); ++repeat) {
    auto plain = weft_test::draw_variants(random, 7, 4);
    plain.most = shard::variant_problem::no_limit;
    const auto c = reduce(shard::lower(plain));
    if (c.infeasible || c.num_nodes() == 0) {
      continue;
    }
    const weights w{c};
    elimination e{c, w};
    std::vector<std::uint32_t> nodes, x;
    for (const auto v : ids(c.num_nodes())) {
      x.push_back(random.below(c.num_variants(v)));
      if (random.below(4) > 0) {
        nodes.push_back(v);
      }
    }
    const elimination_limits limits{.joint = random.below(2) == 0 ? 8.0 : 1e6, .work = 1e7};
    e.plan(nodes, limits, random);
    const auto free = e.nodes();
    eliminated += static_cast<int>(free.size());
    const auto cost = [&](const std::vector<std::uint32_t>& y) {
      double sum = 0;
      for (const auto v : ids(c.num_nodes())) {
        sum += w.of(c.costs(v)[y[v]]);
      }
      for (const auto& edge : c.edges) {
        sum += w.of(c.edge_cost(edge, y[edge.u], y[edge.v]));
      }
      return sum;
    };
    auto y = x;
    double least = cost(y);
    for (const auto v : free) {
      y[v] = 0;
    }
    for (;;) {
      least = std::min(least, cost(y));
      std::size_t k = 0;
      while (k < free.size() && ++y[free[k]] == c.num_variants(free[k])) {
        y[free[k++]] = 0;
      }
      if (k == free.size()) {
        break;
      }
    }
    e.minimise(x, [&](std::uint32_t v, std::span<double> costs) {
      for (std::size_t i = 0; i < costs.size(); ++i) {
        costs[i] += w.of(c.costs(v)[i]);
      }
    });
    CAPTURE(repeat);
    REQUIRE(cost(x) == doctest::Approx(least).epsilon(1e-9));
  }
  CHECK(eliminated > 0);
}

} // namespace shard_reduce_test
