// SPDX-License-Identifier: BSL-1.0
/// Replanning: new plans for the ops that have not begun, once devices are gone or times differ from estimates.
#pragma once

#include "weft/core/random.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/instance.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/continuation.hpp"
#include "weft/solve/pipeline.hpp"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::solve {

/// A run that goes on by another plan.
struct replanned {
  weft::status status = weft::status::not_found;
  /// Of the whole run: what had begun is where it was, and in the order in which it began; then comes what is left.
  weft::plan plan = {};
  trace run = {}; ///< the whole run, if the costs are right
  double makespan = std::numeric_limits<double>::infinity(); ///< of the whole run, in seconds
  /// The same if what is left goes on by the old plan; infinite if it cannot.
  double carried_on = std::numeric_limits<double>::infinity();
  std::vector<op_id> again = {}; ///< ops that run again, since a device that is gone had what they made
  std::optional<infeasibility> reason = {}; ///< without a plan

  bool has_plan() const { return status == weft::status::solved || status == weft::status::optimal; }
};

namespace detail {

template <class Continuation>
void take_if_better(replanned& found, const Continuation& rest, const plan& of_rest, weft::status s) {
  auto x = rest.whole(of_rest);
  if (x.run.complete && (!found.has_plan() || x.run.makespan < found.makespan)) {
    found.makespan = x.run.makespan;
    found.plan = std::move(x.plan);
    found.run = std::move(x.record);
    found.status = s;
  }
}

template <class Continuation>
replanned carry_on(const Continuation& rest, const std::optional<plan>& old) {
  replanned found;
  found.again.assign(rest.again().begin(), rest.again().end());
  if (old) {
    take_if_better(found, rest, *old, weft::status::solved);
    found.carried_on = found.makespan;
  }
  return found;
}

} // namespace detail

/// Plans what has not begun by a solver, such as a pipeline, and returns the better of that and of the old plan, which
/// it never is worse than where the old one may go on (`continuation::left_of`): ties to the old one. `p` is the
/// workload on the machine as it is now, with the times as they are known now; `old` the plan that the run followed,
/// with its order (`simulate::plan_of`, where a ready policy decided it).
/// ```
/// const auto s = weft::state_at(trace, 0.3); // or with what is gone: state_at(trace, 0.3, {2})
/// const auto r = weft::solve::replan(problem, s, plan, weft::pipeline(weft::partition::heft{},
/// weft::schedule::static_order{}));
/// ```
/// Without contention, for the makespan. Throws what `continuation` does. Complexity: the solver's, and a run of each
/// plan. Choose it where there is little time.
template <must_be::problem Problem, class Solver>
  requires solver_for<Solver, instance>
replanned replan(const Problem& p, const run_state& s, const plan& old, const Solver& solver) {
  const continuation rest{p, s};
  auto found = detail::carry_on(rest, rest.left_of(old));
  const result made = solver(rest.problem());
  if (made.has_plan()) {
    detail::take_if_better(found, rest, made.plan, made.status);
  } else if (!found.has_plan()) {
    found.status = made.status;
    found.reason = made.reason;
  }
  return found;
}

/// The same by `solve::best`, and by annealing from the old plan, each with half the budget. Memory is reserved.
/// Choose it when the plan matters more than the time to find it.
template <must_be::problem Problem>
replanned replan(const Problem& p, const run_state& s, const plan& old, const best_options& options = {}) {
  if (options.memory == memory_rule::over_time) {
    throw value_error("solve::replan", "memory over time is not kept by what goes on from a state; use "
                                       "memory_rule::reserved");
  }
  const continuation rest{p, s};
  const auto start = rest.left_of(old);
  auto found = detail::carry_on(rest, start);
  best_options half = options;
  if (start) {
    half.seconds /= 2;
    half.moves = options.all_moves() / 2;
    const weft::budget spend{.moves = half.moves, .seconds = half.seconds, .stop = options.stop};
    rng random{options.seed};
    any_evaluator<instance> judge{rest.problem()};
    const auto refined = detail::annealed({.budget = spend}, judge, *start, random);
    detail::take_if_better(found, rest, refined.plan, weft::status::solved);
  }
  const auto made = best(rest.problem(), half);
  if (made.has_plan()) {
    detail::take_if_better(found, rest, made.plan, weft::status::solved);
  } else if (!found.has_plan()) {
    found.status = made.status;
    found.reason = made.reason;
  }
  if (found.has_plan() && found.makespan <= made.bound.value * (1 + 1e-9)) {
    found.status = weft::status::optimal;
  }
  return found;
}

} // namespace weft::solve
