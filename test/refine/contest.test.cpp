// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"
#include "support/rounds.hpp"

#include "weft/refine/contest.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"

#include <doctest/doctest.h>

namespace refine_contest_test {

using namespace weft;

auto with(budget b) {
  refine::contest search{refine::tabu_search{}, refine::simulated_annealing{}};
  search.budget = b;
  return search;
}
auto with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("contest: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 300, 1, 300);
  test::never_worse<schedule::path_completion_time>(with_moves, 300, 2, 300);
}

TEST_CASE("contest: small problems and constraints") { test::manages_small_problems(with_moves); }

TEST_CASE("contest: ends at its target or when it is asked to, and tells how far it is") {
  test::heeds_its_budget(with);
}

/// Puts everything on one device, and notes what it was given.
struct on_device {
  device_id device = 0;
  std::vector<std::uint64_t>* moves = nullptr;
  weft::budget budget = {};

  template <class Judge>
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng&) const {
    moves->push_back(budget.moves);
    auto moved = judge({placement(start.plan.placement.size(), device), {}});
    return moved.score < start.score ? moved : start;
  }
};

TEST_CASE("contest: who was best in its trial gets what is left") {
  std::vector<std::uint64_t> first, second;
  refine::contest search{on_device{0, &first}, on_device{1, &second}};
  search.budget = {.moves = 1000};
  search.share = 0.1;
  const auto w = test::ops_of({6}, {}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 2}, {.speed = 0.5}}, uniform_links{1}};
  const problem p{w, q};
  rng random{0};
  const auto r = refine::improve(p, {{2}, {}}, search, schedule::static_order{}, random);
  CHECK(r.plan.placement == placement{1});
  CHECK(first == std::vector<std::uint64_t>{100});
  CHECK(second == std::vector<std::uint64_t>{100, 800});
}

} // namespace refine_contest_test
