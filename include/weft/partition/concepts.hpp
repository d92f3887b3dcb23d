// SPDX-License-Identifier: BSL-1.0
/// What a partitioner is: it decides where every op runs.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"

#include <concepts>
#include <utility>

namespace weft {
namespace partition {

/// What a partitioner may return: a placement, or a plan if it also decides an order, each possibly as an `outcome`.
template <class R>
concept decision = std::constructible_from<outcome<plan>, R> || std::constructible_from<outcome<placement>, R>;

template <class S, class Problem>
concept takes_problem = requires(const S& s, const Problem& p) {
  { s(p) } -> decision;
};
template <class S, class Problem>
concept takes_random = requires(const S& s, const Problem& p, rng& random) {
  { s(p, random) } -> decision;
};
template <class S, class Problem>
concept takes_workspace = requires(const S& s, const Problem& p, rng& random, workspace& scratch) {
  { s(p, random, scratch) } -> decision;
};

} // namespace partition

/// A function object, or a lambda, that is called with a problem, and with a random generator and a workspace if it
/// wants them: `s(problem)`, `s(problem, random)` or `s(problem, random, scratch)`. It is a value that holds options
/// and no state of a run, so the same seed gives the same decision.
template <class S, class Problem>
concept partitioner_for = std::copyable<S> && (partition::takes_workspace<S, Problem> ||
                                               partition::takes_random<S, Problem> ||
                                               partition::takes_problem<S, Problem>);

namespace partition {

namespace detail {
constexpr outcome<plan> as_plan(outcome<plan> o) { return o; }
constexpr outcome<plan> as_plan(plan p) { return outcome<plan>{std::move(p)}; }
constexpr outcome<plan> as_plan(placement p) { return outcome<plan>{plan{std::move(p), {}}}; }
constexpr outcome<plan> as_plan(outcome<placement> o) {
  return o ? outcome<plan>{plan{std::move(*o), {}}} : outcome<plan>{o.error()};
}
} // namespace detail

/// Calls any partitioner in the form that it wants, and turns what it returns into an `outcome<plan>`.
template <class Problem, partitioner_for<Problem> S>
constexpr outcome<plan> run(const S& s, const Problem& p, rng& random, workspace& scratch) {
  if constexpr (takes_workspace<S, Problem>) {
    return detail::as_plan(s(p, random, scratch));
  } else if constexpr (takes_random<S, Problem>) {
    return detail::as_plan(s(p, random));
  } else {
    return detail::as_plan(s(p));
  }
}

} // namespace partition
} // namespace weft
