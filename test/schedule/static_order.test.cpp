// SPDX-License-Identifier: BSL-1.0
#include "schedule/small_flow.hpp"

#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace schedule_static_order_test {

using namespace weft;
using test::five_ops;
constexpr op_id a = five_ops::a, b = five_ops::b, c = five_ops::c, d = five_ops::d, e = five_ops::e;

struct outcome_of_run {
  simulation summary;
  trace run;
};

outcome_of_run run(const five_ops& s, const order& steps) {
  outcome_of_run r;
  simulator sim{s.p, schedule::static_order{}};
  r.summary = sim.run(plan{s.where, steps}, simulate::recorder{r.run});
  if (r.summary.complete) {
    CHECK(validate(s.p, s.where, r.run).empty());
  }
  return r;
}

order ops(std::initializer_list<op_id> list) {
  order steps;
  for (const op_id v : list) {
    steps.push_back(step::run(v));
  }
  return steps;
}

TEST_CASE("static_order: sends that the order does not mention follow their producer") {
  // Device 0: a [0, 2), send [2, 12), e [12, 15), c [15, 21), send [21, 31).
  const five_ops s{10};
  const auto r = run(s, ops({a, e, c, b, d}));
  CHECK(r.run.ops == std::vector<op_record>{{0, 0, 2}, {1, 15, 17}, {0, 15, 21}, {1, 33, 37}, {0, 12, 15}});
  CHECK(r.summary.makespan == 37);
}

TEST_CASE("static_order: sends where the order says") {
  // Device 0: a [0, 2), c [2, 8), c's send [8, 18), e [18, 21), a's send [21, 31); b [34, 36), d [36, 40).
  const five_ops s{10};
  auto steps = ops({a, c});
  steps.push_back(step::send(c, 2, 1));
  steps.push_back(step::run(e));
  steps.push_back(step::send(a, 0, 1));
  steps.push_back(step::run(b));
  steps.push_back(step::run(d));
  const auto r = run(s, steps);
  CHECK(r.run.ops == std::vector<op_record>{{0, 0, 2}, {1, 34, 36}, {0, 2, 8}, {1, 36, 40}, {0, 18, 21}});
  CHECK(r.run.transfers == std::vector<transfer_record>{{0, 0, 1, 21, 31, 31, 34}, {2, 0, 1, 8, 18, 18, 20}});
}

TEST_CASE("static_order: one send where the order says, the other after its producer") {
  // Device 0: a [0, 2), a's send [2, 12), c [12, 18), e [18, 21), c's send [21, 31).
  const five_ops s{10};
  auto steps = ops({a, c, e});
  steps.push_back(step::send(c, 2, 1));
  steps.push_back(step::run(b));
  steps.push_back(step::run(d));
  const auto r = run(s, steps);
  CHECK(r.run.transfers == std::vector<transfer_record>{{0, 0, 1, 2, 12, 12, 15}, {2, 0, 1, 21, 31, 31, 33}});
}

TEST_CASE("static_order: a device waits for the next step although another is ready") {
  // On device 1 the order puts u, which waits for a tensor until 4, before v, which is ready at 0.
  workload_builder build;
  const auto t = build.add_op({.work = 1, .bytes = 8});
  const auto u = build.add_op({.work = 2});
  const auto v = build.add_op({.work = 2});
  build.add_edge(t, u);
  const workload w = std::move(build).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 1}}, {{.latency = 1, .bandwidth = 4}}};
  const problem p{w, q};
  simulator sim{p, schedule::static_order{}};
  trace r;
  CHECK(sim.run(plan{{0, 1, 1}, ops({t, u, v})}, simulate::recorder{r}).makespan == 8);
  CHECK(r.ops[u].start == 4);
  CHECK(r.ops[v].start == 6);
  CHECK(sim.run(plan{{0, 1, 1}, ops({t, v, u})}, simulate::recorder{r}).makespan == 6);
}

TEST_CASE("static_order: with several slots, steps begin in order") {
  workload_builder build;
  for (const double work : {5.0, 1.0, 1.0, 3.0}) {
    build.add_op({.work = work});
  }
  const workload w = std::move(build).build();
  const platform<uniform_links> q{{{.speed = 1, .slots = 2}}, {}};
  const problem p{w, q};
  simulator sim{p, schedule::static_order{}};
  trace r;
  sim.run(plan{{0, 0, 0, 0}, ops({1, 0, 3, 2})}, simulate::recorder{r});
  CHECK(r.ops == std::vector<op_record>{{0, 0, 5}, {0, 0, 1}, {0, 4, 5}, {0, 1, 4}});
}

TEST_CASE("static_order: without an order, the longest path completion time goes first") {
  // Keys of device 0: a 29, c 27, a's send 24, c's send 21, e 3.
  const five_ops s{10};
  const auto r = run(s, {});
  CHECK(r.run.ops == std::vector<op_record>{{0, 0, 2}, {1, 21, 23}, {0, 2, 8}, {1, 30, 34}, {0, 28, 31}});
  CHECK(r.run.transfers == std::vector<transfer_record>{{0, 0, 1, 8, 18, 18, 21}, {2, 0, 1, 18, 28, 28, 30}});
}

TEST_CASE("static_order: without an order, ops of no work still run after their inputs") {
  workload_builder build; // 2 -> 1 -> 0, all of the same key
  for (int i = 0; i < 3; ++i) {
    build.add_op({.work = 0, .bytes = 0});
  }
  build.add_edge(2, 1);
  build.add_edge(1, 0);
  const workload w = std::move(build).build();
  const platform<uniform_links> q{{{}}, {}};
  const problem p{w, q};
  simulator sim{p, schedule::static_order{}};
  CHECK(sim.run(plan{{0, 0, 0}}).complete);
}

TEST_CASE("static_order: an order that contradicts the graph leaves the run incomplete") {
  const five_ops s{10};
  const auto never = run(s, ops({c, a, e, b, d}));
  CHECK_FALSE(never.summary.complete);
  CHECK(never.summary.makespan == std::numeric_limits<double>::infinity());
  CHECK(never.summary.num_events == 0);
  // Device 1 waits for d, which waits for b; device 0 does all that it can.
  const auto stuck = run(s, ops({a, c, e, d, b}));
  CHECK_FALSE(stuck.summary.complete);
  CHECK(stuck.run.ops[e].finish == 31);
  CHECK(stuck.run.makespan == 31);
  CHECK(stuck.summary.makespan == std::numeric_limits<double>::infinity());
  CHECK(stuck.summary.num_events == 3 + 2 + 2);
}

TEST_CASE("static_order: the simulator serves the next plan after an incomplete run") {
  const five_ops s{10};
  simulator sim{s.p, schedule::static_order{}};
  CHECK_FALSE(sim.run(plan{s.where, ops({a, c, e, d, b})}).complete);
  CHECK(sim.run(plan{s.where, ops({a, c, e, b, d})}).complete);
}

TEST_CASE("static_order: a send before its producer never happens") {
  const five_ops s{10};
  order steps{step::send(a, 0, 1)};
  for (const step& x : ops({a, c, e, b, d})) {
    steps.push_back(x);
  }
  CHECK_FALSE(run(s, steps).summary.complete);
}

TEST_CASE("static_order: refuses orders that are none") {
  const five_ops s{10};
  const auto with = [&](step x) {
    order steps = ops({a, c, e, b, d});
    steps.insert(steps.begin() + 1, x);
    return steps;
  };
  CHECK_THROWS_WITH_AS(run(s, ops({a, c, e, b})),
                       "order: its order lacks op 3; it has to have every op once, or be empty", value_error);
  CHECK_THROWS_WITH_AS(run(s, with(step::run(a))), "order: its order has op 0 twice", value_error);
  CHECK_THROWS_WITH_AS(run(s, with(step::run(7))),
                       "order: its order has op 7, and the workload has only 5 ops, from 0", dangling_id_error);
  CHECK_THROWS_WITH_AS(run(s, with(step::send(a, 0, 0))), // a is there
                       "order: its order sends tensor 0 of op 0 to device 0, and there is no such transfer",
                       dangling_id_error);
  CHECK_THROWS_AS(run(s, with(step::send(a, 99, 1))), dangling_id_error);
  CHECK_THROWS_AS(run(s, with(step::send(a, 0, 9))), dangling_id_error);
  order twice = with(step::send(a, 0, 1));
  twice.push_back(step::send(a, 0, 1));
  CHECK_THROWS_WITH_AS(run(s, twice), "order: its order sends tensor 0 to device 1 twice", value_error);
}

TEST_CASE("static_order: sends that take no time are no steps") {
  const five_ops s{0};
  order steps{step::send(a, 0, 1)}; // would be a contradiction if it took time
  for (const step& x : ops({a, e, c, b, d})) {
    steps.push_back(x);
  }
  const auto r = run(s, steps);
  CHECK(r.summary.complete);
  CHECK(r.run.ops[b].start == 5);
}

} // namespace schedule_static_order_test
