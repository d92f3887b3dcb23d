// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/traffic.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace partition_traffic_test {

using namespace weft;
using test::drawn_problem;

TEST_CASE("added_traffic: what a component adds, on each device, is the difference of the totals") {
  rng random{11};
  std::size_t groups = 0;
  for (int round = 0; round < 1000; ++round) {
    CAPTURE(round);
    const test::drawn s{random};
    const auto goal = test::random_placement(random, s.p);
    partition::assignment a{s.p};
    partition::added_traffic<drawn_problem> traffic{s.p};
    placement where(s.p.num_ops(), none);
    std::vector<component_id> sequence(s.p.num_components());
    for (component_id c = 0; c < sequence.size(); ++c) {
      sequence[c] = c;
    }
    random.shuffle(sequence);
    for (const component_id c : sequence) {
      groups += s.p.is_group(c);
      const auto added = traffic.of(c, a);
      for (const device_id d : ids(s.p.num_devices())) {
        auto there = where;
        for (const op_id v : s.p.members(c)) {
          there[v] = d;
        }
        CHECK(added[d] == test::total_traffic(s.p, there) - test::total_traffic(s.p, where)); // all sums are exact
      }
      const device_id d = goal[s.p.members(c).front()];
      a.place(c, d);
      for (const op_id v : s.p.members(c)) {
        where[v] = d;
      }
    }
  }
  CHECK(groups > 500);
}

TEST_CASE("added_traffic: members of a group that read the same tensor") {
  auto b = test::ops_of({1, 1, 1}, {{0, 1}, {0, 2}});
  b.colocate(1, 2);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2);
  const problem p{w, q};
  partition::assignment a{p};
  partition::added_traffic traffic{p};
  a.place(p.component(0), 0);
  const auto added = traffic.of(p.component(1), a);
  CHECK(added[0] == 0);
  CHECK(added[1] == 1); // one transfer serves both
}

TEST_CASE("execution_and_traffic: the normalised product") {
  // Device 0 is busy for 2 seconds with the producer; a transfer takes 1 second.
  const workload w = test::ops_of({2, 6}, {{0, 1}}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 2}, {.speed = 4}}, {{.latency = 1}}};
  const problem p{w, q};
  partition::assignment a{p};
  a.place(0, 0);
  partition::execution_and_traffic value{p, 0.25};
  value.look_at(1, a);
  CHECK(value.own_seconds(0) == 6);
  CHECK(value.own_seconds(1) == 3);
  CHECK(value.own_seconds(2) == 1.5);
  CHECK(value.product(0) == 0.25); // no traffic; (2 + 6) / 8
  CHECK(value.product(1) == 3.0 / 8);
  CHECK(value.product(2) == 1.5 / 8);
  CHECK(value.term(0) == 0.25);
  CHECK(value.term(0.1) == 0.1);
}

TEST_CASE("execution_and_traffic: devices that do not fit do not count") {
  workload_builder b;
  b.add_op({.work = 2, .bytes = 0});
  b.add_op({.work = 8, .kinds = device_kind::gpu});
  b.add_edge(0, 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{
    {{.kind = device_kind::cpu}, {.kind = device_kind::gpu, .speed = 2}, {.kind = device_kind::gpu, .speed = 4}},
    {{.latency = 1}}};
  const problem p{w, q};
  partition::assignment a{p};
  a.place(0, 0);
  partition::execution_and_traffic value{p, 0.25};
  value.look_at(1, a);
  CHECK(value.product(1) == 1); // the slowest of those that fit
  CHECK(value.product(2) == 0.5);
}

} // namespace partition_traffic_test
