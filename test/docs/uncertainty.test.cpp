// SPDX-License-Identifier: BSL-1.0
// The code of docs/uncertainty.md.
#include "weft/cost/sampled.hpp"
#include "weft/evaluate/sampled_runs.hpp"
#include "weft/evaluate/slack.hpp"
#include "weft/objective/risk.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace docs_uncertainty_test {

TEST_CASE("docs: a plan's makespan as a distribution, and plans for a quantile") {
  const auto w = weft::zoo::make("mnist_conv");
  const auto q = weft::presets::make("workstation_2gpu");
  const weft::problem p{w, q};
  const auto r = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{})(p);
  // [times]
  weft::cost::uncertainty times{weft::cost::lognormal{0.1}};              // all ops, about 10 %
  times.set("Conv2D", weft::cost::lognormal{0.3});                        // these vary more
  times.set("MaxPool", weft::cost::empirical{{0.9, 0.95, 1, 1, 1, 1.6}}); // what was measured, over the estimate
  times.set_transfers(weft::cost::uniform{0.2});                          // transfers, and the sends before them
  // [times]
  // [distribution]
  const auto spread =
    weft::sample_makespans(p, r.plan, weft::schedule::static_order{}, times, {.samples = 500, .seed = 1});
  const double expected = spread.mean();                           // seconds
  const double kept = spread.quantile(0.95);                       // not exceeded with probability 0.95
  const double bad = spread.conditional_value_at_risk(0.95);       // the mean of the worst 5 %
  const double often = spread.criticality[3];                      // the share of samples in which op 3 decides
  // [distribution]
  CHECK(expected < kept);
  CHECK(kept < bad);
  CHECK(often <= 1);
  // [reacts]
  const auto reacting =
    weft::sample_makespans(p, r.plan, weft::schedule::path_completion_time{}, times, {.samples = 500, .seed = 1});
  // [reacts]
  CHECK(reacting.makespans.size() == 500);
  // [slack]
  weft::trace run;
  weft::simulator{p, weft::schedule::static_order{}}.run(r.plan, weft::simulate::recorder{run});
  const std::vector<double> slack = weft::slack_of_run(p, run); // seconds, by op
  // [slack]
  CHECK(*std::min_element(slack.begin(), slack.end()) == 0);
  {
    // [risk]
    const weft::objective::risk cautious{.measure = weft::objective::quantile(0.95), .times = times, .samples = 100};
    const auto solve = weft::pipeline(weft::partition::heft{}, weft::refine::genetic{.budget = {.moves = 200}},
                                      weft::evaluation{weft::schedule::static_order{}, cautious});
    const auto found = solve(p); // found.score.value: the quantile; found.makespan: by the estimates
    // [risk]
    CHECK(found.score.value >= found.bound.value);
  }
  {
    // [samples]
    weft::cost::draws draws{w, times, {.samples = 100, .seed = 1}};
    const auto actual = p.with_costs(weft::cost::sampled{p.cost(), draws}); // copies neither order nor components
    weft::simulator simulator{actual, weft::schedule::static_order{}}; // one for all samples
    double worst = 0;
    for (std::uint32_t s = 0; s < draws.size(); ++s) {
      draws.select(s);
      worst = std::max(worst, simulator.run(r.plan).makespan);
    }
    // [samples]
    CHECK(worst > r.makespan);
  }
}

} // namespace docs_uncertainty_test
