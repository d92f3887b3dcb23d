// SPDX-License-Identifier: BSL-1.0
#include "weft/plan/order_by_start.hpp"

#include "weft/core/random.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace order_by_start_test {

using namespace weft;

TEST_CASE("order_by_start: by start, and topologically where several start at once") {
  workload_builder b;
  const auto last = b.add_op({.work = 1}), first = b.add_op({.work = 0}), other = b.add_op({.work = 1});
  b.add_control_edge(first, last);
  const auto w = std::move(b).build();
  const platform<> q{{{}, {}}, link_matrix{2}};
  const problem p{w, q};
  CHECK(order_by_start(p, std::vector{0.0, 0.0, -1.0}) ==
        order{step::run(other), step::run(first), step::run(last)});
  CHECK(order_by_start(p, std::vector{2.0, 0.0, 1.0}) ==
        order{step::run(first), step::run(other), step::run(last)});
  CHECK_THROWS_WITH_AS(order_by_start(p, std::vector{2.0, 0.0}), "starts: are of 2 ops, and the problem has 3",
                       value_error);
  CHECK_THROWS_WITH_AS(order_by_start(p, std::vector{2.0, std::nan(""), 1.0}), "starts: op 1: is not a number",
                       value_error);
}

TEST_CASE("order_by_start: the starts of a run make a run that ends no later") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto w = generate::layered({}, seed);
    const auto q = presets::make("paper_like_10");
    const problem p{w, q};
    const auto decided = partition::run(partition::heft{}, p, seed);
    REQUIRE(decided);
    simulator<problem<workload, platform<>>, schedule::static_order> runs{p};
    trace made;
    const auto planned = runs.run(decided->plan, simulate::recorder{made});
    std::vector<double> starts;
    for (const auto& op : made.ops) {
      starts.push_back(op.start);
    }
    const auto again = runs.run({decided->plan.placement, order_by_start(p, starts)});
    CHECK(again.complete);
    CHECK(again.makespan <= planned.makespan * (1 + 1e-12));
  }
}

} // namespace order_by_start_test
