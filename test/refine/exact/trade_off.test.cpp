// SPDX-License-Identifier: BSL-1.0
// Against trying everything: test/property/energy.test.cpp.
#include "weft/refine/exact/trade_off.hpp"

#include "weft/objective/energy.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace refine_exact_trade_off_test {

using namespace weft;

TEST_CASE("trade_off: two ops on a slow and a fast device") {
  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 10});
  b.add_op({.work = 1, .resident_bytes = 10});
  const workload w = std::move(b).build();
  const auto front_of = [&](byte_count memory, std::uint64_t visits) {
    const platform<uniform_links> q{{{.speed = 0.25, .active_watts = 0.5},
                                     {.speed = 1, .memory_capacity = memory, .active_watts = 10}}, {}};
    const problem p{w, q};
    const objective::energy joules;
    pareto_front front{.makespan_bound = {.value = 1}};
    front.exact = refine::exact::trade_off{p, joules, visits, front}.run();
    return front;
  };
  const auto front = front_of(20, 1000); // both fast 2 s 20 J; one each 4 s 12 J; both slow 8 s 4 J
  CHECK(front.exact);
  REQUIRE(front.points.size() == 3);
  CHECK(front.points[0].makespan == 2);
  CHECK(front.points[0].value == 20);
  CHECK(front.points[0].plan.placement == placement{1, 1});
  CHECK(front.points[1].makespan == 4);
  CHECK(front.points[1].value == 12);
  CHECK(front.points[2].makespan == 8);
  CHECK(front.points[2].value == 4);

  CHECK(front_of(10, 1000).points.size() == 2); // the fast one has room for one
  CHECK(!front_of(20, 3).exact);
}

} // namespace refine_exact_trade_off_test
