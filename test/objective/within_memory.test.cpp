// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/within_memory.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/energy.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/platform/platform.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace objective_within_memory_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

TEST_CASE("within_memory: what devices lack, in what they may hold") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 6, .resident_bytes = 10});
  b.add_op({.work = 1, .resident_bytes = 2});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform<uniform_links> q{{{.memory_capacity = 16}, {.memory_capacity = 4}}, {}};
  const problem p{w, q};
  const plan alone{{0, 0}, {}};
  const plan both{{0, 1}, {}};
  using limited = objective::within_memory<>;
  evaluator all{p, evaluation{schedule::fifo{}, limited{}}};
  CHECK(all.judge(alone) == score{2.0 / 16, 2});
  CHECK(all.judge(both).violation == 4.0 / 4); // 6 bytes arrive beside 2
  const auto less = p.with_memory_share(0.5);
  evaluator half{less, evaluation{schedule::fifo{}, limited{}}};
  CHECK(half.judge(alone).violation == 10.0 / 8);
  CHECK(half.judge(both).violation == 8.0 / 8 + 6.0 / 2);
  CHECK(all.bound().value == evaluator{p, schedule::fifo{}}.bound().value);
  static_assert(limited::unit == "s");

  const objective::within_memory fast_and_small{objective::within_deadline{objective::makespan{}, 1.5}};
  CHECK(evaluator{p, evaluation{schedule::fifo{}, fast_and_small}}.judge(alone) == score{0.5 + 2.0 / 16, 2});
}

TEST_CASE("within_memory: admits what the validator admits, on all networks") {
  rng random{5};
  int admitted = 0;
  int refused = 0;
  for (int round = 0; round < test::rounds(1000); ++round) {
    const drawn s{random, {.capacity = 20 + random.below(60)}};
    const plan x{test::random_placement(random, s.p), {}};
    const auto check = [&](const auto& policy, contention_model model) {
      evaluator plain{s.p, policy};
      evaluator judge{s.p, evaluation{policy, objective::within_memory{}}};
      const auto run = plain.recorded(x);
      const auto got = judge.judge(x);
      REQUIRE(got.value == run.score.value);
      const auto wrong = validate(s.p, x.placement, run.record,
                                  {.contention = model, .check_memory = true, .memory = memory_rule::over_time});
      REQUIRE(got.admitted() == wrong.empty());
      (got.admitted() ? admitted : refused)++;
    };
    check(schedule::fifo{}, contention_model::none);
    for (const auto model : {contention_model::port, contention_model::fair}) {
      check(simulate::under{schedule::fifo{}, simulate::any_network{model}}, model);
    }
  }
  CHECK(admitted > test::rounds(300));
  CHECK(refused > test::rounds(300));
}

TEST_CASE("within_memory: refiners trade whatever is minimised for what is lacking") {
  rng random{17};
  int lacked = 0; // although there are plans that do not
  int mended = 0;
  for (int round = 0; round < test::rounds(60); ++round) {
    const drawn s{random, {.max_ops = 15, .capacity = 20 + random.below(60)}};
    const auto relaxed = s.p.with_demands(std::vector<byte_count>(s.p.num_components(), 0));
    const plan x{test::random_placement(random, s.p), {}};
    const bool possible = solve::best(s.p, {.moves = 300, .memory = memory_rule::over_time}).has_plan();
    const auto check = [&](const auto& refiner, const auto& how) {
      evaluator judge{relaxed, how};
      const auto start = judge.recorded(x);
      const auto better = refiner(judge, start, random);
      REQUIRE(better.score <= start.score);
      REQUIRE(judge.judge(better.plan) == better.score);
      lacked += possible && start.score.violation > 0;
      mended += possible && start.score.violation > 0 && better.score.violation == 0;
    };
    const refine::local_search search{.budget = {.moves = 300}};
    check(search, evaluation{simulate::under{schedule::static_order{}, simulate::fair_sharing{}},
                             objective::within_memory{}});
    check(search, evaluation{schedule::static_order{}, objective::within_memory{objective::energy{}}});
    check(search, evaluation{schedule::fifo{}, objective::within_memory{}});
    check(refine::genetic{.budget = {.moves = 300}}, evaluation{schedule::static_order{}, objective::within_memory{}});
  }
  if (test::are_all_rounds) {
    CHECK(lacked > 10);
    CHECK(2 * mended > lacked);
  }
}

} // namespace objective_within_memory_test
