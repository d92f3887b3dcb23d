// SPDX-License-Identifier: BSL-1.0
/// Composes a partitioner, refiners and an evaluation into a solver, at compile time.
#pragma once

#include "weft/bound/component_memory.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/solve/result.hpp"

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

namespace weft {

/// `s(problem)` returns a result.
template <class S, class Problem>
concept solver_for = requires(const S& s, const Problem& p) {
  { s(p) } -> std::convertible_to<result>;
};

namespace detail {

/// The stages in order: a partitioner, any refiners, an evaluation.
template <class... Stages>
class pipeline {
  static constexpr std::size_t last = sizeof...(Stages) - 1;
  template <std::size_t I>
  using stage = std::tuple_element_t<I, std::tuple<Stages...>>;
  using evaluation_type = stage<last>;

public:
  constexpr explicit pipeline(Stages... stages) : stages_{std::move(stages)...} {}

  /// Decides where, runs and judges the plan, refines it, and bounds it. The same problem and seed give the same
  /// result. Pass a workspace to reuse scratch memory between solves.
  template <class Problem>
  constexpr result operator()(const Problem& p, std::uint64_t seed = 0) const {
    workspace scratch;
    return (*this)(p, seed, scratch);
  }

  template <class Problem>
  constexpr result operator()(const Problem& p, std::uint64_t seed, workspace& scratch) const {
    if constexpr (!is_problem<Problem>) {
      return (void)must_be::problem<Problem>, result{};
    } else if constexpr (!fit<Problem>(between{})) {
      return explain<Problem>(between{}), result{};
    } else {
      return solve(p, seed, scratch);
    }
  }

private:
  using between = std::make_index_sequence<last == 0 ? 0 : last - 1>; // stage I + 1 is a refiner

  template <class Problem, std::size_t... I>
  static constexpr bool fit(std::index_sequence<I...>) {
    return partitioner_for<stage<0>, Problem> && evaluation_for<stage<last>, Problem> &&
           (... && refiner_for<stage<I + 1>, Problem, stage<last>>);
  }

  /// The compiler says which stages do not fit, and why.
  template <class Problem, std::size_t... I>
  static constexpr void explain(std::index_sequence<I...>) {
    (void)(must_be::partitioner_for<stage<0>, Problem> && must_be::evaluation_for<stage<last>, Problem> &&
           (... && must_be::refiner_for<stage<I + 1>, Problem, stage<last>>));
  }

  template <class Problem>
  constexpr result solve(const Problem& p, std::uint64_t seed, workspace& scratch) const {
    rng random{seed};
    evaluator<Problem, evaluation_type> judge{p, std::get<last>(stages_)};
    result r;
    lower_bound makespan = judge.makespan_bound();
    r.bound = judge.bound(makespan);
    const stopwatch deciding;
    auto decided = partition::run(std::get<0>(stages_), p, random, scratch);
    if (!decided) {
      r.reason = decided.error();
      r.status = bound::proves_infeasible(p, *r.reason) ? status::infeasible : status::not_found;
      return r;
    }
    const double placed = deciding.seconds();
    const stopwatch running;
    evaluated_plan first = run(judge, std::move(decided->plan));
    r.stats.simulate_seconds = running.seconds();
    evaluated_plan judged = refine<1>(judge, std::move(first), random, scratch);
    r.stats.partition_seconds = placed + running.seconds() - r.stats.simulate_seconds;
    if (slot_policy_for<weft::detail::run_of<evaluation_type>, Problem> && decided->bound > makespan.value) {
      makespan = {decided->bound, lower_bound::rule::search}; // of devices with an op per slot
      r.bound = judge.bound(makespan);
    }
    r.take(std::move(judged));
    return r;
  }

  /// Refiners want the record.
  template <class Problem>
  static constexpr evaluated_plan run(evaluator<Problem, evaluation_type>& judge, plan x) {
    if constexpr (last == 1) {
      return judge(std::move(x));
    } else {
      return judge.recorded(std::move(x));
    }
  }

  template <std::size_t I, class Problem>
  constexpr evaluated_plan refine(evaluator<Problem, evaluation_type>& judge, evaluated_plan start, rng& random,
                                  workspace& scratch) const {
    if constexpr (I == last) {
      return start;
    } else {
      evaluated_plan refined = std::get<I>(stages_)(judge, std::move(start), random);
      {
        auto marks = scratch.take<std::uint8_t>(judge.problem().num_ops());
        check_plan(judge.problem(), refined.plan, {marks.begin(), marks.end()}, "refiner", I);
      }
      return refine<I + 1>(judge, std::move(refined), random, scratch);
    }
  }

  std::tuple<Stages...> stages_;
};

} // namespace detail

/// A solver made of a partitioner, any number of refiners and how plans are judged: a ready policy, an `evaluation` of
/// one and an objective, or, for problems whose ops may have several threads, a concurrency strategy. With the latter,
/// where and with how many threads are decided together: refiners judge a placement by how its ops share cores.
/// ```
/// constexpr auto solve = weft::pipeline(weft::partition::critical_path{}, weft::schedule::path_completion_time{});
/// const auto result = solve(weft::problem{workload, platform});
/// ```
template <class Partitioner, class... Stages>
constexpr auto pipeline(Partitioner partitioner, Stages... stages) {
  return detail::pipeline<Partitioner, Stages...>{std::move(partitioner), std::move(stages)...};
}

} // namespace weft
