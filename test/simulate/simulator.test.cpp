// SPDX-License-Identifier: BSL-1.0
/// Worked examples; simulate/equivalence.test.cpp compares whole runs with a second implementation.
#include "schedule/small_flow.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace simulate_simulator_test {

using namespace weft;
using test::five_ops;
using five_problem = problem<workload, platform<uniform_links>>;

/// Prefers ops with large ids.
constexpr auto largest_id = [](const auto&, item_id i) -> double { return i; };

TEST_CASE("simulator: path completion time, worked out by hand") {
  // Device 0: a [0, 2), c (27) [2, 8), a's send (24) [8, 18), c's send (21) [18, 28), e (3) [28, 31).
  // a's tensor arrives at 21: b [21, 23). c's at 30: d [30, 34).
  const five_ops s{10};
  trace run;
  simulator sim{s.p, schedule::path_completion_time{}};
  const auto result = sim.run(plan{s.where}, simulate::recorder{run});
  CHECK(result.makespan == 34);
  CHECK(result.complete);
  CHECK(result.transfer_bytes == 12); // b's 100 bytes stay
  CHECK(result.num_events == 5 + 2 + 2);
  CHECK(run.makespan == 34);
  CHECK(run.ops == std::vector<op_record>{{0, 0, 2}, {1, 21, 23}, {0, 2, 8}, {1, 30, 34}, {0, 28, 31}});
  CHECK(run.transfers == std::vector<transfer_record>{{0, 0, 1, 8, 18, 18, 21}, {2, 0, 1, 18, 28, 28, 30}});
}

TEST_CASE("simulator: transfers without a send begin when their tensor is made") {
  const five_ops s{0};
  trace run;
  simulator sim{s.p, schedule::fifo{}};
  const auto result = sim.run(plan{s.where}, simulate::recorder{run});
  CHECK(result.makespan == 14); // c [2, 8), its tensor at 10, d [10, 14)
  CHECK(result.num_events == 5 + 2);
  CHECK(run.transfers == std::vector<transfer_record>{{0, 0, 1, 2, 2, 2, 5}, {2, 0, 1, 8, 8, 8, 10}});
}

TEST_CASE("simulator: everything that happens at one instant takes effect before any device picks") {
  // At 3 device 1 becomes free, with op 1 waiting since 0, and a tensor arrives that makes op 3 ready.
  workload_builder b;
  const auto from = b.add_op({.work = 2, .bytes = 4});
  b.add_op({.work = 5});
  b.add_op({.work = 3});
  const auto to = b.add_op({.work = 1});
  b.add_edge(from, to);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}}, {{.latency = 0, .bandwidth = 4}}};
  const problem p{w, q};
  trace run;
  simulator sim{p, largest_id};
  sim.run(plan{{0, 1, 1, 1}}, simulate::recorder{run});
  CHECK(run.ops[2].start == 0);
  CHECK(run.ops[to].start == 3);
  CHECK(run.ops[1].start == 4);
}

TEST_CASE("simulator: at one instant, the finished ops release before the arrivals do") {
  // At 2, op 4 becomes ready by a tensor from device 1 and op 5 by op 1; op 3 blocks device 0 until 2.
  workload_builder b;
  for (int i = 0; i < 6; ++i) {
    b.add_op({.work = i == 0 ? 1.0 : 2.0, .bytes = 4});
  }
  b.add_edge(0, 4);
  b.add_edge(1, 5);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.slots = 1}, {.slots = 2}}, {{.latency = 0, .bandwidth = 4}}};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}};
  sim.run(plan{{1, 0, 1, 1, 0, 0}}, simulate::recorder{run});
  CHECK(run.transfers[0].arrival == 2);
  CHECK(run.ops[5].start == 2);
  CHECK(run.ops[4].start == 4);
}

TEST_CASE("simulator: all sends of an op are queued before its local consumers, whichever tensor they are of") {
  // Op 0 makes a tensor for op 1 beside it and then one for op 2 on the other device: 0 [0, 1), the send [1, 2),
  // 1 [2, 12); 2 [2, 7).
  workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 0});
  b.add_output(u, 0);
  b.add_edge(u, b.add_op({.work = 10}), 0);
  b.add_edge(u, b.add_op({.work = 5}), 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}}, {}, 1};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}};
  CHECK(sim.run(plan{{0, 0, 1}}, simulate::recorder{run}).makespan == 12);
  CHECK(run.ops[1].start == 2);
  CHECK(run.transfers[0].send_start == 1);
}

TEST_CASE("simulator: ops of no duration") {
  // 0 -> 1 -> 2 take no time; 3 takes some. All is over at 3, after 4 events.
  workload_builder b;
  for (const double work : {0.0, 0.0, 0.0, 3.0}) {
    b.add_op({.work = work, .bytes = 0});
  }
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  b.add_edge(2, 3);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}}, {}};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}};
  const auto here = sim.run(plan{{0, 0, 0, 0}}, simulate::recorder{run});
  CHECK(here.makespan == 3);
  CHECK(here.num_events == 4);
  CHECK(run.ops == std::vector<op_record>{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 3}});
  const auto apart = sim.run(plan{{0, 1, 0, 1}}, simulate::recorder{run}); // transfers take no time either
  CHECK(apart.makespan == 3);
  CHECK(apart.num_events == 4 + 3);
}

TEST_CASE("simulator: a device runs as many items at once as it has slots, sends among them") {
  workload_builder b;
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = 2.0 + i, .bytes = 0});
  }
  b.add_edge(0, b.add_op({.work = 1}));
  const workload w = std::move(b).build();
  for (const std::uint32_t slots : {1u, 2u, 3u, 100u}) {
    const platform<uniform_links> q{{{.slots = slots}, {}}, {}, 4};
    const problem p{w, q};
    trace run;
    simulator sim{p, schedule::fifo{}};
    sim.run(plan{{0, 0, 0, 0, 1}}, simulate::recorder{run});
    std::vector<double> starts;
    for (const auto& r : run.ops) {
      starts.push_back(r.start);
    }
    starts.push_back(run.transfers[0].send_start);
    if (slots == 1) {
      CHECK(starts == std::vector<double>{0, 2, 5, 9, 18, 14});
    } else if (slots == 2) { // 0: [0, 2) 2: [2, 6) the send [6, 10); 1: [0, 3) 3: [3, 8)
      CHECK(starts == std::vector<double>{0, 0, 2, 3, 10, 6});
    } else if (slots == 3) { // 0: [0, 2) 3: [2, 7); 1: [0, 3), the send [3, 7)
      CHECK(starts == std::vector<double>{0, 0, 0, 2, 7, 3});
    } else {
      CHECK(starts == std::vector<double>{0, 0, 0, 0, 6, 2});
    }
  }
}

TEST_CASE("simulator: the bytes of a tensor count once per device that it goes to") {
  workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 100});
  b.add_output(u, 7);
  for (int i = 0; i < 4; ++i) {
    b.add_edge(u, b.add_op({.work = 1}));
  }
  b.add_edge(u, 4, 1);
  b.add_control_edge(u, 3);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}, {}}, {}};
  const problem p{w, q};
  simulator sim{p, schedule::fifo{}};
  CHECK(sim.run(plan{{0, 0, 0, 0, 0}}).transfer_bytes == 0);
  CHECK(sim.run(plan{{0, 1, 1, 1, 0}}).transfer_bytes == 100);
  CHECK(sim.run(plan{{0, 1, 2, 1, 0}}).transfer_bytes == 200);
  CHECK(sim.run(plan{{0, 1, 2, 1, 1}}).transfer_bytes == 207);
}

TEST_CASE("simulator: a workload without ops") {
  const workload w;
  const platform<uniform_links> q{{{}}, {}};
  const problem p{w, q};
  trace run{.ops = {{0, 1, 2}}, .transfers = {}, .makespan = 5};
  simulator sim{p, schedule::fifo{}};
  const auto result = sim.run(plan{}, simulate::recorder{run});
  CHECK(result.complete);
  CHECK(result.makespan == 0);
  CHECK(result.num_events == 0);
  CHECK(run == trace{});
}

TEST_CASE("simulator: prepare and run_prepared are run in two halves") {
  const five_ops s{10};
  simulator sim{s.p, schedule::fifo{}};
  const plan first{s.where};
  const plan second{{1, 1, 1, 1, 1}};
  sim.prepare(second);
  CHECK(sim.flow().transfers().empty());
  CHECK(sim.run_prepared().makespan == 11.5);
  sim.prepare(first);
  CHECK(sim.flow().transfers().size() == 2);
  CHECK(sim.run_prepared().makespan == 37);
}

TEST_CASE("simulator: takes a policy with state of its own") {
  const five_ops s{10};
  const auto run_with = [&](double sign) {
    simulator sim{s.p, [sign](const placed_flow<five_problem>&, item_id i) { return sign * i; }};
    trace run;
    sim.run(plan{s.where}, simulate::recorder{run});
    return run.ops[five_ops::e].start;
  };
  CHECK(run_with(1) == 12); // after a's send, before c
  CHECK(run_with(-1) == 8); // after c, before the sends
}

} // namespace simulate_simulator_test
