// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/refine/simulated_annealing.hpp"

#include <doctest/doctest.h>

namespace refine_simulated_annealing_test {

using namespace weft;
using refine::simulated_annealing;

simulated_annealing with(budget b) {
  simulated_annealing search;
  search.budget = b;
  return search;
}
simulated_annealing with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("simulated_annealing: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 150, 1, 700);
  test::never_worse<schedule::path_completion_time>(with_moves, 150, 2, 700);
  test::never_worse<schedule::fifo>(with_moves, 150, 3, 700);
}

TEST_CASE("simulated_annealing: small problems and constraints") { test::manages_small_problems(with_moves); }

TEST_CASE("simulated_annealing: ends at its target or when it is asked to, and tells how far it is") {
  test::heeds_its_budget(with);
}

TEST_CASE("simulated_annealing: with memory over time, less of what is lacking is worth a longer makespan") {
  const platform<uniform_links> slow{{{.memory_capacity = 10}, {.speed = 0.1, .memory_capacity = 10}}, {{}}};
  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 8});
  b.add_op({.work = 1, .resident_bytes = 8});
  const auto w = std::move(b).build();
  const problem p = problem{w, slow}.with_demands({0, 0});
  simulated_annealing search = with_moves(5000); // slow devices are rarely drawn
  rng random{1};
  const plan both{{0, 0}, {}};
  CHECK(refine::improve(p, both, search, schedule::static_order{}, random).plan == both);
  search.memory = memory_rule::over_time;
  const auto apart = refine::improve(p, both, search, schedule::static_order{}, random);
  CHECK(apart.plan.placement[0] != apart.plan.placement[1]);
  CHECK(apart.run.makespan == 10);
}

} // namespace refine_simulated_annealing_test
