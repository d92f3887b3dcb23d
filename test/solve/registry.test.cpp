// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/solve/registry.hpp"
#include "weft/solve/standard_strategies.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <stop_token>
#include <string>
#include <vector>

namespace solve_registry_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;
using names = std::vector<std::string>;

/// What the library's list of strategies has, by kind.
struct listed {
  names partitioners = {};
  names policies = {};
  names refiners = {};

  listed() {
    standard_strategies::all(*this);
  }
  template <class S>
  void add_partitioner(const char* name, const S&) {
    partitioners.emplace_back(name);
  }
  template <class S>
  void add_policy(const char* name, const S&) {
    policies.emplace_back(name);
  }
  template <class S>
  void add_refiner(const char* name, const S&) {
    refiners.emplace_back(name);
  }
};

TEST_CASE("registry: the library's strategies, in the order of their list") {
  const auto all = registry<drawn_problem>::standard();
  const listed expected;
  CHECK(all.partitioner_names() == expected.partitioners);
  CHECK(all.policy_names() == expected.policies);
  CHECK(all.refiner_names() == expected.refiners);
}

TEST_CASE("registry: finds what it has, and nothing else") {
  const auto all = registry<drawn_problem>::standard();
  for (const auto& name : all.partitioner_names()) {
    CHECK(all.find_partitioner(name) != nullptr);
    CHECK(all.find_policy(name) == nullptr);
    CHECK(all.find_refiner(name) == nullptr);
  }
  for (const auto& name : all.refiner_names()) {
    CHECK(all.find_refiner(name) != nullptr);
    CHECK(all.find_partitioner(name) == nullptr);
  }
  for (const auto& name : all.policy_names()) {
    CHECK(all.find_policy(name) != nullptr);
    CHECK(all.find_partitioner(name) == nullptr);
  }
  for (const char* unknown : {"", "Hash", "hash ", "all", "fifo2"}) {
    CHECK(all.find_partitioner(unknown) == nullptr);
    CHECK(all.find_policy(unknown) == nullptr);
    CHECK(all.find_refiner(unknown) == nullptr);
  }
  const registry<drawn_problem> empty;
  CHECK(empty.partitioner_names().empty());
  CHECK(empty.find_policy("fifo") == nullptr);
  CHECK(empty.find_refiner("genetic") == nullptr);
}

/// Holds each strategy of a registry against its type.
struct same_as_types {
  const registry<drawn_problem>& all;
  const drawn_problem& p;
  workspace scratch = {};
  plan placed = {}; ///< by the first of the list schedulers: has an order

  template <class S>
  void add_partitioner(const char* name, const S& by_type) {
    CAPTURE(name);
    rng first{5};
    rng second{5};
    const auto expected = partition::run(by_type, p, first, scratch);
    const auto found = (*all.find_partitioner(name))(p, second, scratch);
    REQUIRE(found.has_value() == expected.has_value());
    if (!found) {
      CHECK(found.error() == expected.error());
      return;
    }
    CHECK(found->plan == expected->plan);
    CHECK(found->bound == expected->bound);
    if (placed.order.empty()) {
      placed = found->plan;
    }
  }
  template <class S>
  void add_policy(const char* name, const S& by_type) {
    CAPTURE(name);
    trace run;
    trace record;
    simulator expected{p, by_type};
    const auto made = expected.run(placed, simulate::recorder{record});
    const auto found = (*all.find_policy(name))(p, contention_model::none);
    CHECK(found->keeps_order() == std::same_as<S, schedule::static_order>);
    CHECK((*all.find_policy(name))(p, contention_model::port)->keeps_order() == found->keeps_order());
    found->prepare(placed);
    const auto got = found->run_prepared(run);
    CHECK(got.makespan == made.makespan);
    CHECK(got.num_events == made.num_events);
    CHECK(got.transfer_bytes == made.transfer_bytes);
    CHECK(run == record);
    CHECK(run.makespan == got.makespan);
    CHECK(run.ops.size() == p.num_ops());
  }
  template <class S>
  void add_refiner(const char* name, S by_type) {
    CAPTURE(name);
    rng first{5};
    rng second{5};
    by_type.budget.moves = 40;
    const auto expected = refine::improve(p, placed, by_type, schedule::static_order{}, first);
    any_evaluator judge{p};
    CHECK((*all.find_refiner(name))(judge, placed, {.moves = 40}, second).plan == expected.plan);
  }
};

TEST_CASE("registry: a name does what its type does") {
  const auto all = registry<drawn_problem>::standard();
  rng random{81};
  for (int round = 0; round < 20; ++round) {
    const drawn s{random, {.max_ops = 8, .max_devices = 3}};
    same_as_types check{all, s.p};
    standard_strategies::all(check);
  }
}

TEST_CASE("registry: a refiner has the budget that it is given, or its own") {
  const auto all = registry<drawn_problem>::standard();
  rng random{83};
  const drawn s{random, {.max_ops = 8, .max_devices = 3}};
  rng seeded{5};
  workspace scratch;
  const auto start = (*all.find_partitioner("hash"))(s.p, seeded, scratch);
  REQUIRE(start);
  any_evaluator judge{s.p};
  for (const auto& name : all.refiner_names()) {
    CAPTURE(name);
    rng first{7};
    rng second{7};
    const auto& refine = *all.find_refiner(name);
    CHECK(refine(judge, start->plan, {.moves = 50}, first).plan ==
          refine(judge, start->plan, {.moves = 50}, second).plan);
  }
  rng first{7};
  struct told { // writes down how many moves it may make
    std::uint64_t* moves;
    weft::budget budget = {.moves = 3};
    evaluated_plan operator()(any_evaluator<drawn_problem>&, evaluated_plan x, rng&) const {
      *moves = budget.moves;
      return x;
    }
  };
  std::uint64_t moves = 0;
  auto own = registry<drawn_problem>{};
  own.add_refiner("told", told{&moves});
  const auto moves_of = [&](const weft::budget& given) {
    CHECK((*own.find_refiner("told"))(judge, start->plan, given, first).plan == start->plan);
    return moves;
  };
  CHECK(moves_of({}) == 3);
  CHECK(moves_of({.moves = 2}) == 2);
  std::stop_source stop;
  const auto token = stop.get_token();
  CHECK(moves_of({.stop = &token}) == 3);
}

TEST_CASE("registry: a refiner that returns no plan of the problem is an error") {
  struct forgets {
    weft::budget budget = {};
    evaluated_plan operator()(any_evaluator<drawn_problem>&, evaluated_plan x, rng&) const {
      x.plan.placement.pop_back();
      return x;
    }
  };
  const workload w = test::ops_of({1, 1, 1}, {{0, 1}, {0, 2}}, 8).build();
  const platform<> q{{{}, {}}, link_matrix{2}};
  const drawn_problem p{w, q};
  auto own = registry<drawn_problem>{};
  own.add_refiner("forgets", forgets{});
  rng random{1};
  any_evaluator judge{p};
  CHECK_THROWS_WITH_AS((*own.find_refiner("forgets"))(judge, {{0, 0, 0}, {}}, {}, random),
                       "refiner: it places 2 ops, and the workload has 3", value_error);
}

TEST_CASE("registry: contention is chosen at run time") {
  // One op's tensor goes to two devices, 2 seconds each.
  const workload w = test::ops_of({1, 1, 1}, {{0, 1}, {0, 2}}, 8).build();
  link_matrix links{3, {.bandwidth = 4}};
  const platform<> q{{{}, {}, {}}, links};
  const drawn_problem p{w, q};
  const plan apart{{0, 1, 2}, {}};
  const auto all = registry<drawn_problem>::standard();
  for (const auto& name : all.policy_names()) {
    trace run;
    const auto alone = (*all.find_policy(name))(p, contention_model::none);
    alone->prepare(apart);
    CHECK(alone->run_prepared(run).makespan == 4);
    const auto shared = (*all.find_policy(name))(p, contention_model::port);
    shared->prepare(apart);
    CHECK(shared->run_prepared(run).makespan == 6);
    CHECK(run.transfers[1].start == 3);
  }
}

TEST_CASE("registry: strategies of one's own, after those of the library") {
  auto all = registry<drawn_problem>::standard();
  const device_id everything_on = 1;
  all.add_partitioner("pile",
                      [everything_on](const drawn_problem& p) { return placement(p.num_ops(), everything_on); });
  all.add_policy("last_first", [](const placed_flow<drawn_problem>&, item_id i) { return static_cast<double>(i); });
  CHECK(all.partitioner_names().size() == listed{}.partitioners.size() + 1);
  CHECK(all.partitioner_names().back() == "pile");
  CHECK(all.policy_names().back() == "last_first");
  const workload w = test::ops_of({1, 2, 4}, {}).build();
  const platform<> q{{{}, {}}, link_matrix{2}};
  const drawn_problem p{w, q};
  rng random{0};
  workspace scratch;
  const auto decided = (*all.find_partitioner("pile"))(p, random, scratch);
  REQUIRE(decided);
  CHECK(decided->plan.placement == placement{1, 1, 1});
  const auto sim = (*all.find_policy("last_first"))(p, contention_model::none);
  trace run;
  sim->prepare(decided->plan);
  CHECK(sim->run_prepared(run).makespan == 7);
  CHECK(run.ops[0].start == 6);
  CHECK(run.ops[1].start == 4);
  CHECK(run.ops[2].start == 0);
}

TEST_CASE("registry: a simulator runs one plan after another, and a copy of a registry is one of its own") {
  auto all = registry<drawn_problem>::standard();
  auto copy = all;
  copy.add_partitioner("mine", partition::hash{});
  CHECK(all.find_partitioner("mine") == nullptr);
  rng random{82};
  const drawn s{random};
  const auto sim = (*copy.find_policy("fifo"))(s.p, contention_model::none);
  simulator<drawn_problem, schedule::fifo> expected{s.p};
  trace run;
  for (int i = 0; i < 5; ++i) {
    const plan decided{test::random_placement(random, s.p), {}};
    sim->prepare(decided);
    CHECK(sim->run_prepared(run).makespan == expected.run(decided).makespan);
  }
}

} // namespace solve_registry_test
