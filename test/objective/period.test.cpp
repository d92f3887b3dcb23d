// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/period.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/partition/heft.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

namespace objective_period_test {

using namespace weft;

constexpr evaluation by_period{schedule::static_order{}, objective::period{}};

TEST_CASE("objective::period: the score is the period of the placement, and the bound that of all") {
  rng random{4};
  int better = 0;
  for (int round = 0; round < test::rounds(60); ++round) {
    const test::drawn x{random, {.max_ops = 20, .max_devices = 4}};
    const auto refined = pipeline(partition::heft{}, refine::local_search{.budget = {.moves = 100}}, by_period)(x.p);
    const auto best = solve::best(x.p, by_period, {.moves = 4000});
    if (!refined.has_plan()) {
      continue;
    }
    REQUIRE(best.has_plan());
    CHECK(validate(x.p, best.plan).empty());
    CHECK(refined.score.value == throughput::period(x.p, refined.plan.placement));
    CHECK(best.score.value == throughput::period(x.p, best.plan.placement));
    CHECK(best.score.tie == best.makespan);
    CHECK(best.score.value <= refined.score.value * (1 + 1e-9));
    CHECK(best.bound.value <= best.score.value * (1 + 1e-9));
    rng own{0};
    const auto alone = throughput::best{.budget = {.moves = 4000}}(x.p, own);
    REQUIRE(alone.has_value());
    CHECK(best.score.value <= alone->period * (1 + 1e-9));
    // The single run is not longer than that of the placement alone.
    evaluator judge{x.p, by_period};
    const auto first = judge({alone->placement, {}});
    CHECK(!(first.score < best.score));
    better += best.score.tie < first.score.tie;
  }
  CHECK(better > test::rounds(10));
}

} // namespace objective_period_test
