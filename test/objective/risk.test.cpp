// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/risk.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate/random_dag.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace objective_risk_test {

using namespace weft;

TEST_CASE("risk: of plans with many short ops and with one long one, the measure decides") {
  // One op of 10 on device 0, or the same work in a chain of four ops on device 1 with detours: 10.4 in all. The sum of
  // four independent lengths spreads less, so that the mean prefers the first and high quantiles the second.
  workload_builder b;
  b.add_op({.work = 10, .bytes = 1});
  const auto whole = std::move(b).build();
  workload_builder parts;
  for (int i = 0; i < 4; ++i) {
    parts.add_op({.work = 2.6, .bytes = 1});
    if (i > 0) {
      parts.add_edge(static_cast<op_id>(i - 1), static_cast<op_id>(i));
    }
  }
  const auto split = std::move(parts).build();
  const platform q{std::vector<device>(1), uniform_links{}};
  const auto value = [&](const workload& w, objective::risk_measure m) {
    const problem p{w, q};
    evaluator e{p, evaluation{schedule::static_order{}, objective::risk{.measure = m, .times = cost::lognormal{0.3}}}};
    return e.judge({placement(w.num_ops(), 0)}).value;
  };
  CHECK(value(whole, objective::mean) < value(split, objective::mean));
  CHECK(value(whole, objective::quantile(0.95)) > value(split, objective::quantile(0.95)));
  const auto cvar = objective::conditional_value_at_risk(0.95);
  CHECK(value(whole, cvar) > value(split, cvar));
  const double quantile = 10 * 1.565; // 10 exp(1.645 · 0.3 − 0.045)
  CHECK(value(whole, objective::quantile(0.95)) == doctest::Approx(quantile).epsilon(0.1));
}

TEST_CASE("risk: without uncertainty, the makespan; and the makespan by estimates decides between equals") {
  const auto w = generate::random_dag({.ops = 60, .degree = 2}, 1);
  const platform q{std::vector<device>(3), link_matrix{3, {0.5, 5}}};
  const problem p{w, q};
  placement where(w.num_ops());
  for (const op_id v : ids(w.num_ops())) {
    where[v] = v % 3;
  }
  evaluator plain{p, schedule::static_order{}};
  for (const auto m : {objective::mean, objective::quantile(0.9), objective::conditional_value_at_risk(0.9)}) {
    const objective::risk certain{.measure = m, .times = {}, .samples = 20};
    evaluator e{p, evaluation{schedule::static_order{}, certain}};
    const auto s = e.judge({where});
    CHECK(s.value == doctest::Approx(plain.judge({where}).value).epsilon(1e-12));
    CHECK(s.violation == 0);
    CHECK(s.tie == plain.judge({where}).value);
    const auto least = plain.makespan_bound();
    CHECK(e.bound(least).value == doctest::Approx(least.value).epsilon(1e-12));
    CHECK(e.bound(least).which == least.which);
  }
}

TEST_CASE("risk: evaluators with ready policies and networks, one after another, and moved") {
  const auto w = generate::random_dag({.ops = 60, .degree = 2}, 1);
  const platform q{std::vector<device>(3), link_matrix{3, {0.5, 5}}, 5};
  const problem p{w, q};
  placement where(w.num_ops());
  for (const op_id v : ids(w.num_ops())) {
    where[v] = v % 3;
  }
  const objective::risk cautious{.samples = 20};
  const auto check = [&](auto policy) {
    evaluator e{p, evaluation{policy, cautious}};
    const auto s = e({where}).score;
    const auto expected = sample_makespans(p, {where}, policy, cautious.times, {cautious.samples, cautious.seed});
    CHECK(s.value == expected.quantile(0.95));
    CHECK(s.tie == expected.estimate);
    CHECK(e.bound(e.makespan_bound()).value <= s.value);
    CHECK(e.bound(e.makespan_bound()).value > 0);
    CHECK(e.judge({placement(w.num_ops(), 0)}).value > s.value); // all on one
    auto moved = std::move(e);
    CHECK(moved.judge({where}) == s);
    CHECK(moved.recorded({where}).score == s);
  };
  check(schedule::static_order{});
  check(schedule::path_completion_time{});
  check(simulate::under{schedule::static_order{}, simulate::port_contention{}});
  check(simulate::under{schedule::path_completion_time{}, simulate::port_contention{}});
}

TEST_CASE("risk: an order that contradicts the graph has the worst score") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 1});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform q{std::vector<device>(1), uniform_links{}};
  const problem p{w, q};
  evaluator e{p, evaluation{schedule::static_order{}, objective::risk{}}};
  CHECK_FALSE(e.judge({{0, 0}, {step::run(1), step::run(0)}}).admitted());
  CHECK(e.judge({{0, 0}, {step::run(0), step::run(1)}}).admitted());
}

TEST_CASE("risk: refiners and solve::best minimise it") {
  const auto w = generate::random_dag({.ops = 40, .degree = 2}, 1);
  const platform q{std::vector<device>{{.speed = 1}, {.speed = 2}, {.speed = 1.5}}, link_matrix{3, {0.5, 20}}};
  const problem p{w, q};
  const evaluation how{schedule::static_order{},
                       objective::risk{.measure = objective::conditional_value_at_risk(0.9), .samples = 30}};
  evaluator judge{p, how};
  const auto first = pipeline(partition::heft{}, how)(p);
  CHECK(first.score == judge.judge(first.plan));
  const auto check = [&](const result& r) {
    REQUIRE(r.has_plan());
    CHECK(r.score == judge.judge(r.plan));
    CHECK(r.score <= first.score);
    CHECK(r.bound.value <= r.score.value);
    CHECK(r.bound.value > 0.3 * r.score.value);
  };
  const auto evolved = pipeline(partition::heft{}, refine::genetic{.budget = {.moves = 600}}, how)(p, 1);
  check(evolved);
  CHECK(evolved.score < first.score);
  // The same search for the makespan ends elsewhere.
  const evaluation plain{schedule::static_order{}, objective::risk{.times = {}, .samples = 1}};
  const auto other = pipeline(partition::heft{}, refine::genetic{.budget = {.moves = 600}}, plain)(p, 1);
  CHECK(other.score.value <= first.makespan);
  CHECK(evolved.score.value < judge.judge(other.plan).value);
  check(pipeline(partition::heft{}, refine::simulated_annealing{.budget = {.moves = 600}}, how)(p, 1));
  check(pipeline(partition::heft{}, refine::local_search{.budget = {.moves = 100}}, how)(p, 1));
  check(solve::best(p, how, {.moves = 600}));
}

// What a policy cannot be asked in samples, it cannot be asked at all.
using some_problem = problem<workload, platform<uniform_links>>;
struct of_this_problem_only {
  double operator()(const placed_flow<some_problem>&, item_id) const { return 0; }
};
static_assert(evaluation_for<of_this_problem_only, some_problem>);
static_assert(!evaluation_for<evaluation<of_this_problem_only, objective::risk>, some_problem>);
static_assert(evaluation_for<evaluation<schedule::path_completion_time, objective::risk>, some_problem>);

} // namespace objective_risk_test
