// SPDX-License-Identifier: BSL-1.0
// Strategies at their worst: what was found once must stay true, or be found anew.
#include "adversarial.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/generate/ccr.hpp"
#include "weft/solve/registry.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

namespace golden_adversarial_test {

using namespace weft;
using strategies = registry<adversarial_problem>;

const strategies& all() {
  static const strategies r = strategies::standard();
  return r;
}

double makespan(const std::string& name, const adversarial_problem& p) {
  rng random{0};
  workspace scratch;
  const auto* strategy = all().find_partitioner(name);
  REQUIRE(strategy != nullptr);
  const auto decided = (*strategy)(p, random, scratch);
  REQUIRE(decided);
  CHECK(validate(p, decided->plan).empty());
  const auto run = (*all().find_policy(decided->plan.order.empty() ? "path_completion_time" : "static_order"))(
    p, contention_model::none);
  run->prepare(decided->plan);
  trace record;
  return run->run_prepared(record).makespan;
}

void check(const test::adversarial_case& c) {
  CAPTURE(c.loser);
  CAPTURE(c.winner);
  const workload w = c.instance.make_workload();
  const platform<> q = c.instance.make_platform();
  const adversarial_problem p{w, q};
  CHECK(makespan(c.loser, p) == doctest::Approx(c.loses_with).epsilon(1e-12));
  CHECK(makespan(c.winner, p) == doctest::Approx(c.wins_with).epsilon(1e-12));
  CHECK(c.loses_with > c.wins_with);
  CHECK(c.optimum <= c.wins_with);
  CHECK(bound::best(p).value <= c.optimum * (1 + 1e-12));
  rng random{0};
  workspace scratch;
  const auto exact = refine::branch_and_bound{}(p, random, scratch);
  REQUIRE(exact);
  CHECK(exact->bound == doctest::Approx(c.optimum).epsilon(1e-12));
}

TEST_CASE("adversarial: strategies lose as recorded, and the optimum is as recorded") {
  for (const auto& c : test::adversarial_cases) {
    check(c);
  }
}

TEST_CASE("adversarial: the same where computation takes as long as communication") {
  double worst_of_heft = 0;
  std::set<std::string> losers;
  for (const auto& c : test::computation_bound_cases) {
    check(c);
    CHECK(generate::ccr_of(c.instance.make_workload(), c.instance.make_platform()) <= 1);
    losers.insert(c.loser);
    if (c.loser == "heft") {
      worst_of_heft = std::max(worst_of_heft, c.loses_with / c.optimum);
    }
  }
  CHECK(losers.size() >= 12);
  CHECK(worst_of_heft > 9); // no list scheduler is safe, not even with little communication
}

} // namespace golden_adversarial_test
