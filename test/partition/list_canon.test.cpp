// SPDX-License-Identifier: BSL-1.0
// The list schedulers on the worked example of Topcuoglu et al. and on small problems that a person can check. HEFT,
// CPOP, PEFT, DLS, ETF and min-min have published makespans there; those of the others come from straightforward
// programs of a few lines each that were written for this test.
#include "partition/place.hpp"
#include "partition/published_example.hpp"

#include "weft/cost/compose.hpp"
#include "weft/partition/bil.hpp"
#include "weft/partition/cpop.hpp"
#include "weft/partition/dls.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/fcp.hpp"
#include "weft/partition/flb.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/hlfet.hpp"
#include "weft/partition/ippts.hpp"
#include "weft/partition/lookahead_heft.hpp"
#include "weft/partition/m_topo.hpp"
#include "weft/partition/max_min.hpp"
#include "weft/partition/mcp.hpp"
#include "weft/partition/mct.hpp"
#include "weft/partition/met.hpp"
#include "weft/partition/min_min.hpp"
#include "weft/partition/olb.hpp"
#include "weft/partition/peft.hpp"
#include "weft/partition/pets.hpp"
#include "weft/partition/reverse_heft.hpp"
#include "weft/partition/sufferage.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/standard_strategies.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

namespace partition_list_canon_test {

using namespace weft;
using namespace weft::partition;

/// Of six ops, each takes for ever on one of three devices; the first and the last are a group.
struct never_on_one {
  double operator()(op_id v, device_id d) const {
    return v % 3 == d ? std::numeric_limits<double>::infinity() : 1.0 + v + d;
  }
};

template <class S, class Problem>
double makespan(const S& s, const Problem& p) {
  const auto decided = test::decide(s, p);
  REQUIRE(decided);
  CHECK(validate(p, decided->plan).empty());
  simulator sim{p, schedule::static_order{}};
  return sim.run(decided->plan).makespan;
}

template <class S>
void check_example(double expected, const placement& where) {
  const test::published_example s;
  CHECK(makespan(S{}, s.p) == expected);
  CHECK(test::place(S{}, s.p) == where);
}

template <class... S>
void check_that_all_end() {
  workload_builder b;
  for (int v = 0; v < 6; ++v) {
    b.add_op({.work = 1, .bytes = 1});
  }
  for (const auto& [u, v] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 3u}, {2u, 3u}, {3u, 4u}, {3u, 5u}}) {
    b.add_edge(u, v);
  }
  b.colocate(0, 5);
  const auto w = std::move(b).build();
  const auto q = test::equal_devices(3, {});
  const problem p{w, q, cost::from_function{never_on_one{}}};
  for (const double seconds : {makespan(S{}, p)...}) {
    CHECK(seconds < 100);
  }
}

TEST_CASE("list canon: what looks at finish times keeps off devices on which an op takes for ever") {
  check_that_all_end<heft, cpop, peft, ippts, lookahead_heft, pets, mct, met, dls, max_min, sufferage, bil>();
}

TEST_CASE("list canon: bil takes the largest level of an op that few devices take, not an infinite one") {
  workload_builder b;
  b.add_op({.work = 9});
  b.add_op({.work = 1, .kinds = device_kind::gpu});
  const auto w = std::move(b).build();
  const platform<uniform_links> q{{{.kind = device_kind::gpu}, {.kind = device_kind::cpu}}, {}};
  const auto decided = test::decide(bil{}, problem{w, q});
  REQUIRE(decided);
  CHECK(decided->plan.order.front().op == 0); // 9 s wherever it goes, op 1 takes 1 s
}

TEST_CASE("list canon: published makespans of the worked example") {
  check_example<heft>(80, {2, 0, 2, 1, 2, 1, 2, 0, 1, 1});
  check_example<cpop>(86, {1, 1, 0, 2, 1, 2, 0, 2, 1, 1});
  check_example<peft>(85, {1, 1, 0, 1, 2, 0, 0, 0, 1, 1});
  check_example<dls>(91, {2, 2, 1, 1, 0, 2, 0, 0, 1, 0});
  check_example<etf>(93, {0, 0, 0, 1, 2, 1, 0, 1, 0, 0});
  check_example<min_min>(76, {2, 1, 0, 1, 2, 2, 0, 1, 1, 1});
}

TEST_CASE("list canon: the others on the worked example") {
  check_example<hlfet>(79, {2, 2, 1, 1, 0, 2, 1, 0, 1, 1});
  check_example<mcp>(86, {2, 2, 0, 2, 1, 0, 0, 0, 2, 1});
  check_example<pets>(76, {2, 2, 0, 1, 1, 2, 0, 0, 1, 1});
  check_example<ippts>(95, {1, 1, 0, 1, 2, 0, 1, 1, 1, 1});
  check_example<reverse_heft>(80, {2, 0, 0, 1, 1, 2, 0, 0, 1, 1});
  check_example<lookahead_heft>(81, {0, 1, 0, 1, 2, 0, 0, 1, 1, 1});
  check_example<fcp>(95, {0, 0, 1, 0, 2, 2, 1, 2, 0, 2});
  check_example<flb>(102, {0, 0, 2, 0, 1, 1, 2, 1, 0, 0});
  check_example<max_min>(97, {2, 0, 2, 1, 2, 1, 2, 0, 1, 1});
  check_example<sufferage>(76, {2, 1, 0, 1, 2, 2, 0, 1, 1, 1});
  check_example<bil>(84, {1, 1, 0, 1, 2, 2, 0, 1, 1, 1});
  check_example<mct>(80, {2, 2, 0, 1, 2, 1, 0, 0, 1, 1});
  check_example<met>(82, {2, 0, 0, 1, 2, 2, 0, 0, 1, 1});
  check_example<olb>(106, {2, 0, 1, 2, 2, 1, 2, 1, 0, 0});
}

TEST_CASE("list canon: insertion decides") {
  // 0 on the gpu: [0, 4), its tensor is on the cpu at 5, 1 runs there in [5, 11). 2 comes last and fits before.
  workload_builder b;
  b.add_op({.work = 4, .bytes = 0, .kinds = device_kind::gpu});
  b.add_op({.work = 6, .kinds = device_kind::cpu});
  b.add_op({.work = 5, .kinds = device_kind::cpu});
  b.add_edge(0, 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, {{.latency = 1}}};
  const problem p{w, q};
  CHECK(makespan(heft{}, p) == 11);
  CHECK(makespan(mcp{}, p) == 11);
  CHECK(makespan(pets{}, p) == 11);
  CHECK(makespan(cpop{}, p) == 11);
  CHECK(makespan(peft{}, p) == 11);
  CHECK(makespan(ippts{}, p) == 11);
  CHECK(makespan(lookahead_heft{}, p) == 11);
  using append_heft = list_scheduler<list::by_upward_rank, list::least<list::finish_time>, schedule::queue_end>;
  CHECK(makespan(append_heft{}, p) == 16);
  CHECK(makespan(hlfet{}, p) == 16);
}

TEST_CASE("list canon: baselines see what they look at") {
  // Two independent ops; device 1 computes four times as fast.
  const workload w = test::ops_of({8, 8}, {}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4}}, {{}}};
  const problem p{w, q};
  CHECK(test::place(mct{}, p) == placement{1, 1}); // complete at 2 and 4
  CHECK(test::place(met{}, p) == placement{1, 1});
  CHECK(test::place(olb{}, p) == placement{1, 0}); // both are free at 0: the earlier finish; then device 0 is free
}

TEST_CASE("list canon: max-min begins with the long op, min-min with the short one") {
  const workload w = test::ops_of({1, 1, 4}, {}).build();
  const auto q = test::equal_devices(2);
  const problem p{w, q};
  CHECK(makespan(min_min{}, p) == 5); // 1 | 1, then 4
  CHECK(makespan(max_min{}, p) == 4); // 4 | 1 1
  CHECK(makespan(sufferage{}, p) == 5); // nobody loses anything at first: topologically first
}

TEST_CASE("list canon: sufferage gives a device to the op that needs it most") {
  // On device 0 both take 2; on device 1 op 0 takes 3, op 1 takes 20.
  const double seconds[] = {2, 3, 2, 20};
  const workload w = test::ops_of({1, 1}, {}).build();
  const auto q = test::equal_devices(2);
  const problem p{w, q, cost::table{seconds, 2, 2}};
  CHECK(test::place(sufferage{}, p) == placement{1, 0});
  CHECK(test::place(min_min{}, p) == placement{0, 0});
}

TEST_CASE("list canon: CPOP keeps a critical path together as far as it fits") {
  auto chain = [](byte_count resident) {
    workload_builder b;
    for (int i = 0; i < 3; ++i) {
      b.add_op({.work = 4, .bytes = 1, .resident_bytes = resident});
    }
    b.add_edge(0, 1);
    b.add_edge(1, 2);
    return std::move(b).build();
  };
  const platform<uniform_links> q{{{.speed = 1, .memory_capacity = 100}, {.speed = 2, .memory_capacity = 100}}, {{}}};
  const workload small = chain(10);
  const problem fits{small, q};
  CHECK(test::place(cpop{}, fits) == placement{1, 1, 1});
  const workload large = chain(40);
  const problem tight{large, q};
  CHECK(test::place(cpop{}, tight) == placement{1, 1, 0});
}

TEST_CASE("list canon: m-TOPO fills device after device") {
  workload_builder b;
  for (const byte_count resident : {30u, 30u, 30u, 10u, 10u, 10u}) { // 120 in all: 60 each, plus 30
    b.add_op({.work = 1, .resident_bytes = resident});
  }
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2, {.memory_capacity = 1000});
  const problem p{w, q};
  CHECK(test::place(m_topo{}, p) == placement{0, 0, 0, 1, 1, 1});
  const auto small = test::equal_devices(2, {.memory_capacity = 70});
  const problem tight{w, small};
  CHECK(test::place(m_topo{}, tight) == placement{0, 0, 1, 0, 1, 1}); // 3 still fits on 0, then 0 is full
}

template <class S>
void check_edges(const char* name, const S& s) {
  CAPTURE(name);
  const auto two = test::equal_devices(2);
  const workload empty = workload_builder{}.build();
  const auto nothing = test::decide(s, problem{empty, two});
  REQUIRE(nothing);
  CHECK(nothing->plan == plan{});

  workload_builder alone;
  alone.add_op({.work = 3});
  const workload one = std::move(alone).build();
  const auto only = test::equal_devices(1);
  const auto single = test::decide(s, problem{one, only});
  REQUIRE(single);
  CHECK(single->plan == plan{{0}, {step::run(0)}});

  workload_builder b; // a group, kinds, a tensor of no bytes, ops without outputs and without work
  b.add_op({.work = 2, .bytes = 0, .kinds = device_kind::gpu});
  b.add_op({.work = 0, .bytes = 8});
  b.add_op({.work = 3});
  b.add_op({.work = 5});
  b.add_edge(0, 2);
  b.add_edge(1, 2);
  b.add_control_edge(1, 3);
  b.colocate(0, 3);
  const workload mixed = std::move(b).build();
  const platform<uniform_links> q{
    {{.kind = device_kind::cpu, .slots = 2}, {.kind = device_kind::gpu}}, {{.latency = 1}}, 1};
  const problem p{mixed, q};
  const auto decided = test::decide(s, p);
  REQUIRE(decided);
  CHECK(decided->plan.placement[0] == 1);
  CHECK(decided->plan.placement[3] == 1);
  CHECK(validate(p, decided->plan).empty());

  workload_builder large;
  for (int i = 0; i < 3; ++i) {
    large.add_op({.work = 1, .resident_bytes = 60});
  }
  const workload three = std::move(large).build();
  const auto tight = test::equal_devices(2, {.memory_capacity = 100});
  const auto full = test::decide(s, problem{three, tight});
  REQUIRE_FALSE(full);
  CHECK(full.error().cause == infeasibility::kind::out_of_memory);
  CHECK(full.error().largest_free == 40);

  workload_builder strange;
  strange.add_op({.work = 1, .kinds = device_kind::tpu});
  const workload tpu = std::move(strange).build();
  const auto nowhere = test::decide(s, problem{tpu, two});
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().cause == infeasibility::kind::no_device_of_kind);
}

struct check_edges_of_each {
  template <class S>
  void add_partitioner(const char* name, const S& s) {
    check_edges(name, s);
  }
};

TEST_CASE("list canon: groups, kinds, slots, no bytes, no outputs, no memory, no ops") {
  check_edges_of_each all;
  standard_strategies::list_schedulers(all);
  standard_strategies::memory_constrained(all);
}

static_assert(sizeof(heft) == sizeof(double), "empty policies take no space");
static_assert(sizeof(etf) == 1);

} // namespace partition_list_canon_test
