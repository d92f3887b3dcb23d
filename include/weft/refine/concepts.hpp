// SPDX-License-Identifier: BSL-1.0
/// The concept of a refiner, which makes a plan better or leaves it as it is.
#pragma once

#include "weft/core/random.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"

#include <concepts>
#include <utility>

namespace weft {

/// `s(judge, start, random)` returns a plan that `judge`, an `evaluator<Problem, E>&`, has judged, and whose score is
/// not worse than that of `start`, which it has judged, too. A value that holds options, and no state of a run.
template <class S, class Problem, class E>
concept refiner_for = std::copy_constructible<S> && evaluation_for<E, Problem> &&
                      requires(const S& s, evaluator<Problem, E>& judge, evaluated_plan start, rng& random) {
                        { s(judge, std::move(start), random) } -> std::convertible_to<evaluated_plan>;
                      };

namespace why_not {
template <class S, class Problem, class E, bool = weft::evaluation_for<E, Problem>>
struct refiner_for {}; // it is the evaluation that is wrong
template <class S, class Problem, class E>
struct refiner_for<S, Problem, E, true> {
  static constexpr bool can_be_called =
    std::invocable<const S&, evaluator<Problem, E>&, weft::evaluated_plan, rng&>;
  static constexpr bool lacks_const =
    called_only_if_mutable<S, evaluator<Problem, E>&, weft::evaluated_plan, rng&>;
  static_assert(!lacks_const,
                "weft: operator() of this refiner is not const, and a refiner holds options and no state of a run: add "
                "const, or leave out mutable of a lambda; see docs/concepts/refiner_for.md");
  static_assert(can_be_called || lacks_const,
                "weft: this is not a refiner, which the stages between the first and the last of a pipeline "
                "must be: a const function of (evaluator&, evaluated_plan, rng&) that returns an "
                "evaluated_plan; see docs/concepts/refiner_for.md");
  static_assert(!can_be_called || !std::copy_constructible<S> || weft::refiner_for<S, Problem, E>,
                "weft: this refiner does not return an evaluated_plan; see docs/concepts/refiner_for.md");
  static_assert(std::copy_constructible<S>, "weft: a refiner is kept by value, so it must be copyable");
};
} // namespace why_not

namespace must_be {
template <class S, class Problem, class E>
concept refiner_for = weft::refiner_for<S, Problem, E> || explained<why_not::refiner_for<S, Problem, E>>;
} // namespace must_be

namespace refine {

/// Runs a plan and refines it; for one call. To refine several plans of a problem, keep an `evaluator`.
template <class Problem, class S, class E>
  requires refiner_for<S, Problem, E>
constexpr evaluated_plan improve(const Problem& p, plan start, const S& refiner, const E& how, rng& random) {
  evaluator<Problem, E> judge{p, how};
  return refiner(judge, judge.recorded(std::move(start)), random);
}

} // namespace refine
} // namespace weft
