// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "partition/published_example.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/critical_path.hpp"
#include "weft/partition/hash.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace solve_pipeline_test {

using namespace weft;

/// Two ops of 2 and 3 seconds and a third of 4 after both, on two devices; transfers take 1 second.
struct fixture {
  workload w = test::ops_of({2, 3, 4}, {{0, 2}, {1, 2}}, 10).build();
  platform<uniform_links> q = test::equal_devices(2);
  problem<workload, platform<uniform_links>> p{w, q};
  fixture() = default;
  fixture(const fixture&) = delete;
};

/// A partitioner that always decides this.
auto fixed(placement where) {
  return [where](const auto&) { return where; };
}

TEST_CASE("pipeline: a lambda decides, the simulator runs, the bound judges") {
  const fixture f;
  const auto r = pipeline(fixed({0, 1, 1}), schedule::fifo{})(f.p);
  CHECK(r.status == status::optimal);
  CHECK(r.has_plan());
  CHECK(r.plan == plan{{0, 1, 1}, {}});
  CHECK(r.makespan == 7); // 0 arrives at 3
  CHECK(r.bound.value == 7);
  CHECK(r.bound == bound::best(f.p));
  CHECK(r.gap() == 0);
  CHECK(r.stats.transfer_bytes == 10);
  CHECK(r.stats.num_events == 4);
  CHECK_FALSE(r.reason);
}

TEST_CASE("pipeline: a plan above the bound is solved, with a gap") {
  const fixture f;
  const auto r = pipeline(fixed({0, 0, 0}), schedule::fifo{})(f.p);
  CHECK(r.status == status::solved);
  CHECK(r.has_plan());
  CHECK(r.makespan == 9);
  CHECK(r.gap() == doctest::Approx(2.0 / 7));
}

TEST_CASE("pipeline: infeasible, with the reason") {
  const workload w = test::ops_of({1, 1}, {{0, 1}}, 10).build();
  const auto q = test::equal_devices(3, {.memory_capacity = 19});
  const auto r = pipeline(partition::hash{}, schedule::fifo{})(problem{w, q});
  CHECK(r.status == status::infeasible);
  CHECK_FALSE(r.has_plan());
  REQUIRE(r.reason);
  CHECK(r.reason->cause == infeasibility::kind::out_of_memory);
  CHECK(r.reason->op == 1);
  CHECK(r.plan.placement.empty());
  CHECK(r.makespan == std::numeric_limits<double>::infinity());
  CHECK(r.bound.value == std::numeric_limits<double>::infinity());
}

TEST_CASE("pipeline: that reservations fail proves nothing") {
  // A chain of ops that hold nothing: over time there are two tensors at once, reserved are all.
  const workload w = test::ops_of({1, 1, 1, 1}, {{0, 1}, {1, 2}, {2, 3}}, 10).build();
  const auto q = test::equal_devices(1, {.memory_capacity = 20});
  const problem p{w, q};
  const auto reserved = pipeline(partition::hash{}, schedule::fifo{})(p);
  CHECK(reserved.status == status::not_found);
  REQUIRE(reserved.reason);
  CHECK(reserved.reason->cause == infeasibility::kind::out_of_memory);
  CHECK(reserved.gap() == std::numeric_limits<double>::infinity());
  CHECK(solve::best(p, {.moves = 10}).status == status::not_found);
  const auto over_time = solve::best(p, {.moves = 10, .memory = memory_rule::over_time});
  CHECK(over_time.has_plan());
  CHECK(over_time.makespan == 4);
}

TEST_CASE("pipeline: an order that contradicts the graph is incomplete") {
  const fixture f;
  const auto backwards = [](const auto&) { return plan{{0, 0, 0}, {step::run(2), step::run(1), step::run(0)}}; };
  const auto r = pipeline(backwards, schedule::static_order{})(f.p);
  CHECK(r.status == status::incomplete);
  CHECK_FALSE(r.has_plan());
  CHECK(r.makespan == std::numeric_limits<double>::infinity());
  CHECK(r.gap() == std::numeric_limits<double>::infinity());
  CHECK(pipeline(backwards, schedule::fifo{})(f.p).status == status::solved); // which does not look at the order
}

TEST_CASE("pipeline: what is no plan gets an error that names the stage") {
  const fixture f;
  const auto keep = [](auto&, evaluated_plan start, rng&) { return start; };
  const auto refined_to = [&](plan gives) {
    const auto refiner = [gives](auto&, evaluated_plan x, rng&) {
      x.plan = gives;
      return x;
    };
    return pipeline(fixed({0, 0, 0}), keep, refiner, schedule::fifo{})(f.p).status;
  };
  const auto decided = [&](plan gives) {
    return pipeline([gives](const auto&) { return gives; }, schedule::static_order{})(f.p).status;
  };
  const auto better = [](auto& judge, const evaluated_plan&, rng&) { return judge({{0, 1, 1}, {}}); };
  CHECK(pipeline(fixed({0, 0, 0}), keep, better, schedule::fifo{})(f.p).status == status::optimal);
  CHECK_THROWS_WITH_AS(decided({{0, 0, 2}, {}}),
                       "partitioner: op 2 is on device 2, and there are only 2 devices, from 0", dangling_id_error);
  CHECK_THROWS_WITH_AS(decided({{0, none, 1}, {}}), "partitioner: op 1 has no device", dangling_id_error);
  CHECK_THROWS_WITH_AS(decided({{0, 0}, {}}), "partitioner: it places 2 ops, and the workload has 3", value_error);
  CHECK_THROWS_WITH_AS(decided({{0, 0, 0}, {step::run(0), step::run(1), step::run(7)}}),
                       "partitioner: its order has op 7, and the workload has only 3 ops, from 0", dangling_id_error);
  CHECK_THROWS_WITH_AS(decided({{0, 0, 0}, {step::run(0), step::run(1), step::run(0)}}),
                       "partitioner: its order has op 0 twice", value_error);
  CHECK_THROWS_WITH_AS(refined_to({{0, 0, 2}, {}}),
                       "refiner 2: op 2 is on device 2, and there are only 2 devices, from 0", dangling_id_error);
  CHECK_THROWS_WITH_AS(refined_to({{0, 0, 0}, {step::run(0)}}),
                       "refiner 2: its order lacks op 1; it has to have every op once, or be empty", value_error);
  const auto foreign = [](const auto&) -> outcome<placement> { return infeasibility{.op = 9}; };
  CHECK_THROWS_AS(pipeline(foreign, schedule::fifo{})(f.p), dangling_id_error);
}

TEST_CASE("pipeline: a partitioner keeps to kinds and groups, or it is an error") {
  auto b = test::ops_of({1, 1, 1}, {{0, 1}, {1, 2}}, 1);
  b.colocate(0, 2);
  const op_id on_gpu = b.add_op({.work = 1, .kinds = device_kind::gpu, .name = "conv"});
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, {}};
  const problem p{w, q};
  CHECK(on_gpu == 3);
  CHECK(pipeline(fixed({0, 1, 0, 1}), schedule::fifo{})(p).has_plan());
  CHECK_THROWS_WITH_AS(pipeline(fixed({0, 1, 0, 0}), schedule::fifo{})(p),
                       "partitioner: op 3 'conv' is on device 0 (cpu), but it and its group allow only gpu",
                       constraint_error);
  CHECK_THROWS_WITH_AS(pipeline(fixed({0, 1, 1, 1}), schedule::fifo{})(p),
                       "partitioner: op 0 and op 2 are of one colocation group, but on devices 0 and 1",
                       constraint_error);
}

TEST_CASE("pipeline: a partitioner's order reaches the policy") {
  const fixture f;
  for (const bool swapped : {false, true}) {
    const auto decide = [swapped](const auto&) {
      return plan{{0, 0, 1}, {step::run(swapped), step::run(!swapped), step::run(2)}};
    };
    CHECK(pipeline(decide, schedule::static_order{})(f.p).makespan == 10);
    CHECK(pipeline(decide, schedule::static_order{})(f.p).plan.order[0].op == swapped);
  }
}

TEST_CASE("pipeline: a proven bound of the partitioner counts if it is better") {
  const fixture f;
  const auto with_bound = [&](double proven) {
    return pipeline(
      [proven](const auto&) {
        return partition::decided{{{0, 0, 0}, {}}, proven};
      },
      schedule::fifo{})(f.p);
  };
  CHECK(with_bound(6).bound.value == 7);
  CHECK(with_bound(6).bound.which != lower_bound::rule::search);
  CHECK(with_bound(8).bound == lower_bound{8, lower_bound::rule::search});
  CHECK(with_bound(8).status == status::solved);
  CHECK(with_bound(9).status == status::optimal);
}

TEST_CASE("pipeline: an exact search ends optimal") {
  const test::published_example s;
  const auto exact = pipeline(refine::branch_and_bound{}, schedule::static_order{})(s.p);
  CHECK(exact.status == status::optimal);
  CHECK(exact.makespan == 73);
  CHECK(exact.bound == lower_bound{73, lower_bound::rule::search});
  const auto cut_off = pipeline(refine::branch_and_bound{.budget = {.moves = 15}}, schedule::static_order{})(s.p);
  CHECK(cut_off.status == status::solved);
  CHECK(cut_off.bound.value >= bound::best(s.p).value);
  CHECK(cut_off.gap() > 0);
}

TEST_CASE("pipeline: refiners in their order, each with the policy and the plan of the one before") {
  const fixture f;
  std::vector<int> calls;
  const auto refiner = [&calls](int name, placement expects, placement gives) {
    return [&calls, name, expects, gives](auto& judge, evaluated_plan start, rng&) {
      static_assert(std::same_as<decltype(judge.how()), const schedule::fifo&>);
      calls.push_back(name);
      CHECK(start.plan.placement == expects);
      CHECK(start.score == judge.judge(start.plan));
      CHECK(judge.record_of(start).makespan == start.run.makespan);
      return judge({gives, {}});
    };
  };
  const auto r = pipeline(fixed({0, 0, 0}), refiner(1, {0, 0, 0}, {0, 0, 1}), refiner(2, {0, 0, 1}, {0, 1, 1}),
                          schedule::fifo{})(f.p);
  CHECK(calls == std::vector<int>{1, 2});
  CHECK(r.plan.placement == placement{0, 1, 1});
  CHECK(r.makespan == 7);
}

TEST_CASE("pipeline: no refiner is called without a plan") {
  const fixture f;
  const auto fails = [](const auto&) -> outcome<placement> { return infeasibility{.op = 2}; };
  const auto refiner = [](auto&, evaluated_plan start, rng&) {
    CHECK(false);
    return start;
  };
  const auto r = pipeline(fails, refiner, schedule::fifo{})(f.p);
  CHECK(r.status == status::not_found); // the partitioner proves nothing
  CHECK(r.reason->op == 2);
}

TEST_CASE("pipeline: a refiner of the library") {
  constexpr auto solve = pipeline(partition::critical_path{}, refine::local_search{.budget = {.moves = 500}},
                                  schedule::path_completion_time{});
  rng random{71};
  for (int round = 0; round < 100; ++round) {
    const test::drawn s{random};
    const auto plain = pipeline(partition::critical_path{}, schedule::path_completion_time{})(s.p);
    const auto refined = solve(s.p);
    CHECK(refined.makespan <= plain.makespan);
    CHECK(refined.makespan >= refined.bound.value * (1 - 1e-9));
  }
}

TEST_CASE("pipeline: the seed decides, and nothing else") {
  const workload w = test::ops_of({1, 2, 3, 4, 5, 6, 7, 8}, {}).build();
  const auto q = test::equal_devices(3);
  const problem p{w, q};
  constexpr auto solve = pipeline(partition::hash{}, schedule::fifo{});
  workspace used;
  bool differ = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto r = solve(p, seed);
    CHECK(solve(p, seed).plan == r.plan);
    CHECK(solve(p, seed, used).plan == r.plan);
    CHECK(solve(p, seed).makespan == r.makespan);
    differ = differ || !(r.plan == solve(p).plan);
  }
  CHECK(solve(p).plan == solve(p, 0).plan);
  CHECK(differ);
}

TEST_CASE("pipeline: partitioner and refiners draw from the same generator") {
  const fixture f;
  std::vector<std::uint64_t> drawn;
  (void)pipeline(
    [&](const auto&, rng& random) {
      drawn.push_back(random());
      return placement{0, 0, 0};
    },
    [&](auto&, evaluated_plan start, rng& random) {
      drawn.push_back(random());
      return start;
    },
    schedule::fifo{})(f.p, 9);
  rng same{9};
  REQUIRE(drawn.size() == 2);
  CHECK(drawn[0] == same());
  CHECK(drawn[1] == same());
}

TEST_CASE("pipeline: a lambda is a policy") {
  const fixture f;
  for (const double sign : {1.0, -1.0}) {
    const auto r = pipeline(fixed({0, 0, 1}), [sign](const auto&, item_id i) { return sign * i; })(f.p);
    CHECK(r.makespan == 10);
    CHECK(r.stats.num_events == 5);
  }
}

TEST_CASE("pipeline: a workload without ops") {
  const workload w;
  const auto q = test::equal_devices(2);
  const auto r = pipeline(partition::hash{}, schedule::fifo{})(problem{w, q});
  CHECK(r.status == status::optimal);
  CHECK(r.makespan == 0);
  CHECK(r.gap() == 0);
}

using fixture_problem = problem<workload, platform<uniform_links>>;
static_assert(solver_for<decltype(pipeline(partition::hash{}, schedule::fifo{})), fixture_problem>);
static_assert(!solver_for<partition::hash, fixture_problem>);

} // namespace solve_pipeline_test
