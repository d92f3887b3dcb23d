// SPDX-License-Identifier: BSL-1.0
#include "weft/instance.hpp"

#include "simulate/random_problem.hpp"

#include "weft/partition/heft.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"
#include "weft/throughput/best.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace instance_test {

using namespace weft;

/// A workload of a type of its own, whose tensors are numbered from the last to the first, and whose lists are in the
/// order of the others.
class mirrored {
public:
  explicit mirrored(const workload& w) : w_{&w} {}
  std::size_t num_ops() const { return w_->num_ops(); }
  std::size_t num_tensors() const { return w_->num_tensors(); }
  std::size_t num_groups() const { return w_->num_groups(); }
  std::vector<tensor_id> inputs(op_id v) const { return mirror(w_->inputs(v)); }
  std::vector<tensor_id> outputs(op_id v) const { return mirror(w_->outputs(v)); }
  std::vector<op_id> consumers(tensor_id t) const {
    const auto all = w_->consumers(mirror(t));
    return {all.rbegin(), all.rend()};
  }
  op_id producer(tensor_id t) const { return w_->producer(mirror(t)); }
  byte_count bytes(tensor_id t) const { return w_->bytes(mirror(t)); }
  byte_count resident_bytes(op_id v) const { return w_->resident_bytes(v); }
  kind_set kinds(op_id v) const { return w_->kinds(v); }
  group_id group(op_id v) const { return w_->group(v) == none ? none : num_groups_less_one() - w_->group(v); }
  double work(op_id v) const { return w_->work(v); }
  std::string name(op_id v) const { return "op" + std::to_string(v); }

private:
  group_id num_groups_less_one() const { return static_cast<group_id>(w_->num_groups() - 1); }
  tensor_id mirror(tensor_id t) const { return static_cast<tensor_id>(w_->num_tensors() - 1 - t); }
  template <class Range>
  std::vector<tensor_id> mirror(const Range& r) const {
    std::vector<tensor_id> all;
    for (const tensor_id t : r) {
      all.push_back(mirror(t));
    }
    return all;
  }

  const workload* w_;
};

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
        REQUIRE(i.transfer_time(t, d, e) == p.transfer_time(numbers.original(t), d, e));
        REQUIRE(i.send_time(t, d, e) == p.send_time(numbers.original(t), d, e));
      }
    }
  }
  for (const op_id v : ids(p.num_ops())) {
    REQUIRE(i.describe_op(v) == p.describe_op(v));
    REQUIRE(std::ranges::size(i.workload().inputs(v)) == std::ranges::size(p.workload().inputs(v)));
    for (const tensor_id t : i.workload().inputs(v)) {
      REQUIRE(std::ranges::count(p.workload().inputs(v), numbers.original(t)) == 1);
      REQUIRE(std::ranges::count(i.workload().consumers(t), v) == 1);
      REQUIRE(i.workload().producer(t) == p.workload().producer(numbers.original(t)));
      REQUIRE(i.workload().bytes(t) == p.workload().bytes(numbers.original(t)));
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

TEST_CASE("lower: demands that are not the default") {
  rng random{22};
  const test::drawn x{random};
  const borrowed q{&x.q};
  const auto some = [&](const auto& p) { return p.with_demands(std::vector<byte_count>(p.num_components(), 3)); };
  CHECK(lower(some(problem{x.w, x.q}))->demand(0) == 3);
  CHECK(lower(some(problem{x.w, q}))->demand(0) == 3);
}

TEST_CASE("solve::best: a shortage has the tensors of the problem") {
  workload_builder b;
  const auto first = b.add_op({.work = 1, .bytes = 40});
  const auto second = b.add_op({.work = 1, .bytes = 70});
  const auto last = b.add_op({.work = 1});
  b.add_edge(first, last);
  b.add_edge(second, last);
  const auto made = std::move(b).build();
  const mirrored w{made};
  const platform<> q{{{.memory_capacity = 100}}, link_matrix{1}};
  const problem p{w, q};
  const auto found = solve::best(p, {.moves = 100, .memory = {memory_rule::over_time}});
  CHECK_FALSE(found.has_plan());
  if (found.shortage) {
    for (const auto& t : found.shortage->alive) {
      CHECK(w.producer(t.tensor) == t.producer);
      CHECK(w.bytes(t.tensor) == t.bytes);
    }
  }
}

TEST_CASE("throughput::best: of instances and of what they are made of") {
  rng random{23};
  for (int round = 0; round < 20; ++round) {
    const test::drawn x{random};
    const borrowed q{&x.q};
    const problem p{x.w, q};
    rng one{1}, two{1};
    const throughput::best few{.rounds = 2, .moves_per_round = 200};
    const auto a = few(p, one);
    const auto b = few(*lower(p), two);
    REQUIRE(bool(a) == bool(b));
    if (a) {
      CHECK(a->placement == b->placement);
      CHECK(a->period == b->period);
    }
  }
}

} // namespace instance_test
