// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/detail/elimination.hpp"

#include "support/rounds.hpp"
#include "support/variants.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/reduce.hpp"
#include "weft/shard/variant_model.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace shard_elimination_test {

using namespace weft;
using namespace shard::detail;

TEST_CASE("elimination: finds the least cost of some nodes, the others fixed") {
  rng random{23};
  int eliminated = 0;
  for (int repeat = 0; repeat < test::rounds(1500); ++repeat) {
    auto plain = weft_test::draw_variants(random, 7, 4);
    plain.most = shard::variant_problem::no_limit;
    auto c = reduce(shard::lower(plain));
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
        sum += w.of(edge, y[edge.u], y[edge.v]);
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

} // namespace shard_elimination_test
