// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/any_evaluator.hpp"

#include "mirrored.hpp"
#include "partition/place.hpp"
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
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/least_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

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
  for (int round = 0; round < 25; ++round) {
    const test::drawn x{random};
    const test::mirrored w{x.w};
    const auto check = [&]<class Problem>(const Problem& p) {
      const auto numbers = lower(p);
      workspace scratch;
      const auto decided = partition::run(partition::heft{}, *numbers, random, scratch);
      if (!decided) {
        return;
      }
      ++planned;
      for_each_evaluation([&](const auto& how) {
        evaluator typed{p, how};
        any_evaluator<instance> any{*numbers, std::make_shared<const Problem>(p), how, numbers.tensors()};
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
  CHECK(planned > 25);
}

TEST_CASE("any_evaluator: with a limit on memory it judges as objective::within_memory does") {
  rng random{32};
  int over = 0;
  for (int round = 0; round < 60; ++round) {
    const test::drawn x{random, {.capacity = 60}};
    const problem p{x.w, x.q};
    const auto roomy = p.with_demands(std::vector<byte_count>(p.num_components(), 0)).with_memory_share(0.5);
    const auto numbers = lower(roomy);
    workspace scratch;
    const auto decided = partition::run(partition::heft{}, *numbers, random, scratch);
    if (!decided) {
      continue;
    }
    const simulate::under fair{schedule::static_order{}, simulate::fair_sharing{}};
    const evaluation how{fair, joules};
    any_evaluator<instance> any{*numbers, std::make_shared<const std::remove_const_t<decltype(roomy)>>(roomy), how,
                                numbers.tensors()};
    any.limit_memory();
    evaluator typed{roomy, evaluation{fair, objective::within_memory{joules}}};
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

/// The result has the score and the run that an evaluator finds for its plan. Whether it has a plan.
template <class Problem, class E>
bool check_result(const Problem& p, const E& how, const solve::best_result& found, memory_rule rule) {
  if (!found.has_plan()) {
    return false;
  }
  evaluator typed{p, how};
  const auto again = typed.recorded(found.plan);
  CHECK(in_order_of_tensors(again.record) == in_order_of_tensors(found.record));
  CHECK(again.score == found.score);
  CHECK(again.run.makespan == found.makespan);
  if (rule == memory_rule::over_time) {
    simulate::memory_tracker<Problem> memory{p};
    memory.follow(found.plan.placement, found.record);
    CHECK(memory.peaks() == found.peaks);
  }
  return true;
}

TEST_CASE("solve::best: problems of all types, for all objectives and on networks, have the score of their plan") {
  rng random{33};
  int planned = 0;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const test::drawn x{random, {.max_ops = 12, .max_devices = 3}};
    const test::mirrored w{x.w};
    const problem p{w, x.q};
    for_each_evaluation([&](const auto& how) {
      const auto found = solve::best(p, how, {.moves = 200, .seed = round});
      CHECK(found.bound.value <= found.score.value * (1 + 1e-9));
      planned += check_result(p, how, found, memory_rule::reserved);
    });
  }
  CHECK(planned > 30);
}

/// Transfers that no line describes, and that depend on a tensor's number.
struct packets : cost::linear {
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P&, device_id from, device_id to) const {
    return static_cast<double>((w.bytes(t) / 4 + t) * (1 + from + 2 * to));
  }
};
/// A network that the library does not know.
struct own_ports : simulate::port_contention {};

TEST_CASE("solve::best: costs and networks of one's own, memory over time, tensors of other numbers") {
  rng random{34};
  int planned = 0;
  for (std::uint64_t round = 0; round < 12; ++round) {
    const byte_count capacity = round % 3 == 0 ? std::numeric_limits<byte_count>::max() : 30 + 5 * (round % 7);
    const test::drawn x{random, {.max_ops = 14, .max_devices = 3, .capacity = capacity}};
    const test::mirrored w{x.w};
    const problem p{w, x.q, packets{}};
    solve::best_options options{.moves = 200, .seed = round};
    options.memory = round % 2 == 0 ? memory_rule::reserved : memory_rule::over_time;
    const auto check = [&](const auto& how) {
      planned += check_result(p, how, solve::best(p, how, options), options.memory);
    };
    const schedule::static_order in_order;
    const simulate::under own{in_order, own_ports{}};
    check(evaluation{in_order, joules});
    check(evaluation{simulate::under{in_order, simulate::fair_sharing{}}, joules});
    check(evaluation{own, joules});
    check(own);
    if (round % 6 == 0) { // thousands of runs; of devices without a limit, too
      planned += check_result(p, in_order, solve::least_memory(p, options), memory_rule::over_time);
    }
  }
  CHECK(planned > 35);
}

using on_fair = simulate::under<schedule::static_order, simulate::fair_sharing>;

/// A value of its own where runs are on one network, and elsewhere the makespan.
struct knows_network {
  struct state {
    weft::score score(const plan& x, const trace&) const {
      return 1000 - static_cast<double>(std::ranges::count(x.placement, device_id{1}));
    }
  };
  template <class Problem>
  state state_for(const Problem&, const on_fair&) const {
    return {};
  }
  template <class Problem>
  weft::score score(const Problem&, const simulation& run) const {
    return run.makespan;
  }
};

TEST_CASE("solve::best: an objective is asked about runs under the very policy that was given") {
  workload_builder b;
  for (int i = 0; i < 6; ++i) {
    b.add_op({.work = 1});
  }
  const auto w = std::move(b).build();
  const platform<> q{{{.speed = 10}, {.speed = 1}}, link_matrix{2}};
  const problem p{w, q};
  const evaluation how{on_fair{}, knows_network{}};
  const auto found = solve::best(p, how, {.moves = 1000});
  REQUIRE(found.has_plan());
  CHECK(found.score.value > 900);
  CHECK(evaluator{p, how}.judge(found.plan) == found.score);
}

/// Proposes an order of its own.
struct proposes_order {
  template <class Problem>
  weft::score score(const Problem&, const simulation& run) const {
    return run.makespan;
  }
  template <class Problem>
  outcome<plan> propose(const Problem& p, const budget&, rng&) const {
    plan x{.placement = placement(p.num_ops(), 0)};
    for (const op_id v : p.topological_order()) {
      x.order.push_back(step::run(v));
      for (const tensor_id t : p.workload().outputs(v)) {
        x.order.push_back(step::send(v, t, 1));
      }
    }
    return x;
  }
};

TEST_CASE("any_evaluator: what an objective proposes has the numbers of the instance") {
  const workload w = test::ops_of({1, 1, 1}, {{0, 1}, {1, 2}}, 8).build();
  const test::mirrored other{w};
  const platform<> q{{{}, {}}, link_matrix{2}};
  const problem p{other, q};
  const auto numbers = lower(p);
  const any_evaluator<instance> any{*numbers, std::make_shared<const std::remove_const_t<decltype(p)>>(p),
                                    evaluation{schedule::static_order{}, proposes_order{}}, numbers.tensors()};
  REQUIRE(any.proposes());
  rng random{1};
  const auto proposed = any.propose({}, random);
  REQUIRE(proposed);
  for (const step& s : proposed->order) {
    if (s.is_send()) {
      CHECK(numbers->workload().producer(s.tensor) == s.op);
    }
  }
}

} // namespace any_evaluator_test
