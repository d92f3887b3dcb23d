// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/cost/compose.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/list/sort_by_key.hpp"
#include "weft/platform/generate.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace partition_list_scheduler_test {

using namespace weft;
using partition::list::row_path;
using partition::list::sort_by_key;

using plain_heft = partition::list_scheduler<partition::list::by_upward_rank,
                                             partition::list::least<partition::list::finish_time>, schedule::timeline,
                                             row_path::plain>;

template <class Problem>
void check_both_paths(const Problem& p) {
  const auto fast = test::decide(partition::heft{}, p);
  const auto plain = test::decide(plain_heft{}, p);
  REQUIRE(fast.has_value() == plain.has_value());
  if (fast) {
    CHECK(fast->plan == plain->plan);
    CHECK(validate(p, fast->plan).empty());
  } else {
    CHECK(fast.error() == plain.error());
  }
}

TEST_CASE("list_scheduler: rows from reciprocals decide what the cost model decides") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    rng random{seed};
    const auto width = 1 + random.below(40);
    generate::layered_dag_options o;
    o.shape = {.min_width = 1, .max_width = width, .num_ops = 1 + random.below(400), .in_degree = random.uniform(0, 6)};
    o.max_work = 1 + random.below(100);
    o.max_bytes = 1 + random.below(100);
    const workload w = generate::layered(o, seed);
    const std::uint32_t k = 1 + random.below(70);
    const auto matrix = generate::heterogeneous(
      {.devices = k,
       .memory_times_speed = seed % 3 == 0 ? 50'000u + random.below(500'000) : std::uint64_t{1} << 62,
       .send_work = seed % 2 == 0 ? 0.0 : 10.0},
      seed);
    check_both_paths(problem{w, matrix});
    auto devices = matrix.devices();
    for (auto& d : devices) {
      d.slots = 1 + random.below(3);
      d.speed = seed % 4 == 0 ? 10 : d.speed; // ties on all devices
    }
    const platform<uniform_links> uniform{devices, {{.latency = seed % 5 == 0 ? 0.5 : 0, .bandwidth = 35}}};
    check_both_paths(problem{w, uniform});
  }
}

/// A model without what it states.
template <class Base>
struct silent {
  Base base;
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return base.compute_time(w, v, p, d);
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
  double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return base.send_time(w, t, p, from, to);
  }
};

TEST_CASE("list_scheduler: what wrapped and tabulated costs state changes no plan") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    rng random{seed};
    generate::layered_dag_options o;
    o.shape = {.min_width = 1, .max_width = 20, .num_ops = 1 + random.below(300), .in_degree = random.uniform(0, 6)};
    o.max_work = 1 + random.below(100);
    o.max_bytes = 1 + random.below(100);
    const workload w = generate::layered(o, seed);
    const auto devices =
      generate::heterogeneous({.devices = 1 + random.below(20),
                               .memory_times_speed = seed % 3 == 0 ? 500'000 : std::uint64_t{1} << 62,
                               .send_work = seed % 2 == 0 ? 0.0 : 10.0},
                              seed);
    auto few = devices.devices();
    for (device& d : few) {
      d.speed = d.kind == device_kind::cpu ? 10 : 30;
    }
    const platform<uniform_links> alike{few, {{.latency = seed % 5 == 0 ? 0.5 : 0, .bandwidth = 35}}};
    const auto check = [&](const auto& q) {
      const problem p{w, q};
      check_both_paths(p.with_costs(cost::scaled{p.cost(), 1.1, 0.7}));
      check_both_paths(p.with_costs(cost::perturbed{p.cost(), 0.1, seed}));
      check_both_paths(p.with_costs(cost::cached{cost::scaled{p.cost(), 1.1, 0.7}, w, q}));
      const cost::tabulated table{cost::perturbed{p.cost(), seed % 4 == 0 ? 0 : 0.1, seed}, w, q};
      check_both_paths(p.with_costs(table));
      const auto tabulated = p.with_costs(table);
      const partition::list::mean_costs fast{tabulated};
      const auto asked = p.with_costs(silent<cost::tabulated>{table});
      const partition::list::mean_costs slow{asked};
      for (const op_id v : ids(w.num_ops())) {
        CHECK(fast.compute(v) == slow.compute(v)); // the same sums in the same order
      }
    };
    check(devices);
    check(alike);
  }
}

TEST_CASE("list_scheduler: times that are none are found in tables, too") {
  const workload w = test::ops_of({3, 1, 2, 5}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 7).build();
  const auto two = test::equal_devices(2);
  const cost::from_function broken{[](op_id v, device_id d) { return v == 2 && d == 1 ? -1.0 : 1.0; }};
  const problem p{w, two, cost::tabulated{broken, w, two}};
  CHECK_THROWS_WITH_AS(test::decide(partition::heft{}, p), doctest::Contains("compute_time of op 2"), value_error);
}

TEST_CASE("list_scheduler: rates that have no useful reciprocal") {
  for (const double bandwidth : {1e-300, 1e300, std::numeric_limits<double>::infinity()}) {
    const workload w = test::ops_of({3, 1, 2, 5}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 7).build();
    for (const double speed : {1e-300, 1.0, 1e300}) {
      const platform<uniform_links> q{{{.speed = speed}, {.speed = 2 * speed}}, {{.bandwidth = bandwidth}}};
      check_both_paths(problem{w, q});
    }
  }
}

TEST_CASE("list_scheduler: nothing to schedule, no outputs, no bytes, one device") {
  const auto two = test::equal_devices(2);
  const workload empty = workload_builder{}.build();
  const auto nothing = test::decide(partition::heft{}, problem{empty, two});
  REQUIRE(nothing);
  CHECK(nothing->plan == plan{});

  workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 0, .bytes = 0});
  b.add_op({.work = 2});
  b.add_edge(1, 2);
  const workload w = std::move(b).build();
  const auto one = test::equal_devices(1);
  const auto decided = test::decide(partition::heft{}, problem{w, one});
  REQUIRE(decided);
  CHECK(decided->plan.placement == placement{0, 0, 0});
  CHECK(decided->plan.order == order{step::run(1), step::run(2), step::run(0)});
}

TEST_CASE("list_scheduler: what fits nowhere is named") {
  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 60});
  b.add_op({.work = 2, .resident_bytes = 60});
  b.add_op({.work = 3, .resident_bytes = 60});
  const workload w = std::move(b).build();
  const auto tight = test::equal_devices(2, {.memory_capacity = 100});
  const auto full = test::decide(partition::heft{}, problem{w, tight});
  REQUIRE_FALSE(full);
  CHECK(full.error() == infeasibility{infeasibility::kind::out_of_memory, 0, 1, kind_set::all(), 60, 40});

  workload_builder c;
  c.add_op({.work = 1, .kinds = device_kind::gpu});
  const workload g = std::move(c).build();
  const auto none_of_kind = test::decide(partition::heft{}, problem{g, tight});
  REQUIRE_FALSE(none_of_kind);
  CHECK(none_of_kind.error().cause == infeasibility::kind::no_device_of_kind);
}

TEST_CASE("sort_by_key: sorts by the key, then by what tells equal keys apart, and is stable") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    rng random{seed};
    const std::size_t n = random.below(300);
    std::vector<double> key;
    std::vector<int> second;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < n; ++i) {
      const double u = random.uniform();
      key.push_back(seed % 4 == 0   ? u
                    : seed % 4 == 1 ? static_cast<double>(random.below(3))
                    : seed % 4 == 2 ? (u < 0.9 ? u * 1e-12 : 1e12 * u) // nearly all in one bucket
                                    : 1.0);
      second.push_back(static_cast<int>(random.below(2)));
      order.push_back(i);
    }
    auto expected = order;
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
      return key[a] != key[b] ? key[a] < key[b] : second[a] < second[b];
    });
    workspace scratch;
    sort_by_key(
      std::span{order}, [&](std::uint32_t i) { return key[i]; },
      [&](std::uint32_t a, std::uint32_t b) { return second[a] < second[b]; }, scratch);
    CHECK(order == expected);
  }
}

} // namespace partition_list_scheduler_test
