// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/within_deadline.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/evaluate/makespan.hpp"
#include "weft/objective/energy.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/workload/builder.hpp"

#include "weft/refine/genetic.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pareto.hpp"

#include <doctest/doctest.h>

namespace objective_within_deadline_test {

using namespace weft;

workload ops_of(std::initializer_list<double> work) {
  workload_builder b;
  for (const double x : work) {
    b.add_op({.work = x});
  }
  return std::move(b).build();
}

/// A slow device that takes 2 J and 4 s per unit of work, and a fast one that takes 10 J and 1 s.
platform<uniform_links> slow_and_fast() {
  return {{{.speed = 0.25, .active_watts = 0.5}, {.speed = 1, .active_watts = 10}}, {}};
}

/// Keeps how many plans it has seen.
struct counting {
  struct state {
    int seen = 0;
    weft::score score(const plan&, const trace&) { return {0, static_cast<double>(++seen)}; }
  };
  template <class Problem, class Policy>
  state state_for(const Problem&, const Policy&) const {
    return {};
  }
};

TEST_CASE("within_deadline: late plans are worse than all others, the later the worse") {
  const auto w = ops_of({1, 1});
  const auto q = slow_and_fast();
  const problem p{w, q};
  const objective::within_deadline soon{objective::energy{}, 5};
  evaluator judge{p, evaluation{schedule::fifo{}, soon}};
  const score slow = judge.judge({.placement = {0, 0}});
  const score mixed = judge.judge({.placement = {0, 1}});
  const score fast = judge.judge({.placement = {1, 1}});
  CHECK(slow == score{3, 4, 8}); // 8 s
  CHECK(mixed == score{0, 12, 4});
  CHECK(fast == score{0, 20, 2});
  CHECK(mixed < fast);
  CHECK(fast < slow);
  CHECK(!slow.admitted());
  CHECK(judge.bound({.value = 1}).value == 4);
  static_assert(objective::within_deadline<objective::energy<>>::unit == "J");

  evaluator in_seconds{p, evaluation{schedule::fifo{}, objective::within_deadline{objective::makespan{}, 5}}};
  CHECK(in_seconds.judge({.placement = {0, 0}}) == score{3, 8}); // of the summary
  CHECK(in_seconds.judge({.placement = {0, 1}}) == score{4});
  evaluator kept{p, evaluation{schedule::fifo{}, objective::within_deadline{counting{}, 5}}};
  CHECK(kept.judge({.placement = {0, 0}}) == score{3, 1}); // of a state
  CHECK(kept.judge({.placement = {1, 1}}) == score{0, 2});
}

TEST_CASE("within_deadline: to searches, being late costs more than any gain, and less the less late") {
  const auto w = ops_of({1, 1});
  const auto q = slow_and_fast();
  const problem p{w, q};
  const objective::within_deadline soon{objective::energy{}, 5};
  static_assert(objective_parts::is_sum<decltype(soon), decltype(p)>);
  const auto price = soon.price(p);
  CHECK(price.of(5) == 0);
  CHECK(price.of(8) > 3 * 20.0);
  CHECK(price.of(6) < price.of(7));
  CHECK(soon.op_charge(p, 0, 1) == 10);
  const objective::within_deadline sooner{objective::within_deadline{objective::energy{}, 5}, 4};
  CHECK(sooner.price(p).deadline == 4);
  const objective::within_deadline later{objective::within_deadline{objective::energy{}, 5}, 6};
  CHECK(later.price(p).deadline == 5);
}

/// One op; the fastest device is in time but dear, the next only just in time, the last cheapest and a little late.
struct three_ways {
  workload w = ops_of({1});
  platform<uniform_links> q{{{.speed = 0.2, .active_watts = 20}, {.speed = 1 / 9.9, .active_watts = 6},
                             {.speed = 1 / 10.1, .active_watts = 1}}, {}};
  problem<workload, platform<uniform_links>> p{w, q};
  evaluation<schedule::static_order, objective::within_deadline<objective::energy<>>> how{{}, {{}, 10}};
  three_ways() = default;
  three_ways(const three_ways&) = delete;
};

TEST_CASE("within_deadline: searches keep the best plan that is in time, however cheap late ones are") {
  const three_ways x;
  const auto best = solve::best(x.p, x.how, {.moves = 2000});
  CHECK(best.status != status::late);
  CHECK(best.score.value == doctest::Approx(9.9 * 6));
  const auto refined = [&](const auto& refiner) {
    rng random{2};
    return refine::improve(x.p, {{2}, {}}, refiner, x.how, random).score; // from the late one
  };
  // The late start is as cheap as the target, which ends nothing.
  CHECK(refined(refine::genetic{.budget = {.moves = 200, .target = 10.1}}).admitted());

  const auto front = solve::pareto(x.p, x.how, {.moves = 2000});
  CHECK(front.exact);
  REQUIRE(front.points.size() == 2);
  for (const auto& point : front.points) {
    CHECK(point.makespan <= 10);
  }
  CHECK(front.points.back().value == doctest::Approx(9.9 * 6));
}

} // namespace objective_within_deadline_test
