// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "partition/published_example.hpp"

#include "weft/partition/heft.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace partition_heft_test {

using namespace weft;
using partition::heft;

/// Runs HEFT's plan as planned.
template <class Problem>
trace run_as_planned(const Problem& p) {
  const auto decided = test::decide(heft{}, p);
  REQUIRE(decided);
  CHECK(validate(p, decided->plan).empty());
  trace run;
  simulator sim{p, schedule::static_order{}};
  CHECK(sim.run(decided->plan, simulate::recorder{run}).complete);
  CHECK(validate(p, decided->plan.placement, run).empty());
  return run;
}

TEST_CASE("heft: the published example") {
  const test::published_example s;
  const auto rank = partition::list::upward_ranks(s.p);
  const double published[] = {108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667};
  REQUIRE(rank.size() == 10);
  for (std::size_t v = 0; v < 10; ++v) {
    CHECK(std::abs(rank[v] - published[v]) < 5e-4);
  }
  const auto run = run_as_planned(s.p);
  CHECK(run.makespan == 80);
  // The schedule of the paper's figure: processors 1, 2, 3 are devices 0, 1, 2.
  CHECK(run.ops == std::vector<op_record>{{2, 0, 9},
                                          {0, 27, 40},
                                          {2, 9, 28},
                                          {1, 18, 26},
                                          {2, 28, 38},
                                          {1, 26, 42},
                                          {2, 38, 49},
                                          {0, 57, 62},
                                          {1, 56, 68},
                                          {1, 73, 80}});
}

TEST_CASE("heft: an op goes into a gap that is long enough") {
  // 0 runs on the gpu for 4 seconds, its tensor takes 1, then 1 runs on the cpu: [5, 11). 2 needs the cpu for 5 seconds
  // and ranks last: it fits into [0, 5). Without insertion it would run in [11, 16).
  for (const double work : {5.0, 5.5}) {
    workload_builder b;
    b.add_op({.work = 4, .bytes = 0, .kinds = device_kind::gpu});
    b.add_op({.work = 6, .kinds = device_kind::cpu});
    b.add_op({.work = work, .kinds = device_kind::cpu});
    b.add_edge(0, 1);
    const workload w = std::move(b).build();
    const platform<uniform_links> q{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, {{.latency = 1}}};
    const problem p{w, q};
    const auto run = run_as_planned(p);
    CHECK(run.ops[1] == op_record{0, 5, 11});
    CHECK(run.ops[2].start == (work == 5 ? 0 : 11));
    CHECK(run.makespan == (work == 5 ? 11 : 16.5));
  }
}

TEST_CASE("heft: each slot is a place for an op") {
  const workload w = test::ops_of({4, 3, 2}, {}).build();
  const auto q = test::equal_devices(1, {.slots = 2});
  const auto run = run_as_planned(problem{w, q});
  CHECK(run.ops == std::vector<op_record>{{0, 0, 4}, {0, 0, 3}, {0, 3, 5}});
}

TEST_CASE("heft: ties go to the smaller device, and to the topologically first op") {
  const workload w = test::ops_of({0, 0, 0}, {{2, 1}, {1, 0}}).build();
  const auto q = test::equal_devices(2);
  const auto decided = test::decide(heft{}, problem{w, q});
  REQUIRE(decided);
  CHECK(decided->plan.placement == placement{0, 0, 0});
  CHECK(decided->plan.order == order{step::run(2), step::run(1), step::run(0)});
}

TEST_CASE("heft: a send counts in ranks and arrivals") {
  // On the slow device 0 alone: 4 + 4. With the consumer on device 1: 4 + 1 to send + 1 on the link + 4 / speed.
  for (const double speed : {1.5, 3.0}) {
    workload_builder b;
    b.add_op({.work = 4, .bytes = 0, .kinds = device_kind::cpu});
    b.add_op({.work = 4});
    b.add_edge(0, 1);
    const workload w = std::move(b).build();
    const platform<uniform_links> q{
      {{.kind = device_kind::cpu}, {.kind = device_kind::gpu, .speed = speed}}, {{.latency = 1}}, 1};
    const problem p{w, q};
    CHECK(test::place(heft{}, p) == placement{0, speed == 3 ? 1u : 0u}); // 8 against 8.67 or 7.33
    // Mean compute 2 + 2 / speed, mean send 0.5 + 0.5 / speed, transfer 1; 0 is allowed on the cpu only.
    const double rest = 2 + 2 / speed;
    CHECK(partition::list::upward_ranks(p)[1] == doctest::Approx(rest));
    CHECK(partition::list::upward_ranks(p)[0] == doctest::Approx(4 + 1 + 0.5 + 0.5 / speed + rest));
  }
}

TEST_CASE("heft: nothing is transferred between colocated ops") {
  auto b = test::ops_of({4, 4}, {{0, 1}}, 100);
  b.colocate(0, 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}}, {{.latency = 1, .bandwidth = 1}}, 1};
  const problem p{w, q};
  CHECK(partition::list::upward_ranks(p) == std::vector<double>{8, 4});
}

TEST_CASE("heft: the first member of a group decides for it, with the others' work in mind") {
  // 0 alone would go to device 1, which computes it in 1 second and 1 and 2 in 10 each; device 0 takes 2 for each.
  const double seconds[] = {2, 1, 2, 10, 2, 10};
  auto b = test::ops_of({1, 1, 1}, {{0, 1}, {0, 2}});
  b.colocate(0, 1);
  b.colocate(0, 2);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2);
  const problem p{w, q, cost::table{seconds, 3, 2}};
  CHECK(test::place(heft{}, p) == placement{0, 0, 0});
  CHECK(test::place(heft{.group_weight = 0}, p) == placement{1, 1, 1});
}

/// HEFT as the paper has it: no groups, kinds, memory, sends, or second slots. Returns the finish times.
template <class Problem>
std::vector<double> textbook_heft(const Problem& p, placement& where) {
  const auto n = p.num_ops();
  const auto k = p.num_devices();
  std::vector<double> rank(n, 0);
  const auto& w = p.workload();
  for (std::size_t i = n; i-- > 0;) {
    const op_id v = p.topological_order()[i];
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        rank[v] = std::max(rank[v], (k > 1 ? p.transfer_time(t, 0, 1) : 0) + rank[c]);
      }
    }
    for (const device_id d : ids(k)) {
      rank[v] += p.compute_time(v, d) / static_cast<double>(k);
    }
  }
  std::vector<op_id> list(p.topological_order().begin(), p.topological_order().end());
  std::stable_sort(list.begin(), list.end(), [&](op_id a, op_id b) { return rank[a] > rank[b]; });
  std::vector<std::vector<std::pair<double, double>>> busy(k);
  std::vector<double> finish(n, 0);
  where.assign(n, none);
  for (const op_id v : list) {
    double best = 1e300;
    for (const device_id d : ids(k)) {
      double ready = 0;
      for (const tensor_id t : w.inputs(v)) {
        const op_id u = w.producer(t);
        ready = std::max(ready, finish[u] + (where[u] == d ? 0 : p.transfer_time(t, where[u], d)));
      }
      double start = ready;
      for (const auto& [from, until] : busy[d]) { // ascending
        if (start + p.compute_time(v, d) <= from) {
          break;
        }
        start = std::max(start, until);
      }
      if (start + p.compute_time(v, d) < best) {
        best = start + p.compute_time(v, d);
        where[v] = d;
      }
    }
    finish[v] = best;
    busy[where[v]].emplace_back(best - p.compute_time(v, where[v]), best);
    std::sort(busy[where[v]].begin(), busy[where[v]].end());
  }
  return finish;
}

TEST_CASE("heft: without what goes beyond the paper, as the paper has it") {
  rng random{31};
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const std::size_t n = 2 + random.below(14);
    const std::size_t k = 1 + random.below(4);
    workload_builder b;
    std::vector<double> seconds;
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = 1, .bytes = 1 + random.below(1000)});
      for (op_id u = 0; u < v; ++u) {
        if (random.below(4) == 0) {
          b.add_edge(u, v);
        }
      }
      for (std::size_t d = 0; d < k; ++d) {
        seconds.push_back(random.uniform(1, 20)); // no ties
      }
    }
    const workload w = std::move(b).build();
    const platform<uniform_links> q{std::vector<device>(k), {{.bandwidth = 60}}};
    const problem p{w, q, cost::table{seconds, n, k}};
    placement where;
    const auto finish = textbook_heft(p, where);
    const auto run = run_as_planned(p);
    for (const op_id v : ids(n)) {
      CHECK(run.ops[v].device == where[v]);
      CHECK(run.ops[v].finish == doctest::Approx(finish[v]).epsilon(1e-12));
    }
  }
}

} // namespace partition_heft_test
