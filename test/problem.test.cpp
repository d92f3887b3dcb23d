// SPDX-License-Identifier: BSL-1.0
#include "weft/problem.hpp"

#include "weft/cost/compose.hpp"
#include "weft/cost/table.hpp"
#include "weft/platform/archetype.hpp"
#include "weft/workload/annotated_graph.hpp"
#include "weft/workload/archetype.hpp"

#include "support/cyclic.hpp"
#include "support/graphs.hpp"
#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace problem_test {

using namespace weft;

std::vector<op_id> list(std::span<const op_id> range) { return {range.begin(), range.end()}; }

constexpr double at_compile_time() {
  const test::int_lists g{{1, 2}, {}, {}};
  const double work[] = {1, 2, 3};
  const byte_count bytes[] = {8, 0, 0};
  const group_id groups[] = {none, 0, 0};
  const annotated_graph w{g, {.work = work, .bytes = bytes, .groups = groups}};
  const platform<uniform_links> p{{{.speed = 2}}, {}};
  const problem problem{w, p};
  return problem.component_time(0, 0) * 100 + static_cast<double>(problem.demand(0)) +
         static_cast<double>(problem.num_components());
}
static_assert(at_compile_time() == 250 + 16 + 2);

TEST_CASE("problem: knows its parts and asks the cost model") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const problem problem{w, p};
  static_assert(std::is_same_v<decltype(problem)::cost_type, cost::linear>);
  CHECK(&problem.workload() == &w);
  CHECK(&problem.platform() == &p);
  CHECK(problem.num_ops() == 4);
  CHECK(problem.num_tensors() == 4);
  CHECK(problem.num_devices() == 3);
  CHECK(problem.num_edges() == 5);
  CHECK(problem.compute_time(2, 1) == 1.5);
  CHECK(problem.transfer_time(1, 0, 2) == 5);
  CHECK(problem.send_time(1, 0, 2) == 0.5);
}

TEST_CASE("problem: keeps a copy of the cost model") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const problem scaled{w, p, cost::scaled{cost::linear{}, 2, 3}};
  CHECK(scaled.compute_time(2, 1) == 3);
  CHECK(scaled.send_time(1, 0, 2) == 1.5);
  const std::vector<double> seconds(12, 7);
  const problem profiled{w, p, cost::table{seconds, 4, 3}};
  CHECK(profiled.compute_time(3, 0) == 7);
  const problem written{w, p, cost::from_function{[&](op_id v, device_id) { return w.work(v); }}};
  CHECK(written.compute_time(3, 0) == 40);
}

TEST_CASE("problem: a cost model without send times sends for free") {
  struct bare {
    double compute_time(const workload&, op_id, const platform<>&, device_id) const { return 1; }
    double transfer_time(const workload&, tensor_id, const platform<>&, device_id, device_id) const { return 2; }
  };
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const problem problem{w, p, bare{}};
  CHECK(problem.send_time(0, 0, 1) == 0);
  CHECK(problem.transfer_time(0, 0, 1) == 2);
}

TEST_CASE("problem: ops come after what they consume, also through several tensors") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  CHECK(list(problem{w, p}.topological_order()) == std::vector<op_id>{0, 1, 2, 3});

  rng random{5};
  for (int round = 0; round < 20; ++round) {
    const std::size_t n = random.below(20) + 1u;
    const auto arcs = test::random_dag(n, 0.3, random);
    const auto g = test::make_graph<test::int_lists>(n, arcs);
    const std::vector<double> work(n, 1);
    const annotated_graph annotated{g, {.work = work}};
    CHECK(list(problem{annotated, p}.topological_order()) == graph::topological_order(g));
  }
}

TEST_CASE("problem: components are the groups, then the single ops, each by smallest op") {
  auto b = test::diamond_builder();
  for (int v = 4; v < 7; ++v) {
    b.add_op({.work = 1, .resident_bytes = 7});
  }
  b.colocate(3, 1);
  b.colocate(5, 2);
  const workload w = std::move(b).build();
  const platform<> p = test::three_devices();
  const problem problem{w, p};
  REQUIRE(problem.num_components() == 5);
  CHECK(list(problem.members(0)) == std::vector<op_id>{1, 3});
  CHECK(list(problem.members(1)) == std::vector<op_id>{2, 5});
  CHECK(list(problem.members(2)) == std::vector<op_id>{0});
  CHECK(list(problem.members(3)) == std::vector<op_id>{4});
  CHECK(list(problem.members(4)) == std::vector<op_id>{6});
  CHECK(problem.is_group(1));
  CHECK_FALSE(problem.is_group(2));
  for (component_id c = 0; c < problem.num_components(); ++c) {
    for (const op_id v : problem.members(c)) {
      CHECK(problem.component(v) == c);
    }
  }
}

TEST_CASE("problem: demand is resident bytes, outputs and inputs of all members") {
  auto b = test::diamond_builder();
  b.colocate(1, 3);
  const workload w = std::move(b).build();
  const platform<> p = test::three_devices();
  const problem problem{w, p};
  // b: outputs 200 + 50, input 100; d: resident 4000, inputs 200 + 50 + 300
  CHECK(problem.demand(0) == 200 + 50 + 100 + 4000 + 200 + 50 + 300);
  CHECK(problem.demand(1) == 1000 + 100);       // a
  CHECK(problem.demand(2) == 3000 + 300 + 100); // c
  CHECK(problem.component_time(0, 0) == 2 + 4);
  CHECK(problem.component_time(0, 2) == 1 + 2);
}

TEST_CASE("problem: a component goes where its kinds and its demand allow") {
  workload_builder b;
  b.add_op({.resident_bytes = 100, .kinds = kind_set{device_kind::gpu} | device_kind::cpu});
  b.add_op({.resident_bytes = 20, .kinds = kind_set{device_kind::gpu} | device_kind::tpu});
  b.add_op({.resident_bytes = 50});
  b.colocate(0, 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> p{{{.kind = device_kind::cpu},
                                   {.kind = device_kind::gpu, .memory_capacity = 120},
                                   {.kind = device_kind::gpu, .memory_capacity = 119}},
                                  {}};
  const problem problem{w, p};
  CHECK(problem.kinds(0) == kind_set{device_kind::gpu});
  CHECK(problem.kinds(1).is_all());
  CHECK_FALSE(problem.allows(0, 0)); // wrong kind
  CHECK(problem.allows(0, 1));       // fits exactly
  CHECK_FALSE(problem.allows(0, 2)); // one byte short
  CHECK(problem.allows(1, 0));
}

TEST_CASE("problem: says why a component fits nowhere") {
  workload_builder b;
  b.add_op({.resident_bytes = 100, .kinds = device_kind::gpu, .name = "w"});
  b.add_op({.resident_bytes = 20, .kinds = device_kind::gpu});
  b.add_op({.resident_bytes = 1, .kinds = device_kind::tpu, .name = "t"});
  b.colocate(0, 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> p{{{.kind = device_kind::cpu, .memory_capacity = 1000},
                                   {.kind = device_kind::gpu, .memory_capacity = 110},
                                   {.kind = device_kind::gpu, .memory_capacity = 110}},
                                  {}};
  const problem problem{w, p};
  const std::vector<byte_count> left{1000, 60, 70};

  const infeasibility full = problem.why_unplaced(0, left);
  CHECK(full.cause == infeasibility::kind::out_of_memory);
  CHECK(full.lacks_memory());
  CHECK(full.op == 0);
  CHECK(full.num_members == 2);
  CHECK(full.demand == 120);
  CHECK(full.largest_free == 70);
  CHECK(to_string(full, w.name(full.op)) ==
        "the colocation group of op 0 'w' (2 ops) fits nowhere: it needs 120 B and the most that is left on an allowed "
        "device (gpu) is 70 B");

  const auto never = [](op_id, device_id d) { return d == 2 ? std::numeric_limits<double>::infinity() : 1.0; };
  const infeasibility endless = weft::problem{w, p, cost::from_function{never}}.why_unplaced(
    0, std::vector<byte_count>{1000, 60, 120});
  CHECK(endless.cause == infeasibility::kind::never_ends);
  CHECK_FALSE(endless.lacks_memory());
  CHECK(to_string(endless) ==
        "the colocation group of op 0 (2 ops) fits nowhere: it would take forever on every allowed "
        "device (gpu) that has room for it; its time must be finite somewhere");

  const infeasibility alien = problem.why_unplaced(1, left);
  CHECK(alien.cause == infeasibility::kind::no_device_of_kind);
  CHECK_FALSE(alien.lacks_memory());
  CHECK(alien.op == 2);
  CHECK(to_string(alien, w.name(alien.op)) ==
        "op 2 't' fits nowhere: it allows only tpu and the platform has no such device; add a tpu device to the "
        "platform");
  CHECK(to_string(alien).starts_with("op 2 fits nowhere: it allows only tpu and "));
}

TEST_CASE("infeasibility: a search that gave up says so") {
  CHECK(to_string(infeasibility{}) == "no plan was found within the budget, and none was proven impossible");
  CHECK(infeasibility{}.lacks_memory());
}

TEST_CASE("outcome: a value or the reason why there is none") {
  outcome<std::vector<int>> good{{1, 2}};
  CHECK(good);
  CHECK(good.has_value());
  good->push_back(3);
  CHECK((*good).size() == 3);
  const outcome<std::vector<int>> bad{infeasibility{.cause = infeasibility::kind::out_of_memory, .op = 5}};
  CHECK_FALSE(bad);
  CHECK_FALSE(bad.has_value());
  CHECK(bad.error().op == 5);
}

TEST_CASE("problem: needs a device, and a workload without cycles") {
  const workload w = test::diamond();
  const platform<uniform_links> nothing;
  CHECK_THROWS_WITH_AS((problem{w, nothing}), "platform: has no device; add at least one", value_error);

  struct circle { // 0 -> 1 -> 0; the library's own workloads refuse this earlier
    std::size_t num_ops() const { return 2; }
    std::size_t num_tensors() const { return 2; }
    std::size_t num_groups() const { return 0; }
    id_range inputs(op_id v) const { return {1 - v, 2 - v}; }
    id_range outputs(op_id v) const { return {v, v + 1}; }
    id_range consumers(tensor_id t) const { return {1 - t, 2 - t}; }
    op_id producer(tensor_id t) const { return t; }
    byte_count bytes(tensor_id) const { return 0; }
    byte_count resident_bytes(op_id) const { return 0; }
    kind_set kinds(op_id) const { return kind_set::all(); }
    group_id group(op_id) const { return none; }
    double work(op_id) const { return 1; }
  };
  const circle c;
  const platform<> p = test::three_devices();
  CHECK_THROWS_AS((problem{c, p}), cycle_error);
}

TEST_CASE("problem: names a cycle of the workload, and lists that contradict each other") {
  const platform<> p = test::three_devices();
  const test::with_cycle w;
  try {
    const problem made{w, p};
    FAIL("accepted a cycle");
  } catch (const cycle_error& e) {
    CHECK(e.ops == std::vector<op_id>{1, 2});
  }
  const test::contradictory other;
  CHECK_THROWS_WITH_AS((problem{other, p}), "op 1: has an input whose producer does not list it as a consumer",
                       value_error);
}

TEST_CASE("problem: many threads may read one") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const problem problem{w, p};
  std::vector<double> sums(4, 0);
  {
    std::vector<std::jthread> readers;
    for (double& sum : sums) {
      readers.emplace_back([&problem, &sum] {
        for (const op_id v : problem.topological_order()) {
          for (const device_id d : ids(problem.num_devices())) {
            sum += problem.component_time(problem.component(v), d) + static_cast<double>(problem.demand(v));
          }
        }
      });
    }
  }
  CHECK(sums[0] > 0);
  CHECK(std::ranges::count(sums, sums[0]) == 4);
}

TEST_CASE("problem: an empty workload") {
  const workload w;
  const platform<> p = test::three_devices();
  const problem problem{w, p};
  CHECK(problem.num_components() == 0);
  CHECK(problem.topological_order().empty());
}

TEST_CASE("problem: other demands reserve other bytes, and change nothing else") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  const problem p{w, q};
  CHECK(p.resident_bytes(0) == 1000);
  CHECK(p.demand(0) == 1100);
  const auto other = p.with_demands({5, 6, 7, 8});
  for (component_id c = 0; c < 4; ++c) {
    CHECK(other.demand(c) == 5 + c);
    CHECK(other.resident_bytes(c) == p.resident_bytes(c));
    CHECK(other.kinds(c) == p.kinds(c));
  }
  CHECK(p.demand(0) == 1100);
  CHECK(other.num_components() == p.num_components());
  CHECK(other.topological_order().data() == p.topological_order().data()); // shared, not copied
}

TEST_CASE("problem: other capacities allow components elsewhere, and change nothing else") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  const problem p{w, q};
  const auto other = p.with_capacities({1100, 1099, 7});
  CHECK(p.capacity(0) == q.memory_capacity(0));
  CHECK(other.capacity(2) == 7);
  CHECK(other.allows(0, 0) == p.allows(0, 0));
  CHECK_FALSE(other.allows(0, 1));
  CHECK(other.demand(0) == p.demand(0));
  CHECK(other.topological_order().data() == p.topological_order().data());
  const auto half = other.with_memory_share(0.5);
  CHECK(half.capacity(0) == 550);
  CHECK(half.capacity(1) == 549); // whole bytes
  CHECK(other.with_memory_share(1).capacity(1) == 1099);
  CHECK(half.with_resident_demands().demand(0) == p.resident_bytes(0));
  CHECK(half.with_resident_demands().with_costs(cost::scaled{p.cost(), 2, 3}).capacity(1) == 549);
}

TEST_CASE("problem: a share of the memory that is none is refused") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  const problem p{w, q};
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), -1.0, 0.0, 1.0000001, 2.0, 1e300}) {
    CHECK_THROWS_AS((void)p.with_memory_share(wrong), value_error);
  }
  CHECK_THROWS_WITH((void)p.with_memory_share(2), "memory share: 2 is not above 0 and at most 1: give 0.9 to leave a "
                                                  "tenth of each device's memory free");
}

TEST_CASE("problem: other costs change times, and nothing else; what is shared outlives the first problem") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  std::optional<problem<workload, platform<>>> first{std::in_place, w, q};
  const auto p = first->with_demands({5, 6, 7, 8});
  const auto slower = p.with_costs(cost::scaled{p.cost(), 2, 3});
  CHECK(slower.topological_order().data() == first->topological_order().data());
  first.reset();
  CHECK(slower.compute_time(1, 0) == 2 * p.compute_time(1, 0));
  CHECK(slower.transfer_time(1, 0, 2) == 3 * p.transfer_time(1, 0, 2));
  CHECK(slower.amount(1) / slower.rate(0) == slower.compute_time(1, 0));
  CHECK(slower.device_class(2) == 1);
  CHECK(slower.demand(3) == 8);
  CHECK(std::ranges::equal(slower.topological_order(), p.topological_order()));
  CHECK(slower.members(2).front() == 2);
  CHECK(slower.num_edges() == p.num_edges());
}

/// In constant expressions, too.
constexpr double twice_as_slow() {
  const std::vector<std::vector<int>> successors{{1}, {}};
  const std::vector<double> work{1, 4};
  const annotated_graph ops{successors, {.work = work}};
  const platform<uniform_links> two{std::vector<device>(2), {}};
  const problem p{ops, two};
  return p.with_costs(cost::scaled{p.cost(), 2}).with_demands({1, 1}).compute_time(1, 0);
}
static_assert(twice_as_slow() == 8);

struct vast : workload_archetype {
  std::size_t ops = 0;
  std::size_t tensors = 0;
  std::size_t groups = 0;
  std::size_t num_ops() const { return ops; }
  std::size_t num_tensors() const { return tensors; }
  std::size_t num_groups() const { return groups; }
  id_range inputs(op_id) const { return {0, none}; } // as many as there are ids
};

struct wide : platform_archetype {
  std::size_t num_devices() const { return std::size_t{1} << 32; }
};

struct no_time {
  double compute_time(const vast&, op_id, const auto&, device_id) const { return 0; }
  double transfer_time(const vast&, tensor_id, const auto&, device_id, device_id) const { return 0; }
};

TEST_CASE("problem: what has more parts than ids can number is refused before anything is allocated") {
  constexpr std::size_t many = std::size_t{1} << 32;
  const platform_archetype q;
  const auto with = [&q](std::size_t ops, std::size_t tensors, std::size_t groups) {
    vast w;
    w.ops = ops;
    w.tensors = tensors;
    w.groups = groups;
    return problem{w, q, no_time{}}.num_ops();
  };
  CHECK_THROWS_WITH_AS(with(many, 0, 0),
                       "workload: has 4294967296 ops; ids have 32 bits, so at most 4294967295 are possible",
                       value_error);
  CHECK_THROWS_AS(with(0, many, 0), value_error);
  CHECK_THROWS_AS(with(0, 0, many), value_error);
  CHECK_THROWS_WITH_AS(with(1, 0, 0),
                       "workload: has 4294967296 ops and edges; ids have 32 bits, so at most 4294967295 are possible",
                       value_error);
  const vast nothing;
  const wide devices;
  CHECK_THROWS_WITH_AS((problem{nothing, devices, no_time{}}),
                       "platform: has 4294967296 devices; ids have 32 bits, so at most 4294967295 are possible",
                       value_error);
}

/// Rates that the platform's constructor has not seen.
struct unsure : platform<> {
  using platform<>::platform;
  double speed(device_id) const { return -2; }
};

template <class W, class P, class C>
constexpr bool trusts(const problem<W, P, C>*) {
  return problem<W, P, C>::trusts_compute_times;
}
constexpr auto reads = [](op_id, device_id) { return 1.0; };

static_assert(trusts<workload, platform<>, cost::linear>(nullptr));
static_assert(!trusts<workload, unsure, cost::linear>(nullptr));
static_assert(!trusts<workload, platform<>, cost::table>(nullptr)); // of the caller's memory
static_assert(!trusts<workload, platform<>, cost::from_function<decltype(reads)>>(nullptr));
static_assert(!trusts<annotated_graph<csr_graph>, platform<>, cost::linear>(nullptr)); // of the caller's columns
static_assert(problem<workload, platform<>, cost::table>::trusts_transfer_times);
static_assert(!problem<workload, unsure, cost::table>::trusts_transfer_times);

TEST_CASE("problem: times are checked unless they come from numbers that were") {
  const workload w = test::diamond();
  const unsure q{{{}, {}}, link_matrix{2}};
  CHECK_THROWS_WITH_AS((problem{w, q}.compute_time(1, 0)),
                       "compute_time of op 1 'b' on device 0: -10 is not a time: a cost model returns seconds, at "
                       "least 0",
                       value_error);
  const test::int_lists g{{1}, {}};
  std::vector<double> work{1, 2};
  const annotated_graph changed{g, {.work = work}};
  work[1] = -1; // after it was checked
  const platform<> two{{{}, {}}, link_matrix{2}};
  CHECK_THROWS_AS((problem{changed, two}.compute_time(1, 0)), value_error);
}

} // namespace problem_test
