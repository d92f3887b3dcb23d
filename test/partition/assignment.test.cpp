// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "support/small_problem.hpp"

#include "weft/partition/assignment.hpp"

#include <doctest/doctest.h>

namespace partition_assignment_test {

using namespace weft;

/// The diamond with b and c colocated (component 0; a is 1, d is 2), on devices of 2000, 5000 and 9000 bytes.
struct fixture {
  workload w = [] {
    auto b = test::diamond_builder();
    b.colocate(1, 2);
    return std::move(b).build();
  }();
  platform<uniform_links> q{{{.kind = device_kind::cpu, .speed = 10, .memory_capacity = 2000},
                             {.kind = device_kind::gpu, .speed = 20, .memory_capacity = 5000},
                             {.kind = device_kind::gpu, .speed = 5, .memory_capacity = 9000}},
                            {}};
  problem<workload, platform<uniform_links>> p{w, q};
  fixture() = default;
  fixture(const fixture&) = delete;
};

TEST_CASE("assignment: keeps the books") {
  const fixture f;
  partition::assignment a{f.p};
  // Demands: b, c: 3000 resident + 200 + 50 + 300 out + 2 * 100 in; a: 1000 + 100; d: 4000 + 200 + 50 + 300.
  CHECK(f.p.demand(0) == 3750);
  CHECK(f.p.demand(1) == 1100);
  CHECK(f.p.demand(2) == 4550);
  CHECK_FALSE(a.is_placed(0));
  CHECK(a.device(1) == none);
  CHECK(a.free(1) == 5000);
  CHECK(a.load(1) == 0);
  a.place(0, 1);
  CHECK(a.is_placed(0));
  CHECK_FALSE(a.is_placed(1));
  CHECK(a.device(1) == 1);
  CHECK(a.device(2) == 1);
  CHECK(a.device(0) == none);
  CHECK(a.free(1) == 1250);
  CHECK(a.load(1) == 2.5); // (20 + 30) / 20
  a.place(1, 1);
  CHECK(a.free(1) == 150);
  CHECK(a.load(1) == 3);
  a.place(2, 2);
  CHECK(a.load(2) == 8);
  CHECK(a.free(0) == 2000);
  CHECK(std::move(a).take() == placement{1, 1, 1, 2});
}

TEST_CASE("assignment: what fits where") {
  const fixture f;
  partition::assignment a{f.p};
  CHECK_FALSE(a.fits(0, 0));
  CHECK(a.fits(0, 1));
  CHECK(a.fits(0, 2));
  CHECK(a.fits(1, 0));
  a.place(2, 1); // 450 bytes are left
  CHECK_FALSE(a.fits(0, 1));
  CHECK_FALSE(a.fits(1, 1));
}

TEST_CASE("assignment: a demand that is exactly what is left fits") {
  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 100});
  b.add_op({.work = 1, .resident_bytes = 100, .kinds = device_kind::gpu});
  const workload w = std::move(b).build();
  const platform<uniform_links> q{
    {{.kind = device_kind::cpu, .memory_capacity = 100}, {.kind = device_kind::gpu, .memory_capacity = 99}}, {}};
  const problem p{w, q};
  const partition::assignment a{p};
  CHECK(a.fits(0, 0));
  CHECK_FALSE(a.fits(0, 1)); // too small
  CHECK_FALSE(a.fits(1, 0)); // not of its kind
  CHECK(a.why_unplaced(1) == infeasibility{.cause = infeasibility::kind::out_of_memory,
                                           .op = 1,
                                           .kinds = device_kind::gpu,
                                           .demand = 100,
                                           .largest_free = 99});
}

TEST_CASE("assignment: the first that fits, wrapping around") {
  const fixture f;
  partition::assignment a{f.p};
  CHECK(a.first_fit(1, 0) == 0);
  CHECK(a.first_fit(1, 2) == 2);
  CHECK(a.first_fit(0, 0) == 1); // device 0 is too small
  a.place(2, 2);
  CHECK(a.first_fit(0, 2) == 2);
  a.place(0, 2);
  CHECK(a.first_fit(1, 2) == 0); // 700 bytes are left on 2
  CHECK(a.first_fit(1, 1) == 1);
}

TEST_CASE("assignment: nothing fits") {
  const workload w = test::ops_of({1}, {}, 10).build();
  const auto q = test::equal_devices(2, {.memory_capacity = 9});
  const problem p{w, q};
  const partition::assignment a{p};
  CHECK(a.first_fit(0, 1) == none);
  CHECK(a.best_fit(0, [](device_id) { return 0.0; }) == none);
}

TEST_CASE("assignment: the best that fits, ties to the smaller id") {
  const fixture f;
  const partition::assignment a{f.p};
  CHECK(a.best_fit(1, [](device_id d) { return -static_cast<double>(d); }) == 2);
  CHECK(a.best_fit(1, [](device_id) { return 1.0; }) == 0);
  CHECK(a.best_fit(0, [](device_id) { return 1.0; }) == 1);
  CHECK(a.best_fit(0, [](device_id d) { return static_cast<double>(d); }) == 1); // 0 is less, but does not fit
}

} // namespace partition_assignment_test
