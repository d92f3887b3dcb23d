// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"
#include "partition/place.hpp"
#include "partition/published_example.hpp"
#include "property/brute_force.hpp"
#include "support/rounds.hpp"

#include "weft/refine/branch_and_bound.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stop_token>
#include <tuple>
#include <vector>

namespace refine_branch_and_bound_test {

using namespace weft;
using refine::branch_and_bound;

template <class Problem>
double run_in_order(const Problem& p, const plan& decided) {
  CHECK(validate(p, decided).empty());
  simulator<Problem, schedule::static_order> sim{p};
  const auto result = sim.run(decided);
  CHECK(result.complete);
  return result.makespan;
}

TEST_CASE("branch_and_bound: the optimum of the published example") {
  const test::published_example s;
  const auto found = test::decide(branch_and_bound{}, s.p);
  REQUIRE(found);
  CHECK(found->bound == 73);
  CHECK(run_in_order(s.p, found->plan) == 73);
}

TEST_CASE("branch_and_bound: as good as trying everything") {
  rng random{51};
  int above_bound = 0;
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      const double optimum = weft_test::least_makespan(p);
      const auto found = test::decide(branch_and_bound{}, p);
      REQUIRE(found.has_value() == (optimum < std::numeric_limits<double>::infinity()));
      if (found) {
        CHECK(found->bound == doctest::Approx(optimum));
        CHECK(run_in_order(p, found->plan) == doctest::Approx(optimum));
        above_bound += bound::best(p).value < optimum * (1 - 1e-9);
      }
    });
  }
  CHECK(above_bound > 15); // in some the search was needed to prove it
}

TEST_CASE("branch_and_bound: memory counts to the byte, however much there is") {
  const kind_set either = kind_set{device_kind::cpu} | device_kind::gpu;
  for (const byte_count filling : {byte_count{0}, byte_count{1} << 60}) {
    CAPTURE(filling);
    workload_builder b;
    const auto large = b.add_op({.work = 1, .resident_bytes = 13, .kinds = either});
    const auto small = b.add_op({.work = 1, .resident_bytes = 11, .kinds = either});
    const auto first = b.add_op({.work = 1, .bytes = 0, .kinds = device_kind::tpu});
    const auto filler = b.add_op({.work = 1, .bytes = 0, .resident_bytes = filling, .kinds = device_kind::cpu});
    const auto last = b.add_op({.work = 1, .kinds = device_kind::tpu});
    const auto late = b.add_op({.work = 1, .resident_bytes = 4, .kinds = either});
    const auto too = b.add_op({.work = 1, .resident_bytes = 4, .kinds = either});
    b.add_edge(first, filler);
    b.add_edge(filler, last);
    b.add_edge(first, late);
    b.add_edge(first, too);
    const auto w = std::move(b).build();
    const platform<uniform_links> q{{{.kind = device_kind::cpu, .memory_capacity = filling + 20},
                                     {.kind = device_kind::gpu, .memory_capacity = 20},
                                     {.kind = device_kind::tpu}},
                                    {{.latency = 0.25}}};
    const std::vector<double> seconds{4.6, 4.6, 9, 4.6, 4.6, 9,   9, 9, 4,   0, 9,
                                      9,   9,   9, 3.5, 1,   4.2, 9, 1, 4.2, 9}; // ops x devices
    const problem p{w, q, cost::table{seconds, 7, 3}};
    const auto start = test::decide(partition::heft{}, p);
    REQUIRE(start);
    CHECK(start->plan.placement[large] == 0); // where it leaves 7 bytes beside the filler
    // Two states of the search with the same ops started differ in which of two ops is where, by 2 bytes of many.
    const auto found = test::decide(branch_and_bound{}, p);
    REQUIRE(found);
    CHECK(found->plan.placement[small] == 0);
    CHECK(found->plan.placement[late] == 0);
    CHECK(found->plan.placement[too] == 0);
    CHECK(run_in_order(p, found->plan) == doctest::Approx(8.35));
    CHECK(found->bound == doctest::Approx(8.35));
    CHECK(found->plan.placement[last] == 2);
  }
}

TEST_CASE("branch_and_bound: a time that was tried and taken back leaves nothing behind, however large") {
  workload_builder b;
  for (int v = 0; v < 4; ++v) {
    b.add_op({.work = 1, .bytes = 0});
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> two{std::vector<device>(2), uniform_links{{.latency = 1}}, 1};
  const std::vector<double> seconds{4, 2, 4, 3, 1, 1e16, 1, 5}; // ops x devices
  const problem p{w, two, cost::table{seconds, 4, 2}};
  const auto found = test::decide(branch_and_bound{}, p);
  REQUIRE(found);
  CHECK(run_in_order(p, found->plan) == 5); // ops 0 and 1 on device 1
  CHECK(found->bound == 5);
}

TEST_CASE("branch_and_bound: as good as trying everything where sending occupies nobody") {
  rng random{52};
  int above_bound = 0;
  for (int round = 0; round < test::rounds(3000); ++round) {
    CAPTURE(round);
    auto small = weft_test::random_problem(random);
    small.send_work = 0;
    if (random.below(2) == 0) { // little memory; twins
      for (auto& d : small.devices) {
        d.memory_capacity = 10 + random.below(60);
      }
    }
    small.with([&](const auto& p) {
      const bool heft_fits = test::decide(partition::heft{}, p).has_value();
      const auto found = test::decide(branch_and_bound{}, p);
      REQUIRE((found.has_value() || !heft_fits));
      if (!found) {
        return;
      }
      const double makespan = run_in_order(p, found->plan);
      CHECK(found->bound == doctest::Approx(makespan));
      if (small.devices[0].memory_capacity > 1000) {
        const double optimum = weft_test::least_makespan(p);
        CHECK(makespan == doctest::Approx(optimum));
        above_bound += bound::best(p).value < optimum * (1 - 1e-9);
      } else { // `optimum` knows no memory
        const double optimum = test::brute_force{p}.makespan();
        CHECK(makespan == doctest::Approx(optimum));
      }
    });
  }
  CHECK(above_bound > test::rounds(100));
}

TEST_CASE("branch_and_bound: out of budget, the best plan and the best bound so far") {
  const test::published_example s;
  const double weaker = bound::best(s.p).value;
  CHECK(weaker < 73);
  for (const std::uint64_t moves : {0u, 15u, 200u}) {
    const auto found = test::decide(branch_and_bound{.budget = {.moves = moves}}, s.p);
    REQUIRE(found);
    CHECK(found->bound >= weaker);
    CHECK(found->bound <= 73);
    const double makespan = run_in_order(s.p, found->plan);
    CHECK(makespan <= 80); // HEFT's, from which it starts
    CHECK(makespan >= 73);
  }
}

TEST_CASE("branch_and_bound: a device on which no op may run changes neither the search nor what it proves") {
  rng random{9};
  int cut_off = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const auto n = 6 + static_cast<op_id>(random.below(6));
    workload_builder b;
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = 4.0 + random.below(20), .bytes = 8 * random.below(8), .kinds = device_kind::cpu});
      for (op_id u = 0; u < v; ++u) {
        if (random.below(4) == 0) {
          b.add_edge(u, v);
        }
      }
    }
    const auto w = std::move(b).build();
    // Its slots and its lack of memory would make the search weaker if they counted.
    const device unused{.kind = device_kind::gpu, .speed = 1024, .memory_capacity = 0, .slots = 4};
    const platform<uniform_links> alone{{{}, {}, {.speed = 2}}, {{.latency = 1, .bandwidth = 8}}};
    const platform<uniform_links> crowded{{{}, unused, {}, {.speed = 2}}, {{.latency = 1, .bandwidth = 8}}};
    const problem p{w, alone};
    const problem q{w, crowded};
    for (const std::uint64_t moves : {300u, 2'000u}) {
      const branch_and_bound quick{.budget = {.moves = moves}};
      const auto found = test::decide(quick, p);
      const auto also = test::decide(quick, q);
      CHECK(also->bound == found->bound);
      const double makespan = run_in_order(p, found->plan);
      CHECK(run_in_order(q, also->plan) == makespan);
      cut_off += found->bound < makespan;
    }
  }
  CHECK(cut_off > 10);
}

TEST_CASE("branch_and_bound: of many devices that are alike, one unused one is tried") {
  rng random{2};
  workload_builder b;
  for (op_id v = 0; v < 13; ++v) {
    b.add_op({.work = 5.0 + random.below(11), .bytes = 8 * (1 + random.below(8))});
    for (op_id u = 0; u < v; ++u) {
      if (random.below(4) == 0) {
        b.add_edge(u, v);
      }
    }
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> six{std::vector<device>(6), {{.latency = 1, .bandwidth = 2}}};
  const problem p{w, six};
  const auto found = test::decide(branch_and_bound{.budget = {.moves = 600'000}}, p);
  REQUIRE(found);
  CHECK(found->bound == run_in_order(p, found->plan));
}

TEST_CASE("branch_and_bound: stops when it is asked to") {
  const test::published_example s;
  std::stop_source stop;
  stop.request_stop();
  const auto token = stop.get_token();
  const auto found = test::decide(branch_and_bound{.budget = {.stop = &token}}, s.p);
  REQUIRE(found);
  CHECK(found->bound >= bound::best(s.p).value); // by what follows without any decision
  CHECK(found->bound <= 73);
  CHECK(run_in_order(s.p, found->plan) == 80);
}

/// Ops of 5, 4, 3, 3 and 3 bytes, which only fit two devices of 9 bytes as 5 + 4 and 3 + 3 + 3.
struct packing {
  workload w = [] {
    workload_builder b;
    for (const byte_count bytes : {5u, 3u, 3u, 4u, 3u}) {
      b.add_op({.work = 1, .resident_bytes = bytes});
    }
    return std::move(b).build();
  }();
  explicit packing(byte_count capacity) : q{test::equal_devices(2, {.memory_capacity = capacity})} {}
  packing(const packing&) = delete;
  platform<uniform_links> q;
  problem<workload, platform<uniform_links>> p{w, q};
};

TEST_CASE("branch_and_bound: finds room where its start finds none") {
  const packing s{9};
  CHECK_FALSE(test::decide(partition::heft{}, s.p));
  const auto found = test::decide(branch_and_bound{}, s.p);
  REQUIRE(found);
  CHECK(found->plan.placement == placement{0, 1, 1, 0, 1});
  CHECK(found->bound == 3);
}

TEST_CASE("branch_and_bound: proves that there is no room, or says that it does not know") {
  const packing s{8};
  const auto proven = test::decide(branch_and_bound{}, s.p);
  REQUIRE_FALSE(proven);
  CHECK(proven.error().cause == infeasibility::kind::out_of_memory);
  CHECK(proven.error().demand > proven.error().largest_free);
  const auto unknown = test::decide(branch_and_bound{.budget = {.moves = 10}}, s.p);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().cause == infeasibility::kind::not_found);
}

TEST_CASE("branch_and_bound: memory over time, whatever reservations refuse") {
  workload_builder b;
  const op_id first = b.add_op({.work = 1, .bytes = 30});
  const op_id second = b.add_op({.work = 1, .bytes = 30});
  const op_id third = b.add_op({.work = 1, .bytes = 30});
  b.add_edge(first, second);
  b.add_edge(second, third);
  const workload w = std::move(b).build();
  for (const auto& [bytes, share, fits] : {std::tuple{byte_count{60}, 1.0, true}, {byte_count{59}, 1.0, false},
                                           {byte_count{120}, 0.5, true}, {byte_count{119}, 0.5, false}}) {
    CAPTURE(bytes);
    const platform<> q{std::vector<device>(1, {.memory_capacity = bytes}), link_matrix{1}};
    const auto p = problem{w, q}.with_memory_share(share);
    const auto found = test::decide(branch_and_bound{.memory = memory_rule::over_time}, p);
    REQUIRE(found.has_value() == fits);
    if (fits) {
      CHECK(found->bound == 3);
    } else {
      CHECK(found.error().cause == infeasibility::kind::every_placement_fails);
    }
  }
}

} // namespace refine_branch_and_bound_test
