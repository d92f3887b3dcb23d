// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/bound/best.hpp"
#include "weft/platform/identical.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <stop_token>
#include <vector>

namespace refine_identical_devices_test {

using namespace weft;
using refine::identical_devices;

template <class Problem>
double run_in_order(const Problem& p, const plan& decided) {
  CHECK(validate(p, decided).empty());
  simulator<Problem, schedule::static_order> sim{p};
  const auto result = sim.run(decided);
  CHECK(result.complete);
  return result.makespan;
}

/// The least makespan on identical machines: every sequence of the ops, each started as early as it can on the machine
/// that is free first.
template <class Problem>
class all_sequences {
public:
  all_sequences(const Problem& p, std::size_t machines) : p_{p}, free_(machines, 0.0), finish_(p.num_ops(), -1.0) {}
  double least() {
    extend(0, 0);
    return best_;
  }

private:
  void extend(std::size_t done, double makespan) {
    if (makespan >= best_) {
      return;
    }
    if (done == p_.num_ops()) {
      best_ = makespan;
      return;
    }
    for (const op_id v : ids(p_.num_ops())) {
      double start = finish_[v] < 0 ? *std::min_element(free_.begin(), free_.end()) : -1;
      for (const tensor_id t : p_.workload().inputs(v)) {
        const double there = finish_[p_.workload().producer(t)];
        start = start < 0 || there < 0 ? -1 : std::max(start, there);
      }
      if (start < 0) {
        continue;
      }
      const auto machine = std::min_element(free_.begin(), free_.end());
      const double was = *machine;
      finish_[v] = *machine = start + p_.compute_time(v, 0);
      extend(done + 1, std::max(makespan, finish_[v]));
      finish_[v] = -1;
      *machine = was;
    }
  }

  const Problem& p_;
  std::vector<double> free_;
  std::vector<double> finish_;
  double best_ = std::numeric_limits<double>::infinity();
};

struct small_graph {
  workload w;
  platform<> q;
  std::size_t machines = 0;
};

/// Up to 7 ops, some without work, some alike; whole, half or odd times; devices with one or two slots.
small_graph random_graph(rng& random) {
  workload_builder b;
  const std::size_t n = 1 + random.below(7);
  const double unit = random.below(3) == 0 ? 0.5 : random.below(2) == 0 ? 1.0 : 0.1;
  const std::size_t longest = 2 + random.below(6);
  for (std::size_t v = 0; v < n; ++v) {
    b.add_op({.work = unit * random.below(longest)});
  }
  const std::size_t density = 1 + random.below(4);
  for (op_id v = 1; v < n; ++v) {
    for (op_id u = 0; u < v; ++u) {
      if (random.below(6) < density) {
        b.add_control_edge(u, v);
      }
    }
  }
  small_graph s{std::move(b).build(), {}, 0};
  std::vector<device> devices(1 + random.below(2));
  for (auto& d : devices) {
    d.slots = 1 + random.below(2);
    s.machines += d.slots;
  }
  link_matrix links{devices.size()};
  s.q = platform<>{std::move(devices), std::move(links)};
  return s;
}

TEST_CASE("identical_devices: as good as trying every sequence, and proven") {
  rng random{7};
  int searched = 0;
  for (int round = 0; round < 4000; ++round) {
    CAPTURE(round);
    const auto s = random_graph(random);
    const problem p{s.w, s.q};
    REQUIRE(identical_devices::applies(p));
    const double least = all_sequences{p, s.machines}.least();
    const auto found = test::decide(identical_devices{}, p, static_cast<std::uint64_t>(round));
    REQUIRE(found);
    const double makespan = run_in_order(p, found->plan);
    CHECK(makespan == doctest::Approx(least));
    CHECK(found->bound == doctest::Approx(makespan));
    CHECK(found->bound <= makespan * (1 + 1e-12));
    searched += bound::best(p).value < least * (1 - 1e-9);
  }
  CHECK(searched > 50); // where simpler bounds prove nothing
}

TEST_CASE("identical_devices: bounds hold however early the search ends") {
  rng random{8};
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    const auto s = random_graph(random);
    const problem p{s.w, s.q};
    const double least = all_sequences{p, s.machines}.least();
    const auto found = test::decide(identical_devices{.budget = {.moves = random.below(12)}}, p);
    REQUIRE(found);
    CHECK(found->bound <= least * (1 + 1e-9));
    CHECK(run_in_order(p, found->plan) >= least * (1 - 1e-12));
  }
}

TEST_CASE("identical_devices: ops without work that others wait for") {
  const auto w = std::move(test::ops_of({1, 0, 0, 3, 2, 4, 4, 3},
                                        {{0, 1}, {1, 2}, {0, 3}, {0, 4}, {2, 4}, {0, 5}, {2, 7}, {3, 7}, {5, 7}}))
                   .build();
  const auto q = presets::identical(2);
  const problem p{w, q};
  const auto found = test::decide(identical_devices{}, p);
  REQUIRE(found);
  CHECK(found->bound == 9);
  CHECK(run_in_order(p, found->plan) == 9);
}

TEST_CASE("identical_devices: ops so short that they do not count beside when they start") {
  for (const auto& work : {std::vector<double>{1e16, 1, 0}, {0, 1, 1e16}, {1, 1e16, 0.5}, {1e16, 0.25, 0.5}}) {
    workload_builder b;
    for (const double x : work) {
      b.add_op({.work = x, .bytes = 0});
    }
    b.add_edge(0, 1);
    b.add_edge(1, 2);
    const auto w = std::move(b).build();
    const auto q = presets::identical(2);
    const problem p{w, q};
    const auto found = test::decide(identical_devices{}, p);
    REQUIRE(found);
    CHECK(run_in_order(p, found->plan) == 1e16);
  }
}

TEST_CASE("identical_devices: with slots, a device takes its steps in the order of their starts") {
  const auto w = std::move(test::ops_of({1, 2, 4, 4, 6, 3, 4, 2},
                                        {{0, 2}, {0, 3}, {2, 4}, {3, 4}, {0, 6}, {2, 6}, {4, 6}, {0, 7}, {2, 7}}))
                   .build();
  const platform<> q{{{.slots = 1}, {.slots = 2}}, link_matrix{2}};
  const problem p{w, q};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto found = test::decide(identical_devices{}, p, seed);
    REQUIRE(found);
    CHECK(found->bound == 15);
    CHECK(run_in_order(p, found->plan) == 15);
  }
}

TEST_CASE("identical_devices: idle time that a list schedule does not leave can be needed") {
  // Op 0 makes way for the chain 1-2-3; who starts 4 at once because a device is free delays it.
  const auto w = std::move(test::ops_of({1, 1, 4, 4, 6, 6}, {{0, 2}, {1, 2}, {1, 3}})).build();
  const auto q = presets::identical(2);
  const problem p{w, q};
  const auto found = test::decide(identical_devices{}, p);
  REQUIRE(found);
  CHECK(found->bound == all_sequences{p, 2}.least());
}

TEST_CASE("identical_devices: the same seed and number of nodes give the same plan") {
  rng random{9};
  workload_builder b;
  for (int v = 0; v < 60; ++v) {
    b.add_op({.work = 1.0 + random.below(20)});
    if (v > 4) {
      b.add_control_edge(static_cast<op_id>(random.below(static_cast<std::size_t>(v))), static_cast<op_id>(v));
    }
  }
  const auto w = std::move(b).build();
  const auto q = presets::identical(4);
  const problem p{w, q};
  const identical_devices limited{.budget = {.moves = 2000}};
  const auto once = test::decide(limited, p, 3);
  const auto again = test::decide(limited, p, 3);
  REQUIRE(once);
  REQUIRE(again);
  CHECK(once->plan == again->plan);
  CHECK(once->bound == again->bound);
}

TEST_CASE("identical_devices: stops when it is asked to") {
  rng random{9};
  const auto s = random_graph(random);
  const problem p{s.w, s.q};
  std::stop_source stop;
  stop.request_stop();
  const auto token = stop.get_token();
  const auto found = test::decide(identical_devices{.budget = {.stop = &token}}, p);
  REQUIRE(found);
  CHECK(run_in_order(p, found->plan) >= found->bound);
}

TEST_CASE("identical_devices: graphs beyond the search get a list schedule and a bound") {
  workload_builder b;
  for (op_id v = 0; v < identical_devices::max_ops + 10; ++v) {
    b.add_op({.work = 1.0 + v % 7});
    if (v % 3 != 0) {
      b.add_control_edge(v - 1, v);
    }
  }
  const auto w = std::move(b).build();
  const auto q = presets::identical(8);
  const problem p{w, q};
  const auto found = test::decide(identical_devices{}, p);
  REQUIRE(found);
  const double makespan = run_in_order(p, found->plan);
  CHECK(found->bound <= makespan);
  CHECK(makespan <= found->bound * 1.01);
}

TEST_CASE("identical_devices: what it applies to") {
  const auto applies = [](const workload& w, const platform<>& q) { return identical_devices::applies(problem{w, q}); };
  const auto w = std::move(test::ops_of({1, 2, 3}, {{0, 1}}, 8)).build();
  CHECK(applies(w, presets::identical(3)));
  CHECK(applies(std::move(workload_builder{}).build(), presets::identical(3)));
  const auto one = presets::identical(1);
  CHECK(test::decide(identical_devices{}, problem{w, one})->bound == 6);

  const std::vector<device> two(2);
  CHECK_FALSE(applies(w, platform<>{two, link_matrix{2, {.latency = 1}}}));
  CHECK_FALSE(applies(w, platform<>{two, link_matrix{2, {.bandwidth = 1}}}));
  CHECK_FALSE(applies(w, platform<>{two, link_matrix{2}, 1})); // sends
  CHECK_FALSE(applies(w, platform<>{{{.speed = 1}, {.speed = 2}}, link_matrix{2}}));
  CHECK_FALSE(applies(w, platform<>{{{.memory_capacity = 31}, {}}, link_matrix{2}}));
  CHECK(applies(w, platform<>{{{.memory_capacity = 32}, {.slots = 3}}, link_matrix{2}}));

  workload_builder kinds;
  kinds.add_op({.work = 1, .kinds = device_kind::gpu});
  const auto on_gpu = workload_builder{kinds}.build();
  CHECK(applies(on_gpu, platform<>{{{.kind = device_kind::gpu}, {.speed = 3}}, link_matrix{2}})); // one is never used
  CHECK_FALSE(applies(on_gpu, presets::identical(2)));                                             // so are both
  kinds.add_op({.work = 1});
  CHECK_FALSE(applies(std::move(kinds).build(), platform<>{{{.kind = device_kind::gpu}, {}}, link_matrix{2}}));
  CHECK(applies(on_gpu, platform<>{{{.kind = device_kind::gpu}, {.kind = device_kind::gpu}}, link_matrix{2}}));

  workload_builder groups;
  groups.add_op({.work = 1});
  groups.add_op({.work = 1});
  groups.colocate(0, 1);
  CHECK_FALSE(applies(std::move(groups).build(), presets::identical(2)));
}

TEST_CASE("identical_devices: devices on which no op may run do not count") {
  rng random{8};
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    const auto n = 3 + static_cast<op_id>(random.below(12));
    workload_builder b;
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = 1.0 + random.below(9), .bytes = 0, .kinds = device_kind::cpu});
      for (op_id u = 0; u < v; ++u) {
        if (random.below(4) == 0) {
          b.add_edge(u, v);
        }
      }
    }
    const auto w = std::move(b).build();
    std::vector<device> devices(3);
    const platform<> alone{devices, link_matrix{3}};
    devices.insert(devices.begin() + 1, {.kind = device_kind::gpu, .speed = 100, .memory_capacity = 0, .slots = 7});
    link_matrix links{4};
    links.connect(1, 2, {.latency = 1});
    const platform<> mixed{devices, links};
    const problem p{w, alone};
    const problem q{w, mixed};
    REQUIRE(identical_devices::applies(q));
    const auto found = test::decide(identical_devices{}, p);
    const auto also = test::decide(identical_devices{}, q);
    CHECK(also->bound == found->bound);
    CHECK(run_in_order(q, also->plan) == run_in_order(p, found->plan));
  }
}

TEST_CASE("identical_devices: no ops") {
  const workload w = workload_builder{}.build();
  const auto q = presets::identical(2);
  const auto found = test::decide(identical_devices{}, problem{w, q});
  REQUIRE(found);
  CHECK(found->plan.placement.empty());
  CHECK(found->bound == 0);
}

} // namespace refine_identical_devices_test
