// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/replan.hpp"

#include "../validate/scene.hpp"

#include "weft/partition/heft.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace solve_replan_test {

using namespace weft;
using weft_test::scene;

const auto by_heft = pipeline(partition::heft{}, schedule::static_order{});

/// Eight ops of 1 s, four on each of two devices.
struct eight {
  static workload make_workload() {
    workload_builder b;
    for (int v = 0; v < 8; ++v) {
      b.add_op({.work = 1});
    }
    return std::move(b).build();
  }
  workload w = make_workload();
  platform<uniform_links> equal{std::vector<device>(2), {}};
  platform<uniform_links> slow{{{.speed = 1}, {.speed = 1.0 / 3}}, {}};
  plan decided = make_plan();

  static plan make_plan() {
    plan x;
    for (const op_id v : ids(8)) {
      x.placement.push_back(v % 2);
      x.order.push_back(step::run(v));
    }
    return x;
  }

  trace run() const {
    const problem p{w, equal};
    trace record;
    simulator{p, schedule::static_order{}}.run(decided, simulate::recorder{record});
    return record;
  }
};

TEST_CASE("replan: what has not begun leaves a device that became slower") {
  const eight e;
  const problem p{e.w, e.slow};
  const auto state = state_at(e.run(), 1);
  for (const auto& r :
       {solve::replan(p, state, e.decided, by_heft), solve::replan(p, state, e.decided, {.moves = 1000})}) {
    CHECK(r.has_plan());
    CHECK(r.carried_on == 10); // three ops of 3 s
    CHECK(r.makespan == 6);    // one there, five here
    CHECK(r.run.makespan == 6);
    CHECK(r.again.empty());
    CHECK(r.plan.placement[0] == 0);
    CHECK(r.plan.placement[1] == 1);
    CHECK(validate(p, state, r.run).empty());
    CHECK(validate(p, r.plan).empty());
  }
  CHECK(solve::replan(p, state, e.decided, {.moves = 1000}).status == status::optimal);
}

TEST_CASE("replan: keeps to the old plan where nothing is better") {
  const eight e;
  const problem p{e.w, e.equal};
  const auto r = solve::replan(p, state_at(e.run(), 1.5), e.decided, by_heft);
  CHECK(r.makespan == 4);
  CHECK(r.carried_on == 4);
  CHECK(r.plan.placement == e.decided.placement);
}

TEST_CASE("replan: a device fails, and what it made and was to make is made elsewhere") {
  const eight e;
  const problem p{e.w, e.equal};
  const auto state = state_at(e.run(), 2.5, {1});
  const auto r = solve::replan(p, state, e.decided, by_heft);
  REQUIRE(r.has_plan());
  CHECK(r.again == std::vector<op_id>{1, 3, 5}); // nobody reads what they make: it is what the run is for
  CHECK(r.carried_on == std::numeric_limits<double>::infinity());
  CHECK(r.makespan == 8);
  CHECK(validate(p, state, r.run).empty());
}

TEST_CASE("replan: devices may be added") {
  const eight e;
  const platform<uniform_links> three{std::vector<device>(3), {}};
  const problem p{e.w, three};
  const auto r = solve::replan(p, state_at(e.run(), 1), e.decided, {.moves = 1000});
  CHECK(r.makespan == 3);
  CHECK(r.carried_on == 4);
}

TEST_CASE("replan: says why nothing can go on") {
  const scene s;
  const plan old{s.where, {}};
  for (const auto& r : {solve::replan(s.p, state_at(s.run, 7, {1}), old, by_heft),
                        solve::replan(s.p, state_at(s.run, 7, {1}), old, {.moves = 100})}) {
    CHECK_FALSE(r.has_plan());
    CHECK(r.status == status::infeasible);
    REQUIRE(r.reason);
    CHECK(r.reason->cause == infeasibility::kind::no_device_of_kind);
  }
}

TEST_CASE("replan: the same budget in moves and seed give the same plan") {
  const scene s;
  const plan old{s.where, {step::run(scene::a), step::run(scene::c), step::run(scene::e), step::run(scene::b),
                           step::run(scene::d)}};
  const auto first = solve::replan(s.p, state_at(s.run, 2.5), old, {.moves = 500, .seed = 3});
  const auto second = solve::replan(s.p, state_at(s.run, 2.5), old, {.moves = 500, .seed = 3, .threads = 2});
  CHECK(first.plan == second.plan);
  CHECK(first.makespan <= first.carried_on);
}

TEST_CASE("replan: refuses memory over time") {
  const scene s;
  const solve::best_options over_time{.memory = memory_rule::over_time};
  CHECK_THROWS_WITH_AS((void)solve::replan(s.p, state_at(s.run, 7), {s.where, {}}, over_time),
                       "solve::replan: memory over time is not kept by what goes on from a state; use "
                       "memory_rule::reserved",
                       value_error);
}

} // namespace solve_replan_test
