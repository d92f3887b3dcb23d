// SPDX-License-Identifier: BSL-1.0
/// What a refiner is: it makes a plan better, or leaves it as it is.
#pragma once

#include "weft/core/random.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/run_policy.hpp"

#include <concepts>

namespace weft {

/// `s(problem, plan, policy, random)` returns a plan that is never worse when it is run under `policy`. A value that
/// holds options, and no state of a run.
template <class S, class Problem, class Policy>
concept refiner_for = std::copy_constructible<S> && run_policy_for<Policy, Problem> &&
                      requires(const S& s, const Problem& p, plan start, const Policy& policy, rng& random) {
                        { s(p, std::move(start), policy, random) } -> std::convertible_to<plan>;
                      };

namespace why_not {
template <class S, class Problem, class Policy>
struct refiner_for {
  static constexpr bool can_be_called = std::invocable<const S&, const Problem&, weft::plan, const Policy&, rng&>;
  static_assert(can_be_called || !run_policy_for<Policy, Problem>, // else it is the policy that is wrong
                "weft: this is no refiner, which the stages between the first and the last of a pipeline must be: a "
                "const function of (problem, plan, policy, rng&) that returns a plan; see "
                "docs/concepts/refiner_for.md");
  static_assert(!can_be_called || !std::copy_constructible<S> || weft::refiner_for<S, Problem, Policy> ||
                  !run_policy_for<Policy, Problem>,
                "weft: this refiner does not return a plan; see docs/concepts/refiner_for.md");
  static_assert(std::copy_constructible<S>, "weft: a refiner is kept by value, so it must be copyable");
};
} // namespace why_not

namespace must_be {
template <class S, class Problem, class Policy>
concept refiner_for = weft::refiner_for<S, Problem, Policy> || explained<why_not::refiner_for<S, Problem, Policy>>;
} // namespace must_be

} // namespace weft
