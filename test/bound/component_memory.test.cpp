// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/component_memory.hpp"

#include "weft/cost/compose.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace bound_component_memory_test {

using namespace weft;
using reason = infeasibility::kind;

/// a makes 10 bytes for b, which makes 20; both keep 5, and are a group.
workload pair_of_ops() {
  workload_builder b;
  const auto first = b.add_op({.work = 1, .bytes = 10, .resident_bytes = 5});
  const auto second = b.add_op({.work = 1, .bytes = 20, .resident_bytes = 5});
  b.add_edge(first, second);
  b.colocate(first, second);
  return std::move(b).build();
}

platform<uniform_links> one_device(byte_count capacity) { return {{{.memory_capacity = capacity}}, {}}; }

TEST_CASE("why_never_fits: the op of a component that needs most at once") {
  const auto w = pair_of_ops();
  const auto q = one_device(39); // 10 resident, and 30 while the second op runs
  const problem p{w, q};
  CHECK(p.demand(0) == 10 + 10 + 10 + 20);
  const auto why = bound::why_never_fits(p, 0);
  REQUIRE(why);
  CHECK(*why == infeasibility{reason::out_of_memory, 1, 2, kind_set::all(), 40, 39});
  const auto larger = one_device(40);
  CHECK_FALSE(bound::why_never_fits(problem{w, larger}, 0));
  const auto twice = one_device(80);
  CHECK_FALSE(bound::why_never_fits(problem{w, twice}.with_memory_share(0.5), 0));
  CHECK(bound::why_never_fits(problem{w, twice}.with_memory_share(0.49), 0));
}

TEST_CASE("why_never_fits: ops that take no time hold no tensors") {
  const auto w = pair_of_ops();
  const auto q = one_device(10);
  CHECK_FALSE(bound::why_never_fits(problem{w, q, cost::scaled{cost::linear{}, 0, 1}}, 0));
}

TEST_CASE("proves_infeasible: not that reservations left no room") {
  const auto w = pair_of_ops();
  const auto q = one_device(49);
  const problem p{w, q};
  CHECK_FALSE(bound::proves_infeasible(p, {reason::out_of_memory, 0, 2, kind_set::all(), 50, 49}));
  CHECK_FALSE(bound::proves_infeasible(p, {.cause = reason::not_found}));
  CHECK_FALSE(bound::proves_infeasible(p, {.cause = reason::out_of_memory, .op = none}));
  CHECK_FALSE(bound::proves_infeasible(p, {.cause = reason::no_device_of_kind, .op = 0})); // there is one
  CHECK(bound::proves_infeasible(p, {.cause = reason::out_of_all_memory}));
  const auto small = one_device(39);
  CHECK(bound::proves_infeasible(problem{w, small}, {reason::out_of_memory, 0, 2, kind_set::all(), 50, 39}));
}

} // namespace bound_component_memory_test
