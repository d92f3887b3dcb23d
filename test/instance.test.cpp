// SPDX-License-Identifier: BSL-1.0
#include "weft/instance.hpp"

#include "mirrored.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/heft.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <vector>

namespace instance_test {

using namespace weft;
using weft::test::mirrored;

/// A platform of a type of its own.
struct borrowed {
  const platform<>* q;
  std::size_t num_devices() const { return q->num_devices(); }
  device_kind kind(device_id d) const { return q->kind(d); }
  byte_count memory_capacity(device_id d) const { return q->memory_capacity(d); }
  std::uint32_t slots(device_id d) const { return q->slots(d); }
  double speed(device_id d) const { return q->speed(d); }
  double latency(device_id from, device_id to) const { return q->latency(from, to); }
  double bandwidth(device_id from, device_id to) const { return q->bandwidth(from, to); }
  std::string_view name(device_id) const { return "lent"; }
};

/// Transfers that no line describes.
struct packets : cost::linear {
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P&, device_id from, device_id to) const {
    return static_cast<double>((w.bytes(t) / 4 + w.producer(t)) * (1 + from + 2 * to));
  }
};

/// Ops, components and times of an instance are the problem's.
template <class Problem>
void check_lowered(const Problem& p, const lowered_problem& numbers) {
  const instance& i = *numbers;
  REQUIRE(i.num_ops() == p.num_ops());
  REQUIRE(i.num_tensors() == p.num_tensors());
  REQUIRE(i.num_edges() == p.num_edges());
  REQUIRE(i.num_components() == p.num_components());
  for (component_id c = 0; c < p.num_components(); ++c) {
    REQUIRE(std::ranges::equal(i.members(c), p.members(c)));
    REQUIRE(i.demand(c) == p.demand(c));
    REQUIRE(i.kinds(c) == p.kinds(c));
  }
  for (const device_id d : ids(p.num_devices())) {
    REQUIRE(i.platform().kind(d) == p.platform().kind(d));
    REQUIRE(i.platform().slots(d) == p.platform().slots(d));
    REQUIRE(i.platform().memory_capacity(d) == p.platform().memory_capacity(d));
    REQUIRE(i.describe_device(d) == p.describe_device(d));
    for (const op_id v : ids(p.num_ops())) {
      REQUIRE(i.compute_time(v, d) == p.compute_time(v, d));
    }
    for (const device_id e : ids(p.num_devices())) {
      for (const tensor_id t : ids(d == e ? 0 : p.num_tensors())) {
        REQUIRE(i.transfer_time(t, d, e) == p.transfer_time(numbers.tensors().original(t), d, e));
        REQUIRE(i.send_time(t, d, e) == p.send_time(numbers.tensors().original(t), d, e));
      }
    }
  }
  for (const op_id v : ids(p.num_ops())) {
    REQUIRE(i.describe_op(v) == p.describe_op(v));
    REQUIRE(std::ranges::size(i.workload().inputs(v)) == std::ranges::size(p.workload().inputs(v)));
    for (const tensor_id t : i.workload().inputs(v)) {
      REQUIRE(std::ranges::count(p.workload().inputs(v), numbers.tensors().original(t)) == 1);
      REQUIRE(std::ranges::count(i.workload().consumers(t), v) == 1);
      REQUIRE(i.workload().producer(t) == p.workload().producer(numbers.tensors().original(t)));
      REQUIRE(i.workload().bytes(t) == p.workload().bytes(numbers.tensors().original(t)));
    }
  }
}

/// A plan for the numbers runs as well in the problem.
template <class Problem>
void check_best(const Problem& p, std::uint64_t seed) {
  const auto found = solve::best(p, {.moves = 300, .seed = seed});
  if (!found.has_plan()) {
    return;
  }
  simulator<Problem, schedule::static_order> runs{p};
  CHECK(runs.run(found.plan, simulate::no_observer{}).makespan == found.makespan);
  CHECK(found.makespan == solve::best(*lower(p), {.moves = 300, .seed = seed}).makespan);
}

TEST_CASE("lower: problems of all types") {
  rng random{21};
  for (std::uint64_t round = 0; round < 60; ++round) {
    const test::drawn x{random};
    const mirrored w{x.w};
    const borrowed q{&x.q};
    const auto check = [&](const auto& p) {
      const auto numbers = lower(p);
      check_lowered(p, numbers);
      check_best(p, round);
    };
    check(problem{x.w, x.q});
    check(problem{x.w, x.q, packets{}});
    check(problem{w, x.q});
    check(problem{x.w, q});
    check(problem{w, q, packets{}});
  }
}

TEST_CASE("lower: demands and capacities that are not the default") {
  rng random{22};
  const test::drawn x{random};
  const borrowed q{&x.q};
  const auto some = [&](const auto& p) { return p.with_demands(std::vector<byte_count>(p.num_components(), 3)); };
  CHECK(lower(some(problem{x.w, x.q}))->demand(0) == 3);
  CHECK(lower(some(problem{x.w, q}))->demand(0) == 3);
  const auto little = [&](const auto& p) { return p.with_capacities(std::vector<byte_count>(p.num_devices(), 4)); };
  CHECK(lower(little(problem{x.w, x.q}))->capacity(0) == 4);
  CHECK(lower(little(problem{x.w, q}))->capacity(0) == 4);
}

/// Ops for the first device only, which hold 60 + 30 + 30 bytes at a time.
workload too_large() {
  workload_builder b;
  const auto add = [&](byte_count bytes) {
    return b.add_op({.work = 1, .bytes = bytes, .kinds = device_kind::cpu});
  };
  const auto first = add(60);
  const auto second = add(30);
  const auto third = add(30);
  const auto last = add(0);
  b.add_edge(first, second);
  b.add_edge(second, third);
  b.add_edge(third, last);
  b.add_edge(first, last);
  return std::move(b).build();
}

TEST_CASE("solve::best: a shortage has the tensors of the problem, also on a network") {
  const auto made = too_large();
  const mirrored w{made};
  const platform<> q{{{.memory_capacity = 100}, {.kind = device_kind::gpu, .memory_capacity = 100}}, link_matrix{2}};
  const problem p{w, q};
  const auto check = [&](const solve::best_result& found) {
    CHECK_FALSE(found.has_plan());
    REQUIRE(found.shortage);
    REQUIRE(found.shortage->alive.size() == 3);
    for (const auto& t : found.shortage->alive) {
      CHECK(w.producer(t.tensor) == t.producer);
      CHECK(w.bytes(t.tensor) == t.bytes);
    }
    CHECK(found.shortage->alive[1].tensor < found.shortage->alive[2].tensor); // as large as each other
  };
  const solve::best_options over_time{.moves = 100, .memory = memory_rule::over_time};
  check(solve::best(p, over_time));
  check(solve::best(p, simulate::under{schedule::static_order{}, simulate::fair_sharing{}}, over_time));
}

TEST_CASE("solve::best: plans of workloads of other types on networks are as good in the problem") {
  rng random{24};
  for (std::uint64_t round = 0; round < 20; ++round) {
    const test::drawn x{random};
    const mirrored w{x.w};
    const problem p{w, x.q};
    const auto check = [&](const auto& network) {
      const simulate::under on{schedule::static_order{}, network};
      const auto found = solve::best(p, on, {.moves = 200, .seed = round});
      if (found.has_plan()) {
        simulate::simulator_under runs{p, on};
        CHECK(runs.run(found.plan, simulate::no_observer{}).makespan == found.makespan);
      }
    };
    check(simulate::fair_sharing{});
    check(simulate::port_contention{});
    check(simulate::any_network{contention_model::port});
  }
}

TEST_CASE("lower: costs that were lowered ask their model for the tensors of the problem") {
  rng random{25};
  for (int round = 0; round < 20; ++round) {
    const test::drawn x{random};
    const mirrored w{x.w};
    const problem p{w, x.q, cost::lowered{packets{}, w, x.q}};
    check_lowered(p, lower(p));
  }
}

TEST_CASE("lower: what heuristics read beside times") {
  rng random{26};
  for (int round = 0; round < 20; ++round) {
    const test::drawn x{random};
    const mirrored w{x.w};
    const problem p{w, x.q};
    const auto numbers = lower(p);
    for (const op_id v : ids(w.num_ops())) {
      CHECK(numbers->workload().work(v) == w.work(v));
      CHECK(numbers->workload().type(v) == w.type(v));
      CHECK(numbers->workload().role(v) == role_of(w, v));
    }
  }
}

/// In the plan's order, by a type of its own, of which only its author knows what it does.
struct own_order : schedule::static_order {};
static_assert(solve::detail::needs_numbers_only<schedule::static_order, problem<mirrored, borrowed>>);
static_assert(!solve::detail::needs_numbers_only<own_order, problem<workload, platform<>>>);

TEST_CASE("heft: a workload may return its lists by value, also where transfers are lines") {
  rng random{25};
  for (int round = 0; round < 20; ++round) {
    const test::drawn x{random};
    const mirrored w{x.w};
    const problem p{w, x.q};
    workspace scratch;
    const auto found = partition::run(partition::heft{}, p, random, scratch);
    REQUIRE(found.has_value() == partition::run(partition::heft{}, *lower(p), random, scratch).has_value());
    if (found) {
      CHECK(simulator<std::remove_const_t<decltype(p)>, schedule::static_order>{p}.run(found->plan).complete);
    }
  }
}

TEST_CASE("lower: nothing is kept for each pair of thousands of devices that are joined alike") {
  workload_builder b;
  const op_id v = b.add_op({.work = 1, .bytes = 8}), u = b.add_op({.work = 2});
  b.add_edge(v, u);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{std::vector<device>(2'000), uniform_links{{1e-6, 1e9}}};
  const auto numbers = lower(problem{w, q});
  CHECK(numbers->platform().links().are_alike()); // one link for all
  const auto line = [&](device_id from, device_id to) {
    return &numbers->cost().transfer_line(numbers->workload(), numbers->platform(), from, to);
  };
  CHECK(line(0, 1) == line(1'999, 1'000));
}

TEST_CASE("throughput::best: its period is the problem's") {
  rng random{23};
  int found = 0;
  for (int round = 0; round < 20; ++round) {
    const test::drawn x{random};
    const mirrored w{x.w};
    const borrowed q{&x.q};
    const problem p{w, q};
    rng seed{1};
    if (const auto a = throughput::best{.rounds = 2, .moves_per_round = 200}(p, seed)) {
      CHECK(throughput::period(p, a->placement) == doctest::Approx(a->period).epsilon(1e-12));
      ++found;
    }
  }
  CHECK(found > 5);
}

} // namespace instance_test
