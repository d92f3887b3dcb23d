// SPDX-License-Identifier: BSL-1.0
#include "weft/report/quality.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace report_quality_test {

using namespace weft::report;

run_record run(const std::string& workload, const std::string& partition, double makespan, double bound = 10) {
  return {.workload = workload,
          .platform = "p",
          .partition = partition,
          .schedule = "fifo",
          .status = std::isfinite(makespan) ? "solved" : "infeasible",
          .makespan = makespan,
          .lower_bound = bound};
}

TEST_CASE("family_of: up to a slash, else up to what counts or qualifies") {
  CHECK(family_of("suite:stencil_1d/ccr 0.1/related/1") == "suite:stencil_1d");
  CHECK(family_of("rand0042") == "rand");
  CHECK(family_of("zoo:lstm@32") == "zoo:lstm");
  CHECK(family_of("zoo:mnist_conv") == "zoo:mnist");
  CHECK(family_of("recurrent_network") == "recurrent");
  CHECK(family_of("robot") == "robot");
  CHECK(family_of("42") == "42");
  CHECK(family_of("zoo:3") == "zoo:3");
  CHECK(family_of("random:layered ops=40 ccr=0.1/7") == "random:layered ops=40 ccr=0.1");
  CHECK(family_of("random:stencil_1d width=4") == "random:stencil_1d width=4");
  CHECK(family_of("").empty());
}

TEST_CASE("quality: ratios to the best, gaps to the bound, and who wins how often") {
  const comparison c{{run("a1", "x", 20), run("a1", "y", 40), run("a2", "x", 80), run("a2", "y", 20),
                      run("b1", "x", 10), run("b1", "y", 10)}};
  const auto q = quality_of(c.sections());
  CHECK(q.families == std::vector<std::string>{"a", "b"});
  REQUIRE(q.strategies.size() == 2);
  const auto& y = q.strategies[0]; // ratios 2, 1, 1
  const auto& x = q.strategies[1]; // ratios 1, 4, 1
  CHECK(y.name == "y + fifo");
  CHECK(y.solved == 3);
  CHECK(y.problems == 3);
  CHECK(y.best == 2);
  CHECK(y.ratio.mean == doctest::Approx(std::cbrt(2)));
  CHECK(y.ratios == std::vector<double>{1, 1, 2});
  CHECK(y.gap.mean == doctest::Approx(std::cbrt(4. * 2 * 1) - 1));
  CHECK(y.family_gap[0] == doctest::Approx(std::sqrt(8.) - 1));
  CHECK(y.family_gap[1] == doctest::Approx(0));
  CHECK(x.best == 2);
  CHECK(x.ratio.mean == doctest::Approx(std::cbrt(4)));
  CHECK(y.share_within(1) == doctest::Approx(2. / 3));
  CHECK(y.share_within(1.99) == doctest::Approx(2. / 3));
  CHECK(y.share_within(2) == 1);
  CHECK(x.share_within(2) == doctest::Approx(2. / 3));
  CHECK(x.share_within(0.5) == 0);
}

TEST_CASE("quality: gaps are never negative, also where rounding puts makespans below the bound") {
  const comparison c{{run("a1", "x", std::nextafter(10.0, 0)), run("a2", "x", std::nextafter(10.0, 0))}};
  const auto q = quality_of(c.sections());
  CHECK(q.strategies[0].gap.mean == 0);
  CHECK(q.strategies[0].family_gap[0] == 0);
}

TEST_CASE("quality: what fails or runs in part counts against a strategy") {
  const comparison c{{run("a", "x", absent), run("a", "y", 20), run("b", "x", 10), run("b", "y", 20),
                      run("a", "z", absent), run("b", "z", absent)}};
  const auto q = quality_of(c.sections());
  REQUIRE(q.strategies.size() == 3);
  CHECK(q.strategies[0].partition == "y"); // it solved both, though x won where it solved
  CHECK(q.strategies[1].partition == "x");
  CHECK(q.strategies[1].share_within(100) == 0.5);
  CHECK(q.strategies[1].ratio.mean == 1);
  CHECK(q.strategies[2].solved == 0);
  CHECK(std::isnan(q.strategies[2].ratio.mean));
  CHECK(std::isnan(q.strategies[2].gap.mean));
  CHECK(q.strategies[2].share_within(1) == 0);
}

TEST_CASE("quality: nothing, no bound, and makespans of 0") {
  CHECK(quality_of({}).strategies.empty());
  const comparison c{{run("a", "x", 0, 0), run("a", "y", 3, 0), run("b", "x", 2, absent)}};
  const auto q = quality_of(c.sections());
  REQUIRE(q.strategies.size() == 2);
  CHECK(q.strategies[0].partition == "x");
  CHECK(q.strategies[0].ratio.mean == 1);
  CHECK(std::isnan(q.strategies[0].gap.mean));
  CHECK(std::isinf(q.strategies[1].ratio.mean));
  CHECK(q.strategies[1].share_within(1e300) == 0);
}

TEST_CASE("quality: refiners make strategies of their own") {
  auto plain = run("a", "x", 20);
  auto refined = run("a", "x", 10);
  refined.refine = "tabu_search";
  const auto q = quality_of(comparison{{plain, refined}}.sections());
  REQUIRE(q.strategies.size() == 2);
  CHECK(q.strategies[0].name == "x + tabu_search + fifo");
  CHECK(q.strategies[1].name == "x + fifo");
  CHECK(q.strategies[1].ratio.mean == 2);
}

TEST_CASE("quality: intervals over the problems, and what is won and lost against a baseline") {
  const comparison c{{run("a1", "x", 20), run("a1", "y", 40), run("a2", "x", 80), run("a2", "y", 20),
                      run("b1", "x", 10), run("b1", "y", 10), run("b2", "x", 30), run("b2", "y", absent)}};
  const auto q = quality_of(c.sections(), "x + fifo");
  const auto& x = q.strategies[0];
  const auto& y = q.strategies[1];
  CHECK(x.to_baseline.mean == 1);
  CHECK(x.to_baseline.low == 1);
  CHECK(x.wins == 0);
  CHECK(x.losses == 0);
  CHECK(y.to_baseline.mean == doctest::Approx(std::cbrt(2 * .25 * 1)));
  CHECK(y.wins == 1);
  CHECK(y.losses == 2); // one of them has no plan
  // Logarithms of 2, 1/4, 1 in base 2: mean -1/3, standard deviation 1.5275, over sqrt 3 times 4.3027: 3.7946.
  CHECK(y.to_baseline.low == doctest::Approx(std::exp2(-1. / 3 - 3.79462)).epsilon(1e-4));
  CHECK(y.to_baseline.high == doctest::Approx(std::exp2(-1. / 3 + 3.79462)).epsilon(1e-4));
  CHECK(x.makespan.mean == 35);
  CHECK(x.makespan.high - x.makespan.mean == doctest::Approx(3.182446 * std::sqrt(2900. / 3 / 4)).epsilon(1e-6));
  CHECK(x.ratio.low == 1); // nobody is better than the best
  CHECK(x.ratio.high > x.ratio.mean);
  CHECK(x.gap.low <= x.gap.mean);
  CHECK(x.gap.high >= x.gap.mean);
  const auto none = quality_of(c.sections());
  CHECK(none.strategies[1].wins == 0);
  CHECK(none.strategies[1].losses == 0);
  CHECK(std::isnan(none.strategies[1].to_baseline.mean));
  const auto single = quality_of(comparison{{run("a1", "x", 20)}}.sections());
  CHECK(std::isnan(single.strategies[0].ratio.low));
  CHECK(std::isnan(single.strategies[0].gap.low));
}

} // namespace report_quality_test
