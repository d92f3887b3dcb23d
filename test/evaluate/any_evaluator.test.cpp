// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/any_evaluator.hpp"

#include "mirrored.hpp"
#include "simulate/random_problem.hpp"

#include "weft/core/random.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/instance.hpp"
#include "weft/objective/energy.hpp"
#include "weft/objective/lexicographic.hpp"
#include "weft/objective/period.hpp"
#include "weft/objective/risk.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/objective/within_memory.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

namespace any_evaluator_test {

using namespace weft;

constexpr objective::energy joules{uniform_power{.idle = 2, .active = 5, .moved_byte = 0.25}};

/// Calls f with evaluations of many types.
template <class F>
void for_each_evaluation(F f) {
  const schedule::static_order in_order;
  const simulate::under fair{in_order, simulate::fair_sharing{}};
  f(in_order);
  f(schedule::fifo{});
  f(fair);
  f(evaluation{in_order, joules});
  f(evaluation{fair, joules});
  f(evaluation{in_order, objective::within_deadline{joules, 5}});
  f(evaluation{in_order, objective::lexicographic{objective::makespan{}, joules}});
  f(evaluation{in_order, objective::period{}});
  f(evaluation{in_order, objective::risk{.samples = 5}});
  f(evaluation{in_order, objective::within_memory{}});
}

/// The two say the same of a plan of the instance.
template <class Original, class E>
void check_same(any_evaluator<instance>& any, evaluator<Original, E>& typed, const tensor_numbers& tensors,
                const plan& x) {
  const auto expected = typed.recorded(tensors.original(x));
  const auto found = any.recorded(x);
  CHECK(found.plan == x);
  CHECK(found.score == expected.score);
  CHECK(found.run.makespan == expected.run.makespan);
  CHECK(found.run.transfer_bytes == expected.run.transfer_bytes);
  CHECK(any.last().makespan == expected.run.makespan);
  CHECK(found.record == tensors.lowered(expected.record));
  CHECK(any(x).score == expected.score);
  CHECK(any.judge(x) == expected.score);
  auto unrecorded = any(x);
  CHECK(any.record_of(unrecorded) == found.record);
  const auto sum = any.sum();
  const auto expected_sum = typed.sum();
  REQUIRE((sum == nullptr) == (expected_sum == nullptr));
  if (sum) {
    CHECK(sum->price().of(3) == expected_sum->price().of(3));
    for (const op_record& r : found.record.ops) {
      const auto v = static_cast<op_id>(&r - found.record.ops.data());
      CHECK(sum->op_charge(v, r.device) == expected_sum->op_charge(v, r.device));
    }
    for (const transfer_record& r : found.record.transfers) {
      CHECK(sum->transfer_charge(r.tensor, r.from, r.to) ==
            expected_sum->transfer_charge(tensors.original(r.tensor), r.from, r.to));
    }
  }
}

TEST_CASE("any_evaluator: it says what an evaluator of the original problem says") {
  rng random{31};
  int planned = 0;
  for (int round = 0; round < 60; ++round) {
    const test::drawn x{random};
    const test::mirrored w{x.w};
    const auto check = [&](const auto& p) {
      const auto numbers = lower(p);
      workspace scratch;
      const auto decided = partition::run(partition::heft{}, *numbers, random, scratch);
      if (!decided) {
        return;
      }
      ++planned;
      for_each_evaluation([&](const auto& how) {
        evaluator typed{p, how};
        any_evaluator<instance> any{*numbers, p, how, numbers.tensors()};
        check_same(any, typed, numbers.tensors(), decided->plan);
        auto copy = any;
        CHECK(copy.judge(decided->plan) == any.judge(decided->plan));
        CHECK(any.is_followed() == decltype(typed)::is_followed());
        CHECK(any.minimises_makespan() == decltype(typed)::minimises_makespan());
        CHECK(any.runs_in_order() == decltype(typed)::runs_in_order());
        CHECK(any.runs_alone() == decltype(typed)::runs_alone());
        CHECK(any.makespan_bound().value == typed.makespan_bound().value);
        CHECK(any.bound().value == typed.bound().value);
      });
    };
    check(problem{x.w, x.q});
    check(problem{w, x.q});
  }
  CHECK(planned > 50);
}

TEST_CASE("any_evaluator: with a limit on memory it judges as objective::within_memory does") {
  rng random{32};
  int over = 0;
  for (int round = 0; round < 60; ++round) {
    const test::drawn x{random, {.capacity = 60}};
    const problem p{x.w, x.q};
    const auto roomy = p.with_demands(std::vector<byte_count>(p.num_components(), 0));
    const auto numbers = lower(roomy);
    workspace scratch;
    const auto decided = partition::run(partition::heft{}, *numbers, random, scratch);
    if (!decided) {
      continue;
    }
    const simulate::under fair{schedule::static_order{}, simulate::fair_sharing{}};
    const evaluation how{fair, joules};
    any_evaluator<instance> any{*numbers, roomy, how, numbers.tensors()};
    any.limit_memory({memory_rule::over_time, 0.5});
    evaluator typed{roomy, evaluation{fair, objective::within_memory{joules, 0.5}}};
    check_same(any, typed, numbers.tensors(), decided->plan);
    over += any.judge(decided->plan).violation > 0 ? 1 : 0;
  }
  CHECK(over > 5);
}

trace in_order_of_tensors(trace run) {
  std::ranges::sort(run.transfers, [](const transfer_record& a, const transfer_record& b) {
    return a.tensor != b.tensor ? a.tensor < b.tensor : a.to < b.to;
  });
  return run;
}

TEST_CASE("solve::best: problems of all types, for all objectives and on networks, have the score of their plan") {
  rng random{33};
  for (std::uint64_t round = 0; round < 8; ++round) {
    const test::drawn x{random, {.max_ops = 12, .max_devices = 3}};
    const test::mirrored w{x.w};
    const problem p{w, x.q};
    for_each_evaluation([&](const auto& how) {
      const auto found = solve::best(p, how, {.moves = 200, .seed = round});
      if (found.has_plan()) {
        evaluator typed{p, how};
        const auto again = typed.recorded(found.plan);
        CHECK(in_order_of_tensors(again.record) == in_order_of_tensors(found.record));
        CHECK(again.score == found.score);
        CHECK(again.run.makespan == found.makespan);
        CHECK(found.bound.value <= found.score.value * (1 + 1e-9));
      }
    });
  }
}

} // namespace any_evaluator_test
