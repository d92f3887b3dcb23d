// SPDX-License-Identifier: BSL-1.0
/// Composes a partitioner, refiners and a ready policy or a concurrency strategy into a solver, at compile time.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/bound/component_memory.hpp"
#include "weft/bound/moldable.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/simulate/run_policy.hpp"
#include "weft/solve/result.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

namespace weft {

/// `s(problem)` returns a result.
template <class S, class Problem>
concept solver_for = requires(const S& s, const Problem& p) {
  { s(p) } -> std::convertible_to<result>;
};

/// What a finished run says about the plan. Sums in different orders may differ in the last digits, so a makespan
/// within 1e-9 of the bound counts as met. One below it does not: the bound is that of plans that keep to the
/// reservations.
constexpr status judge(const simulation& run, const lower_bound& bound) {
  if (!run.complete) {
    return status::incomplete;
  }
  const bool met = run.makespan <= bound.value * (1 + 1e-9) && run.makespan >= bound.value * (1 - 1e-9);
  return met && run.makespan < std::numeric_limits<double>::infinity() ? status::optimal : status::solved;
}

namespace detail {

/// The stages in order: a partitioner, any refiners, a ready policy.
template <class... Stages>
class pipeline {
  static constexpr std::size_t last = sizeof...(Stages) - 1;
  template <std::size_t I>
  using stage = std::tuple_element_t<I, std::tuple<Stages...>>;
  using policy_type = stage<last>;

public:
  constexpr explicit pipeline(Stages... stages) : stages_{std::move(stages)...} {}

  /// Decides where, refines, runs the plan in the simulator, without contention unless the policy is one on a network, and
  /// bounds it. The same problem and
  /// seed give the same result. Pass a workspace to reuse scratch memory between solves.
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
    return partitioner_for<stage<0>, Problem> && run_policy_for<stage<last>, Problem> &&
           (... && refiner_for<stage<I + 1>, Problem, stage<last>>);
  }

  /// The compiler says which stages do not fit, and why.
  template <class Problem, std::size_t... I>
  static constexpr void explain(std::index_sequence<I...>) {
    (void)(must_be::partitioner_for<stage<0>, Problem> && must_be::run_policy_for<stage<last>, Problem> &&
           (... && must_be::refiner_for<stage<I + 1>, Problem, stage<last>>));
  }

  template <class Problem>
  constexpr result solve(const Problem& p, std::uint64_t seed, workspace& scratch) const {
    rng random{seed};
    result r;
    r.bound = bound_of(p);
    const stopwatch deciding;
    auto decided = partition::run(std::get<0>(stages_), p, random, scratch);
    if (!decided) {
      r.reason = decided.error();
      r.status = bound::proves_infeasible(p, *r.reason) ? status::infeasible : status::not_found;
      return r;
    }
    r.plan = refine<1>(p, std::move(decided->plan), random, scratch);
    r.stats.partition_seconds = deciding.seconds();
    const stopwatch running;
    simulator_for<Problem, policy_type> sim{p, std::get<last>(stages_)};
    const simulation run = sim.run(r.plan);
    r.stats.simulate_seconds = running.seconds();
    r.stats.transfer_bytes = run.transfer_bytes;
    r.stats.num_events = run.num_events;
    r.makespan = run.makespan;
    if (slot_policy_for<policy_type, Problem> && decided->bound > r.bound.value) { // of devices with an op per slot
      r.bound = {decided->bound, lower_bound::rule::search};
    }
    r.status = judge(run, r.bound);
    return r;
  }

  template <class Problem>
  static constexpr lower_bound bound_of(const Problem& p) {
    if constexpr (slot_policy_for<policy_type, Problem>) {
      return bound::best(p);
    } else {
      return bound::moldable(p);
    }
  }

  template <std::size_t I, class Problem>
  constexpr plan refine(const Problem& p, plan start, rng& random, workspace& scratch) const {
    if constexpr (I == last) {
      return start;
    } else {
      plan refined = std::get<I>(stages_)(p, std::move(start), std::get<last>(stages_), random);
      {
        auto marks = scratch.take<std::uint8_t>(p.num_ops());
        check_plan(p, refined, {marks.begin(), marks.end()}, "refiner", I);
      }
      return refine<I + 1>(p, std::move(refined), random, scratch);
    }
  }

  std::tuple<Stages...> stages_;
};

} // namespace detail

/// A solver made of a partitioner, any number of refiners and a ready policy; or, for problems whose ops may have
/// several threads, a concurrency strategy, and then where and with how many threads are decided together: refiners
/// judge a placement by how its ops share cores.
/// ```
/// constexpr auto solve = weft::pipeline(weft::partition::critical_path{}, weft::schedule::path_completion_time{});
/// const auto result = solve(weft::problem{workload, platform});
/// ```
template <class Partitioner, class... Stages>
constexpr auto pipeline(Partitioner partitioner, Stages... stages) {
  return detail::pipeline<Partitioner, Stages...>{std::move(partitioner), std::move(stages)...};
}

} // namespace weft
