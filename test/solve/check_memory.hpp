// SPDX-License-Identifier: BSL-1.0
/// Checks of what solvers say of memory over time.
#pragma once

#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

namespace weft::test {

/// That the validator agrees with what a result says of memory.
template <class Problem>
void check_memory(const Problem& p, const solve::best_result& r) {
  REQUIRE(r.has_plan());
  trace run;
  simulator<Problem, schedule::static_order> sim{p};
  CHECK(sim.run(r.plan, simulate::recorder{run}).complete);
  CHECK(run.makespan == r.makespan);
  const auto wrong = validate(p, r.plan.placement, run, {.memory = memory_rule::over_time});
  CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : to_string(wrong.front())));
  CHECK(validate(p, r.plan, memory_rule::over_time).empty());
  CHECK(peak_memory_of(p, r.plan.placement, run) == r.peaks);
  CHECK(r.bound.value <= r.makespan * (1 + 1e-9));
}

} // namespace weft::test
