// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/continuation.hpp"

#include "../validate/scene.hpp"
#include "mirrored.hpp"
#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/bound/best.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/interconnect.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace solve_continuation_test {

using namespace weft;
using weft_test::scene;

const order steps{step::run(scene::a), step::send(scene::a, scene::x, 1), step::run(scene::c),
                  step::send(scene::c, scene::z, 1), step::run(scene::e), step::run(scene::b), step::run(scene::d)};

template <class Range>
std::vector<op_id> all_of(const Range& ops) {
  return {ops.begin(), ops.end()};
}

TEST_CASE("continuation: the old plan goes on as it would have") {
  const scene s;
  for (const double now : {0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 6.0, 7.0, 9.5, 10.0, 11.0, 12.0, 12.5, 20.0}) {
    CAPTURE(now);
    const solve::continuation rest{s.p, state_at(s.run, now)};
    const auto whole = rest.whole(*rest.left_of({s.where, steps}));
    CHECK(whole.run.makespan == 12.5);
    CHECK(whole.record.ops == s.run.ops);
    CHECK(whole.plan.placement == s.where);
    CHECK(whole.run.transfer_bytes == 10);
    CHECK(validate(s.p, whole.plan).empty());
  }
}

TEST_CASE("continuation: what has not begun is left, in its order, and groups that have begun stay") {
  const scene s;
  const solve::continuation rest{s.p, state_at(s.run, 7)}; // b and c run, d and e wait
  CHECK(all_of(rest.left()) == std::vector<op_id>{scene::d, scene::e});
  CHECK(rest.again().empty());
  const auto& p = rest.problem();
  CHECK(p.workload().name(0) == "d");
  CHECK(p.num_devices() == 3);
  CHECK(p.platform().name(2) == "the past");
  CHECK(p.compute_time(0, 1) == 1);
  CHECK_FALSE(p.allows(p.component(0), 0)); // b is on 1
  CHECK(p.allows(p.component(1), 0));
  CHECK(p.allows(p.component(1), 1));
  CHECK(p.platform().memory_capacity(0) == 200 - 126 + 8); // a and c are there, and e, which needs x, is not yet
  CHECK(bound::best(p).value == 10);                       // z is somewhere at 9, and d takes 1
}

TEST_CASE("continuation: another order of what is left, and what it comes to") {
  const scene s;
  const solve::continuation rest{s.p, state_at(s.run, 7)};
  const order e_first{step::run(scene::a), step::send(scene::a, scene::x, 1), step::run(scene::c), step::run(scene::e),
                      step::send(scene::c, scene::z, 1), step::run(scene::b), step::run(scene::d)};
  const auto whole = rest.whole(*rest.left_of({s.where, e_first}));
  CHECK(whole.run.makespan == 13.5); // e from 9 to 10, the send to 11, z arrives at 12.5
  CHECK(validate(s.p, state_at(s.run, 7), whole.record).empty());
  CHECK(whole.record.ops[scene::e] == op_record{0, 9, 10});
}

TEST_CASE("continuation: what a device has not finished when it goes runs again, and what made tensors that are lost") {
  const scene s;
  const solve::continuation later{s.p, state_at(s.run, 7, {0})}; // x is on 1 by then, c was under way
  CHECK(all_of(later.left()) == std::vector<op_id>{scene::c, scene::d, scene::e});
  CHECK(all_of(later.again()) == std::vector<op_id>{scene::c});
  CHECK_FALSE(later.left_of({s.where, steps}).has_value());

  const solve::continuation sooner{s.p, state_at(s.run, 5, {0})}; // x was on its way from there
  CHECK(all_of(sooner.again()) == std::vector<op_id>{scene::a, scene::c});

  const solve::continuation last{s.p, state_at(s.run, 11.25, {0})}; // z was on its way; what e made is lost with it
  CHECK(all_of(last.again()) == std::vector<op_id>{scene::c, scene::e});
}

TEST_CASE("continuation: of a device that is gone no op is left, and its memory is none") {
  const scene s;
  const solve::continuation rest{s.p, state_at(s.run, 7, {0})};
  const auto& p = rest.problem();
  CHECK(p.platform().memory_capacity(0) == 0);
  for (const op_id i : ids(rest.left().size())) {
    CHECK_FALSE(p.allows(p.component(i), 0));
    CHECK(p.compute_time(i, 0) == std::numeric_limits<double>::infinity());
  }
  rng random{1};
  workspace scratch;
  const auto made = partition::run(partition::heft{}, p, random, scratch);
  REQUIRE(made);
  const auto whole = rest.whole(made->plan); // c from 8, when b ends, to 11, e from 11 to 11.5 and d, or d before e
  CHECK(whole.run.makespan == 12.5);
  CHECK(validate(s.p, state_at(s.run, 7, {0}), whole.record).empty());
}

TEST_CASE("continuation: an op that began had its inputs there, also if no transfer says so") {
  const scene s;
  run_state state = state_at(s.run, 7, {0});
  state.begun.transfers.clear();
  const solve::continuation rest{s.p, state};
  CHECK(all_of(rest.again()) == std::vector<op_id>{scene::c}); // b has x
}

TEST_CASE("continuation: what is over is a problem without ops to place") {
  const scene s;
  const solve::continuation rest{s.p, state_at(s.run, 13)};
  CHECK(rest.left().empty());
  CHECK(bound::best(rest.problem()).value == 12.5);
}

TEST_CASE("continuation: of a workload that numbers its tensors otherwise") {
  rng random{34};
  int sent = 0;
  for (int round = 0; round < test::rounds(200); ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.max_ops = 9}};
    const test::mirrored w{s.w};
    const problem p{w, s.q};
    const plan old{test::random_placement(random, s.p), {}};
    trace run;
    simulator{p, schedule::fifo{}}.run(old, simulate::recorder{run});
    const auto followed = simulate::plan_of(p, run);
    const auto state = state_at(run, run.makespan * random.uniform());
    const solve::continuation rest{p, state};
    const auto left = rest.left_of(followed);
    REQUIRE(left);
    const auto whole = rest.whole(*left);
    CHECK(whole.record.ops == run.ops);
    CHECK(validate(p, state, whole.record).empty());
    CHECK(validate(p, whole.plan).empty());
    sent += whole.record.transfers.empty() ? 0 : 1;
  }
  CHECK(sent > test::rounds(50));
  const scene s;
  const test::mirrored w{s.w};
  const problem p{w, s.p.platform()};
  auto state = state_at(s.run, 7);
  state.begun.transfers.front().tensor = 99;
  CHECK_THROWS_WITH_AS((solve::continuation{p, state}),
                       doctest::Contains("a transfer is of tensor 99, and the workload has only"), dangling_id_error);
}

TEST_CASE("continuation: of a problem with less memory, and on shared links") {
  workload_builder b; // a sends to b and c; nothing has begun
  b.add_op({.work = 1, .bytes = 100, .resident_bytes = 7});
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.add_output(0, 100);
  b.add_edge(0, 1);
  b.add_edge(0, 2, 1);
  const auto w = std::move(b).build();
  interconnect_builder links{3};
  const auto hub = links.add_switch();
  for (device_id d = 0; d < 3; ++d) {
    links.join(d, hub, {.bandwidth = 10});
  }
  const platform<> q{std::vector<device>(3), link_matrix{std::move(links).build()}};
  const auto p = problem{w, q}.with_capacities({1000, 500, 500});
  trace nothing;
  nothing.ops.resize(3);
  const solve::continuation rest{p, run_state{.begun = nothing}};
  CHECK(rest.problem().capacity(0) == 1000);
  CHECK(rest.problem().capacity(1) == 500);
  const plan apart{{0, 1, 2}, {}};
  const simulate::fair_sharing fair;
  const double makespan = simulator{p, schedule::static_order{}, fair}.run(apart).makespan;
  CHECK(makespan == 22); // the way out of device 0 has 200 bytes to carry
  CHECK(simulator{rest.problem(), schedule::static_order{}, fair}.run(*rest.left_of(apart)).makespan == makespan);
}

TEST_CASE("continuation: results stay where they lie, and what variables hand on is theirs") {
  workload_builder b; // op 0 runs; a variable, what is read of it, and two ops of which one writes over the other's
  b.add_op({.work = 4, .bytes = 8});
  b.add_op({.bytes = 8, .resident_bytes = 400, .memory = output_memory::view});
  b.add_op({.bytes = 400, .memory = output_memory::view});
  b.add_op({.work = 1, .bytes = 16});
  b.add_op({.work = 1, .bytes = 16, .memory = output_memory::over_input});
  b.add_edge(1, 2);
  b.add_edge(2, 3);
  b.add_edge(3, 4);
  b.colocate(1, 2);
  const auto w = std::move(b).build();
  const platform<> q{std::vector<device>(2), link_matrix{2}};
  const problem p{w, q};
  trace begun;
  begun.ops.resize(5);
  begun.ops[0] = {0, 0, 4};
  const solve::continuation rest{p, run_state{.now = 1, .begun = begun}};
  REQUIRE(all_of(rest.left()) == std::vector<op_id>{1, 2, 3, 4});
  const auto& left = rest.problem().workload();
  for (const op_id i : ids(rest.left().size())) {
    CAPTURE(i);
    const tensor_id t = *left.outputs(i).begin();
    const tensor_id was = *w.outputs(rest.left()[i]).begin();
    CHECK(is_resident(left, t) == is_resident(w, was));
    CHECK(is_overwritten(left, t) == is_overwritten(w, was));
  }
  CHECK(is_resident(w, 2));
  CHECK(is_overwritten(w, 3));
  CHECK(left.inputs(0).size() == 1); // the clock tells the variable when to start
  CHECK(rest.problem().platform().memory_capacity(0) == q.memory_capacity(0) - 8);
}

TEST_CASE("continuation: an order that contradicts the graph is not complete") {
  const scene s;
  const solve::continuation rest{s.p, state_at(s.run, 2.5)};
  plan left = *rest.left_of({s.where, steps});
  const auto at = [&](op_id v) {
    const auto i = std::find(rest.left().begin(), rest.left().end(), v) - rest.left().begin();
    return std::find(left.order.begin(), left.order.end(), step::run(static_cast<op_id>(i)));
  };
  std::iter_swap(at(scene::b), at(scene::d));
  const auto whole = rest.whole(left);
  CHECK_FALSE(whole.run.complete);
  CHECK(whole.record.ops.empty());
}

TEST_CASE("continuation: refuses states that are none of the problem") {
  const scene s;
  const auto message = [&](const run_state& state) {
    try {
      const solve::continuation rest{s.p, state};
    } catch (const error& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  run_state state = state_at(s.run, 7);
  state.begun.ops.pop_back();
  CHECK(message(state) == "run_state: it has records of 4 ops, and the workload has 5");
  state = state_at(s.run, 7);
  state.begun.ops[1].device = 2;
  CHECK(message(state) == "run_state: op 1 'b' is on device 2, and there are only 2 devices, from 0");
  CHECK(message(state_at(s.run, 7, {5})) ==
        "run_state: what is gone is device 5, and there are only 2 devices, from 0");
  CHECK(message(state_at(s.run, 7, {0, 1})) == "run_state: all devices are gone; a run needs one to go on");
  state = state_at(s.run, 7);
  state.begun.transfers[0].tensor = 7;
  CHECK(message(state) == "run_state: a transfer is of tensor 7, and the workload has only 3");
  state = state_at(s.run, 7);
  state.begun.ops[2].finish = -1;
  CHECK(message(state) == "run_state: a time of op 2 'c' is negative or not finite");
}

TEST_CASE("continuation: a run of kernels that failed goes on where it was") {
  const scene s;
  std::vector<int> calls(5, 0);
  static_executor run{s.w, {s.where, steps}};
  const auto report = run(
    [&](op_id v) {
      if (v == scene::c) {
        throw error("no kernel for this yet");
      }
      ++calls[v];
    },
    {.record = true});
  REQUIRE(report.failed == scene::c);
  const solve::continuation rest{s.p, execute::state_of(report)};
  const auto left = rest.left_of({s.where, steps});
  REQUIRE(left);
  static_executor go_on{rest.problem().workload(), *left};
  CHECK(go_on([&](op_id i) {
          if (i < rest.left().size()) {
            ++calls[rest.left()[i]];
          }
        }).status == execute::run_status::finished);
  CHECK(calls == std::vector<int>(5, 1));
  CHECK_THROWS_WITH_AS((void)execute::state_of(execute::run_report{}),
                       "state_of: the run was not recorded; run it with {.record = true}", value_error);
}

} // namespace solve_continuation_test
