// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/evaluation.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/partition/heft.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/large_neighbourhood_search.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace evaluate_evaluation_test {

using namespace weft;
using test::drawn_problem;

/// Σ starts of the ops: takes the record.
struct mean_start {
  template <class Problem>
  double score(const Problem&, const trace& run) const {
    double sum = 0;
    for (const auto& x : run.ops) {
      sum += x.start;
    }
    return sum;
  }
};

/// A sum: seconds, and a fee for each op that is not on the first device, and for each transfer. Late after a deadline.
struct fees {
  double fee = 3;
  double deadline = std::numeric_limits<double>::infinity();

  template <class Problem>
  weft::score score(const Problem& p, const trace& run) const {
    double sum = run.makespan;
    for (const op_id v : ids(p.num_ops())) {
      sum += op_charge(p, v, run.ops[v].device);
    }
    return {run.makespan > deadline ? run.makespan - deadline : 0,
            sum + fee * static_cast<double>(run.transfers.size())};
  }
  template <class Problem>
  double bound(const Problem&, const lower_bound& makespan) const {
    return makespan.value;
  }
  template <class Problem>
  objective_parts::price_of_time price(const Problem&) const {
    return {1, deadline, 1000};
  }
  template <class Problem>
  double op_charge(const Problem&, op_id, device_id d) const {
    return d == 0 ? 0 : fee;
  }
  template <class Problem>
  double transfer_charge(const Problem&, tensor_id, device_id, device_id) const {
    return fee;
  }
};

/// Keeps how many plans it has seen: the second is the best.
struct by_number {
  struct state {
    int seen = 0;
    weft::score score(const plan&, const trace& run) { return {0, ++seen == 2 ? 1.0 : 2.0, run.makespan}; }
  };
  template <class Problem, class Policy>
  state state_for(const Problem&, const Policy&) const {
    return {};
  }
};

static_assert(objective_parts::scores_traces<mean_start, drawn_problem>);
static_assert(objective_parts::is_sum<fees, drawn_problem> && objective_parts::has_bound<fees, drawn_problem>);
static_assert(evaluation_for<schedule::fifo, drawn_problem>);
static_assert(evaluation_for<evaluation<schedule::fifo, by_number>, drawn_problem>);
static_assert(!evaluation_for<evaluation<schedule::fifo, schedule::fifo>, drawn_problem>);
static_assert(!evaluation_for<evaluation<mean_start, mean_start>, drawn_problem>);

TEST_CASE("score: demands first, then the value, then what decides between equals") {
  CHECK(score{3} < score{4});
  CHECK(score{0, 4} < score{0.1, 3});
  CHECK(score{0, 4, 1} < score{0, 4, 2});
  CHECK(score{0, 3, 9} < score{0, 4, 2});
  CHECK(score{} > score{0, 1e300});
  CHECK(score{3}.admitted());
  CHECK_FALSE(score{1, 3}.admitted());
  CHECK_FALSE(score{}.admitted());
}

TEST_CASE("score: what differs by rounding alone is equal, and then the next part decides") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double sum = 0.1 + 0.2 + 0.3, other = 0.3 + 0.2 + 0.1; // the last bit differs
  REQUIRE(sum > other);
  CHECK_FALSE(score{other}.better_than(sum));
  CHECK_FALSE(score{sum}.better_than(other));
  CHECK(score{0, sum, 1}.better_than({0, other, 2}));
  CHECK_FALSE(score{0, other, 2}.better_than({0, sum, 1}));
  CHECK_FALSE(score{0, 1, sum}.better_than({0, 1, other}));
  CHECK_FALSE(score{0, 1, other}.better_than({0, 1, sum}));
  CHECK(score{sum, 5}.better_than({other, 6})); // as late

  CHECK(score{3}.better_than(3 * (1 + 1e-11)));
  CHECK(score{1'000'000}.better_than(1'000'000.00001));
  CHECK(score{1e12 - 1}.better_than(1e12)); // whole numbers are exact
  CHECK(score{0}.better_than(1e-300));
  CHECK(score{0, 5}.better_than({1e-300, 4})); // what is forbidden is, however little
  CHECK(score{-2}.better_than(-1));
  CHECK_FALSE(score{-1}.better_than(-2));
  CHECK(score{1e300}.better_than({}));
  CHECK_FALSE(score{}.better_than(1e300));
  CHECK_FALSE(score{}.better_than({}));
  CHECK(score{0, 1, 1}.better_than({0, 1, infinity}));
}

TEST_CASE("price_of_time: what a makespan costs, and the longest one that costs no more") {
  const objective_parts::price_of_time p{2, 10, 5};
  CHECK(p.of(4) == 8);
  CHECK(p.of(12) == 34);
  for (const double makespan : {0.0, 3.0, 10.0, 10.5, 40.0}) {
    CHECK(p.max_seconds(p.of(makespan)) == doctest::Approx(makespan));
  }
  CHECK(p.max_seconds(-1) < 0);
  const objective_parts::price_of_time only_late{0, 10, 5};
  CHECK(only_late.max_seconds(-1) < 0);
  CHECK(only_late.max_seconds(0) >= 10);
  CHECK(only_late.of(12) == 10);
}

TEST_CASE("evaluator: the run, its score and its record; once") {
  rng random{3};
  for (int round = 0; round < 200; ++round) {
    const test::drawn x{random};
    const auto start = pipeline(partition::heft{}, schedule::static_order{})(x.p);
    if (!start.has_plan()) {
      continue;
    }
    evaluator seconds{x.p, schedule::static_order{}};
    auto judged = seconds(start.plan);
    CHECK(judged.score == score{start.makespan});
    CHECK(judged.record.ops.empty());
    CHECK(seconds.record_of(judged).makespan == start.makespan);
    CHECK(seconds.bound() == bound::best(x.p));
    CHECK(seconds.recorded(start.plan).record == judged.record);

    evaluator starts{x.p, evaluation{schedule::static_order{}, mean_start{}}};
    CHECK(starts(start.plan).score.value == mean_start{}.score(x.p, judged.record));
    CHECK(starts(start.plan).run.makespan == start.makespan);
    CHECK(starts.bound().value == 0); // it states none
  }
  const test::drawn x{random};
  const plan p = pipeline(partition::heft{}, schedule::static_order{})(x.p).plan;
  evaluator numbers{x.p, evaluation{schedule::static_order{}, by_number{}}};
  CHECK(numbers(p).score.value == 2);
  CHECK(numbers(p).score.value == 1);
  CHECK(numbers(p).score.value == 2);
}

/// Its score is that of its run, and not worse than where it began.
template <class E, class Refiner>
bool refines(const drawn_problem& p, const E& how, const Refiner& refiner) {
  const auto before = pipeline(partition::heft{}, how)(p);
  const auto after = pipeline(partition::heft{}, refiner, how)(p);
  evaluator judge{p, how};
  REQUIRE(validate(p, after.plan).empty());
  REQUIRE(judge(after.plan).score == after.score);
  REQUIRE(!(before.score < after.score));
  REQUIRE(after.score.value >= after.bound.value * (1 - 1e-9));
  REQUIRE((after.status == status::late) == (after.score.violation > 0));
  return after.score < before.score;
}

template <class E>
int refined_by_all(const drawn_problem& p, const E& how) {
  return refines(p, how, refine::simulated_annealing{.budget = {.moves = 300}}) +
         refines(p, how, refine::tabu_search{.budget = {.moves = 30}}) +
         refines(p, how, refine::large_neighbourhood_search{.budget = {.moves = 50}}) +
         refines(p, how, refine::genetic{.budget = {.moves = 30}}) +
         refines(p, how, refine::local_search{.budget = {.moves = 60}});
}

TEST_CASE("evaluation: all refiners lower the score of any objective, under any policy") {
  rng random{5};
  const simulate::under fair{schedule::static_order{}, simulate::fair_sharing{}};
  int better = 0;
  for (int round = 0; round < 40; ++round) {
    const test::drawn x{random, {.max_ops = 25, .max_devices = 4, .kinds = false}};
    if (!pipeline(partition::heft{}, schedule::fifo{})(x.p).has_plan()) {
      continue;
    }
    better += refined_by_all(x.p, evaluation{schedule::static_order{}, fees{}});
    better += refined_by_all(x.p, evaluation{fair, fees{}});
    better += refined_by_all(x.p, evaluation{schedule::static_order{}, mean_start{}});
    better += refined_by_all(x.p, evaluation{schedule::fifo{}, mean_start{}});
  }
  CHECK(better > 100);
}

TEST_CASE(
  "solve::best: for any objective not worse than what it tries, and a deadline is kept where that is possible") {
  rng random{8};
  int dear = 0;
  for (int round = 0; round < test::rounds(60); ++round) {
    const test::drawn x{random, {.max_ops = 20, .max_devices = 4}};
    const auto fast = solve::best(x.p, {.moves = 1000});
    if (!fast.has_plan()) {
      continue;
    }
    const evaluation how{schedule::static_order{}, fees{}};
    const auto cheap = solve::best(x.p, how, {.moves = 1000});
    REQUIRE(cheap.has_plan());
    evaluator judge{x.p, how};
    CHECK(judge(cheap.plan).score == cheap.score);
    CHECK(!(judge(fast.plan).score < cheap.score));
    CHECK(cheap.score.value >= cheap.bound.value * (1 - 1e-9));
    for (const auto& t : cheap.tried) {
      CHECK(cheap.score.value <= t.value);
    }
    CHECK(solve::best(x.p, how, {.moves = 1000}).plan == cheap.plan);
    CHECK(solve::best(x.p, how, {.moves = 1000, .threads = 2}).plan == cheap.plan);

    const evaluation soon{schedule::static_order{}, fees{.deadline = fast.makespan}};
    const auto in_time = solve::best(x.p, soon, {.moves = 4000});
    dear += in_time.has_plan() && in_time.makespan <= fast.makespan && in_time.score.value >= cheap.score.value;
    const evaluation too_soon{schedule::static_order{}, fees{.deadline = fast.bound.value * 0.9}};
    const auto late = solve::best(x.p, too_soon, {.moves = 100});
    CHECK((fast.bound.value == 0 || late.status == status::late));
    CHECK((fast.bound.value == 0 || late.score.violation > 0));
  }
  CHECK(dear > test::rounds(30));
}

TEST_CASE("solve::best: an objective that cannot be followed, and one on a network") {
  rng random{12};
  for (int round = 0; round < test::rounds(30); ++round) {
    const test::drawn x{random, {.max_ops = 20, .max_devices = 4}};
    const simulate::under fair{schedule::static_order{}, simulate::fair_sharing{}};
    const auto check = [&](const auto& how) {
      const auto r = solve::best(x.p, how, {.moves = 2000});
      const auto first = pipeline(partition::heft{}, how)(x.p);
      REQUIRE(r.has_plan() >= first.has_plan());
      if (r.has_plan()) {
        evaluator judge{x.p, how};
        const auto judged = judge(r.plan);
        CHECK(judged.score == r.score);
        CHECK(judged.run.makespan == r.makespan);
        CHECK(!(first.score < r.score));
      }
    };
    check(evaluation{schedule::static_order{}, mean_start{}});
    check(evaluation{schedule::fifo{}, mean_start{}});
    check(evaluation{fair, mean_start{}});
    check(evaluation{fair, fees{}});
    check(fair);
  }
}

} // namespace evaluate_evaluation_test
