// SPDX-License-Identifier: BSL-1.0
#include "weft/schedule/check_plan.hpp"

#include "support/small_problem.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace plan_check_plan_test {

using namespace weft;

TEST_CASE("check_plan: accepts plans of the problem and names what is wrong with others") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  const problem p{w, q};
  std::vector<std::uint8_t> marks(p.num_ops(), 7);
  const auto check = [&](const plan& x) { check_plan(p, x, marks, "stage", 3); };
  const order all{step::run(0), step::send(0, 0, 1), step::run(1), step::run(2), step::run(3)};
  CHECK_NOTHROW(check({{0, 1, 1, 0}, {}}));
  CHECK_NOTHROW(check({{0, 1, 1, 0}, all}));
  CHECK_NOTHROW(check({{0, 1, 1, 0}, all})); // whatever is in the marks
  CHECK_THROWS_WITH_AS(check({{0, 3, 1, 0}, {}}),
                       "stage 3: op 1 'b' is on device 3, and there are only 3 devices, from 0", dangling_id_error);
  order other = all;
  other[1].op = 1; // not the producer
  CHECK_THROWS_WITH_AS(check({{0, 1, 1, 0}, other}),
                       "stage 3: its order sends tensor 0 of op 1 to device 1, and there is no such transfer",
                       dangling_id_error);
}

TEST_CASE("check_plan: the simulator refuses placements that are none") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  const problem p{w, q};
  simulator sim{p, schedule::fifo{}};
  CHECK_THROWS_WITH_AS(sim.run({{0, 0, 9, 0}, {}}),
                       "placement: op 2 'c' is on device 9, and there are only 3 devices, from 0", dangling_id_error);
  CHECK_THROWS_WITH_AS(sim.run({{0, 0, none, 0}, {}}), "placement: op 2 'c' has no device", dangling_id_error);
  CHECK_THROWS_WITH_AS(sim.run({{0, 0, 0}, {}}), "placement: it places 3 ops, and the workload has 4", value_error);
  CHECK(sim.run({{0, 0, 0, 0}, {}}).complete);
}

} // namespace plan_check_plan_test
