// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/plan/memory_rule.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/simulate/memory.hpp"

#include <doctest/doctest.h>

namespace refine_tabu_search_test {

using namespace weft;
using refine::tabu_search;

tabu_search with(budget b) {
  tabu_search search;
  search.budget = b;
  return search;
}
tabu_search with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("tabu_search: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 30, 1, 700);
  test::never_worse<schedule::path_completion_time>(with_moves, 30, 2, 700);
  test::never_worse<schedule::fifo>(with_moves, 30, 3, 700);
}

TEST_CASE("tabu_search: small problems and constraints") { test::manages_small_problems(with_moves); }

TEST_CASE("tabu_search: ends at its target or when it is asked to, and tells how far it is") {
  test::heeds_its_budget(with);
}

TEST_CASE("tabu_search: ends although there is nothing to change") {
  const auto w = test::ops_of({3}, {}).build();
  const auto q = test::equal_devices(1);
  const problem p{w, q};
  rng random{0};
  for (const budget& b : {budget{.moves = 1000}, budget{.seconds = 0.01}}) {
    const auto r =
      refine::improve(p, {{0}, {}}, tabu_search{.budget = b, .shake = 0}, schedule::static_order{}, random);
    CHECK(r.run.makespan == 3);
  }
}

TEST_CASE("tabu_search: keeps to memory over time") {
  rng random{7};
  int better = 0;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.capacity = 30 + random.below(100)}};
    const auto start = test::decide(partition::heft{}, s.p);
    if (!start) {
      continue;
    }
    evaluator judge{s.p, schedule::static_order{}};
    const auto first = judge.recorded(start->plan);
    simulate::memory_tracker<decltype(s.p)> memory{s.p};
    const auto fits = [&](const evaluated_plan& x) {
      memory.follow(x.plan.placement, x.record);
      const auto peaks = memory.peaks();
      bool all = true;
      for (const device_id d : ids(s.p.num_devices())) {
        all =
          all && s.p.platform().slots(d) == 1 && peaks[d] <= static_cast<byte_count>(s.p.platform().memory_capacity(d));
      }
      return all;
    };
    if (!fits(first)) {
      continue;
    }
    const tabu_search search{.budget = {.moves = 300}, .memory = memory_rule::over_time};
    auto found = search(judge, first, random);
    CHECK(found.score <= first.score);
    found = judge.recorded(found.plan);
    CHECK(fits(found));
    better += found.score < first.score;
  }
  CHECK(better > 5);
}

} // namespace refine_tabu_search_test
