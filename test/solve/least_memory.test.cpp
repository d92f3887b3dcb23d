// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/least_memory.hpp"

#include "simulate/random_problem.hpp"
#include "solve/check_memory.hpp"
#include "support/rounds.hpp"

#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace solve_least_memory_test {

using namespace weft;

TEST_CASE("least_memory: needs no more than the fastest plan, and less where that is possible") {
  rng random{31};
  int less = 0;
  int solved = 0;
  for (int round = 0; round < test::rounds(40); ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.max_ops = 20, .capacity = 60 + random.below(100)}};
    const auto fast = solve::best(s.p, {.moves = 0, .memory = memory_rule::over_time});
    const auto r = solve::least_memory(s.p, {.moves = 500});
    REQUIRE(r.has_plan() == fast.has_plan());
    if (!r.has_plan()) {
      continue;
    }
    ++solved;
    test::check_memory(s.p, r);
    const double before = solve::largest_share(s.p, fast.peaks);
    const double after = solve::largest_share(s.p, r.peaks);
    CHECK(after <= before);
    less += after < before;
  }
  CHECK(solved > test::rounds(20));
  CHECK((less * 2 > solved || !test::are_all_rounds));
}

TEST_CASE("least_memory: of what is without a limit, the least share is below what bytes can tell") {
  rng random{32};
  const test::drawn s{random, {.max_ops = 8, .capacity = std::numeric_limits<byte_count>::max()}};
  CHECK(s.p.with_memory_share(1e-300).capacity(0) == std::numeric_limits<byte_count>::max());
  CHECK(solve::least_memory(s.p, {.moves = 100}).has_plan());
}

TEST_CASE("least_memory: a share that whole bytes round below what is needed") {
  workload_builder b; // 1 / 49 of 49 bytes is a little less than one
  b.add_op({.work = 1, .resident_bytes = 1});
  b.add_op({.work = 1, .resident_bytes = 1});
  const auto w = std::move(b).build();
  const platform<> q{std::vector<device>(2, {.memory_capacity = 49}), link_matrix{2}};
  const problem p{w, q};
  CHECK(p.with_memory_share(1.0 / 49).capacity(0) == 0);
  const auto r = solve::least_memory(p, {.moves = 100});
  REQUIRE(r.has_plan());
  CHECK(r.peaks == std::vector<byte_count>{1, 1});
  CHECK(r.makespan == 1);
}

TEST_CASE("least_memory: parameters spread evenly, the makespan decides between equals") {
  workload_builder b; // eight ops of 10 bytes side by side, and a long one without any
  for (int i = 0; i < 8; ++i) {
    b.add_op({.work = 1, .resident_bytes = 10});
  }
  b.add_op({.work = 5});
  const auto w = std::move(b).build();
  const platform<> q{std::vector<device>(4, {.memory_capacity = 100}), link_matrix{4}};
  const problem p{w, q};
  const auto r = solve::least_memory(p, {.moves = 4000});
  test::check_memory(p, r);
  CHECK(r.peaks == std::vector<byte_count>(4, 20));
  CHECK(r.makespan == 7); // 8 + 5 units of work, but each device has two of the small ones
  const auto again = solve::least_memory(p, {.moves = 4000});
  CHECK(again.plan == r.plan);
}

TEST_CASE("least_memory: a large host is no way out") {
  workload_builder b;
  for (int i = 0; i < 8; ++i) {
    b.add_op({.work = 1, .resident_bytes = 10});
  }
  const auto w = std::move(b).build();
  std::vector<device> devices(3, {.kind = device_kind::gpu, .speed = 100, .memory_capacity = 100});
  devices[0] = {.kind = device_kind::cpu, .memory_capacity = 100'000};
  const platform<> q{devices, link_matrix{3}};
  const problem p{w, q};
  const auto r = solve::least_memory(p, {.moves = 100});
  test::check_memory(p, r);
  CHECK(r.peaks == std::vector<byte_count>{0, 40, 40});
}

TEST_CASE("least_memory: nothing to place, and nowhere") {
  const platform<> q{std::vector<device>(2, {.memory_capacity = 5}), link_matrix{2}};
  workload_builder empty;
  const auto nothing = std::move(empty).build();
  CHECK(solve::least_memory(problem{nothing, q}).status == status::optimal);
  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 6});
  const auto large = std::move(b).build();
  const auto r = solve::least_memory(problem{large, q});
  CHECK(r.status == status::infeasible);
  REQUIRE(r.reason);
  CHECK(r.reason->cause == infeasibility::kind::out_of_memory);
}

} // namespace solve_least_memory_test
