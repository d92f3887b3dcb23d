// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"
#include "support/small_problem.hpp"

#include "weft/partition/hash.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

namespace simulate_plan_of_test {

using namespace weft;

template <class Policy, class Problem>
void check_repeats(const Problem& p, const placement& where, bool one_slot) {
  simulator<Problem, Policy> sim{p};
  simulator<Problem, schedule::static_order> again{p};
  trace run;
  trace repeated;
  sim.run({where, {}}, simulate::recorder{run});
  const plan followed = simulate::plan_of(p, run);
  CHECK(followed.placement == where);
  CHECK(validate(p, followed).empty());
  const auto result = again.run(followed, simulate::recorder{repeated});
  CHECK(result.complete);
  CHECK(repeated.makespan <= run.makespan);
  if (one_slot) {
    CHECK(repeated.ops == run.ops);
  }
}

TEST_CASE("plan_of: the order of any policy's run gives the same run again") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto w = generate::layered_sized(60, 6, 2, seed);
    const auto q = presets::make("paper_like_10"); // charges for sends
    const problem p{w, q};
    rng random{seed};
    workspace scratch;
    const auto where = partition::run(partition::hash{}, p, random, scratch);
    REQUIRE(where);
    check_repeats<schedule::fifo>(p, where->plan.placement, true);
    check_repeats<schedule::maximum_successor_rank>(p, where->plan.placement, true);
  }
}

TEST_CASE("plan_of: several slots, ops that take no time") {
  rng random{3};
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      workspace scratch;
      const auto where = partition::run(partition::hash{}, p, random, scratch);
      if (where) {
        check_repeats<schedule::fifo>(p, where->plan.placement, false);
      }
    });
  }
}

} // namespace simulate_plan_of_test
