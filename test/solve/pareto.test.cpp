// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/pareto.hpp"

#include "mirrored.hpp"

#include "weft/objective/within_deadline.hpp"
#include "weft/objective/within_memory.hpp"
#include "weft/simulate/under.hpp"
#include "weft/platform/presets.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>

#include <stop_token>
#include <vector>

namespace solve_pareto_test {

using namespace weft;

workload ops(std::size_t count) {
  workload_builder b;
  for (std::size_t v = 0; v < count; ++v) {
    b.add_op({.work = 1});
  }
  return std::move(b).build();
}

/// A slow device that takes 2 J and 4 s per unit of work, and a fast one that takes 10 J and 1 s.
platform<uniform_links> slow_and_fast() {
  return {{{.speed = 0.25, .active_watts = 0.5}, {.speed = 1, .active_watts = 10}}, {}};
}

TEST_CASE("pareto: small problems are searched through") {
  const auto w = ops(8);
  const auto q = slow_and_fast();
  const problem p{w, q};
  const auto front = solve::pareto(p, {.moves = 100'000});
  CHECK(front.exact);
  REQUIRE(front.points.size() ==
          8); // k ops on the slow one: max(4k, 8 - k) s, 80 - 8k J; with 1, faster than with none
  CHECK(front.points.front().makespan == 7);
  CHECK(front.points.front().value == 72);
  CHECK(front.points.back().makespan == 32);
  CHECK(front.points.back().value == 16);
  CHECK(front.makespan_bound.value <= 7);
  CHECK(front.value_bound <= 16);
}

TEST_CASE("pareto: larger ones by deadlines, with plans that are what they say") {
  const auto w = generate::layered_sized(60, 6, 2, 3);
  const auto q = presets::make("workstation_1gpu");
  const problem p{w, q};
  const auto front = solve::pareto(p, {.moves = 24'000, .seed = 1});
  CHECK(!front.exact);
  REQUIRE(!front.points.empty());
  evaluator judge{p, evaluation{schedule::static_order{}, objective::energy{}}};
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    const auto& x = front.points[i];
    CHECK(validate(p, x.plan).empty());
    const auto run = judge(x.plan);
    CHECK(run.run.makespan == x.makespan);
    CHECK(run.score.value == x.value);
    CHECK(x.makespan >= front.makespan_bound.value);
    CHECK(x.value >= front.value_bound * (1 - 1e-12));
    CHECK((i == 0 || (x.makespan > front.points[i - 1].makespan && x.value < front.points[i - 1].value)));
  }
  CHECK(front.points.front().makespan <= solve::best(p, {.moves = 2'000, .seed = rng::mix(1)}).makespan);
  // At any number of threads.
  const auto again = solve::pareto(p, {.moves = 24'000, .seed = 1, .threads = 3});
  REQUIRE(again.points.size() == front.points.size());
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    CHECK(again.points[i].plan == front.points[i].plan);
  }
}

/// Counts transfers, which is no sum of charges that anybody could follow.
struct transfers {
  template <class Problem>
  weft::score score(const Problem&, const trace& run) const {
    return static_cast<double>(run.transfers.size());
  }
};

TEST_CASE("pareto: any objective, on any network") {
  const auto w = generate::layered_sized(30, 5, 2, 3);
  const auto q = presets::make("pcie_4gpu");
  const problem p{w, q};
  const simulate::under fair{schedule::static_order{}, simulate::fair_sharing{}};
  const auto front = solve::pareto(p, evaluation{fair, transfers{}}, {.moves = 4'000});
  REQUIRE(!front.points.empty());
  CHECK(!front.exact);
  evaluator judge{p, evaluation{fair, transfers{}}};
  for (const auto& x : front.points) {
    CHECK(judge(x.plan).run.makespan == x.makespan);
    CHECK(judge.judge(x.plan) == score{x.value});
  }
}

TEST_CASE("pareto: of a workload that numbers its tensors otherwise") {
  workload_builder b;
  for (op_id v = 0; v < 14; v += 2) {
    b.add_op({.work = 1, .bytes = v});
    b.add_op({.work = 1, .bytes = 1});
    b.add_edge(v, v + 1);
  }
  const auto made = std::move(b).build();
  const test::mirrored w{made};
  const auto q = slow_and_fast();
  const problem p{w, q};
  const auto front = solve::pareto(p, {.moves = 24'000});
  REQUIRE(front.points.size() > 1);
  evaluator judge{p, evaluation{schedule::static_order{}, objective::energy{}}};
  for (const auto& x : front.points) {
    CHECK(validate(p, x.plan).empty());
    const auto run = judge(x.plan);
    CHECK(run.run.makespan == x.makespan);
    CHECK(run.score.value == x.value);
  }
}

TEST_CASE("pareto: memory over time, nothing to run, no room, no time") {
  const auto w = ops(3);
  platform<uniform_links> q{{{.memory_capacity = 4, .active_watts = 1}, {.speed = 2, .memory_capacity = 4}}, {}};
  const problem p{w, q};
  const auto over_time = solve::pareto(p, {.moves = 500, .memory = memory_rule::over_time});
  CHECK(!over_time.exact);
  CHECK(!over_time.points.empty());

  const simulate::under fair{schedule::static_order{}, simulate::fair_sharing{}};
  CHECK_THROWS_AS(
    solve::pareto(p, evaluation{fair, objective::energy{}}, {.moves = 500, .memory = memory_rule::over_time}),
    value_error);

  // An order that takes longer may need less memory, so the search through placements proves nothing.
  workload_builder two;
  for (const byte_count bytes : {8u, 1u, 8u, 1u}) {
    two.add_op({.work = 1, .bytes = bytes});
  }
  two.add_edge(0, 1);
  two.add_edge(2, 3);
  const auto pairs = std::move(two).build();
  const platform<uniform_links> small{{{.memory_capacity = 10, .active_watts = 10}}, {}};
  const auto free = problem{pairs, small}.with_demands(std::vector<byte_count>(4, 0));
  using in_time = objective::within_deadline<objective::energy<>>;
  CHECK(!solve::pareto(free, evaluation{schedule::static_order{}, objective::within_memory{in_time{{}, 100}}},
                       {.moves = 500}).exact);

  const auto nothing = ops(0);
  CHECK(solve::pareto(problem{nothing, q}).exact == true);
  workload_builder b;
  b.add_op({.resident_bytes = 5});
  const auto large = std::move(b).build();
  const auto none = solve::pareto(problem{large, q}, {.moves = 100});
  CHECK(none.points.empty());
  std::stop_source source;
  source.request_stop();
  const auto stop = source.get_token();
  const auto many = ops(40);
  CHECK(solve::pareto(problem{many, q}, {.moves = 100'000, .stop = &stop}).points.size() <= 2);
}

} // namespace solve_pareto_test
