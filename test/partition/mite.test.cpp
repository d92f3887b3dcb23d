// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/importance.hpp"
#include "weft/partition/mite.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace partition_mite_test {

using namespace weft;
using partition::mite;
using test::place;

TEST_CASE("mite: groups with the largest demand first, then single ops in topological order") {
  // Every device has room for one component, so the d-th to be placed is on device d.
  workload_builder b;
  for (const byte_count bytes : {30u, 30u, 40u, 40u, 35u, 35u, 60u, 60u, 60u}) {
    b.add_op({.work = 1, .bytes = 0, .resident_bytes = bytes});
  }
  b.colocate(0, 1);
  b.colocate(2, 3);
  b.colocate(4, 5);
  b.add_edge(8, 6);
  b.add_edge(8, 7);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(6, {.memory_capacity = 100});
  CHECK(place(mite{}, problem{w, q}) == placement{2, 2, 0, 0, 1, 1, 4, 5, 3});
}

TEST_CASE("mite: groups of equal demand in their order") {
  auto b = test::ops_of({1, 1, 1, 1}, {}, 30);
  b.colocate(2, 3);
  b.colocate(0, 1);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2, {.memory_capacity = 100});
  CHECK(place(mite{}, problem{w, q}) == placement{0, 0, 1, 1});
}

TEST_CASE("mite: of equal devices, the one whose memory is less in use") {
  workload_builder b;
  b.add_op({.work = 0, .resident_bytes = 25});
  b.add_op({.work = 0, .resident_bytes = 25});
  b.add_op({.work = 1});
  b.colocate(0, 1);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2, {.memory_capacity = 100});
  CHECK(place(mite{}, problem{w, q}) == placement{0, 0, 1});
}

TEST_CASE("mite: what is important goes to the fast device, the rest need not") {
  // 0: execution 1 and 0.5, importance 0.5 and `zero_term`. 1: execution 0.2 and 1, importance 1 - 1/18 and 1 - 1/9.
  const workload w = test::ops_of({9, 1}, {}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 2}}, {}};
  CHECK(place(mite{}, problem{w, q}) == placement{1, 0});
}

TEST_CASE("mite: a consumer follows its producer, unless nothing counts as much as a zero") {
  // On device 0: traffic 0, execution 1, memory 0.1. On device 1: traffic 1, execution 0.5, memory 0.01.
  const workload w = test::ops_of({2, 2}, {{0, 1}}, 10).build();
  const auto q = test::equal_devices(2, {.memory_capacity = 200});
  CHECK(place(mite{}, problem{w, q}) == placement{0, 0});
  CHECK(place(mite{.zero_term = 1}, problem{w, q}) == placement{0, 1});
}

TEST_CASE("mite: each choice minimises the product of the four terms") {
  rng random{21};
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.capacity = byte_count{1} << (8 + random.below(3))}};
    const auto& p = s.p;
    const auto decided = test::decide(mite{}, p);
    if (!decided) {
      continue;
    }
    const auto& chosen = decided->plan.placement;
    const auto importance = partition::importance(p);
    const double most = *std::max_element(importance.begin(), importance.end());
    std::vector<component_id> sequence;
    for (component_id c = 0; c < p.num_components(); ++c) {
      if (p.is_group(c)) {
        sequence.push_back(c);
      }
    }
    std::stable_sort(sequence.begin(), sequence.end(), [&](auto x, auto y) { return p.demand(x) > p.demand(y); });
    for (const op_id v : p.topological_order()) {
      if (!p.is_group(p.component(v))) {
        sequence.push_back(p.component(v));
      }
    }
    placement where(p.num_ops(), none);
    std::vector<double> used(p.num_devices(), 0);
    std::vector<double> load(p.num_devices(), 0);
    const double capacity = static_cast<double>(s.q.memory_capacity(0));
    for (const component_id c : sequence) {
      const auto demand = static_cast<double>(p.demand(c));
      std::vector<device_id> fitting;
      std::vector<double> traffic;
      std::vector<double> execution;
      std::vector<double> seconds;
      double least_share = 1;
      for (const device_id d : ids(p.num_devices())) {
        if (!p.kinds(c).contains(s.q.kind(d)) || used[d] + demand > capacity) {
          continue;
        }
        fitting.push_back(d);
        auto there = where;
        for (const op_id v : p.members(c)) {
          there[v] = d;
        }
        traffic.push_back(test::total_traffic(p, there) - test::total_traffic(p, where));
        seconds.push_back(p.component_time(c, d));
        execution.push_back(load[d] + seconds.back());
        least_share = used[d] > 0 ? std::min(least_share, used[d] / capacity) : least_share;
      }
      double mean = 0;
      for (const op_id v : p.members(c)) {
        mean += importance[v] / static_cast<double>(p.members(c).size());
      }
      const auto largest = [](const auto& x) { return *std::max_element(x.begin(), x.end()); };
      const auto positive = [](double x) { return x < 1e-12 ? 1e-6 : x; };
      std::vector<double> product;
      for (std::size_t i = 0; i < fitting.size(); ++i) {
        const double fastest = *std::min_element(seconds.begin(), seconds.end());
        const double speed = seconds[i] > 0 ? fastest / seconds[i] : 1;
        const double share = used[fitting[i]] / capacity;
        product.push_back((largest(traffic) > 0 ? positive(traffic[i] / largest(traffic)) : 1) *
                          (largest(execution) > 0 ? positive(execution[i] / largest(execution)) : 1) *
                          positive(1 - (most > 0 ? mean / most : 0) * speed) * (share > 0 ? share : least_share / 10));
      }
      const device_id d = chosen[p.members(c).front()];
      const auto at = std::find(fitting.begin(), fitting.end(), d);
      REQUIRE(at != fitting.end());
      const double least = *std::min_element(product.begin(), product.end());
      CHECK(product[static_cast<std::size_t>(at - fitting.begin())] <= least * (1 + 1e-9));
      for (const op_id v : p.members(c)) {
        where[v] = d;
      }
      used[d] += demand;
      load[d] += p.component_time(c, d);
    }
    CHECK(where == chosen);
  }
}

} // namespace partition_mite_test
