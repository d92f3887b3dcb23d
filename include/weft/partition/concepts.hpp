// SPDX-License-Identifier: BSL-1.0
/// The concept of a partitioner, which decides where every op runs.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/check_plan.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace weft {
namespace partition {

/// A plan, and what is known about all plans.
struct decided {
  weft::plan plan;
  double bound = 0; ///< proven by the partitioner: no plan has a smaller makespan, in seconds; 0 if it proved nothing
};

/// The result of a partitioner: a placement, a plan if it also decides an order, or a plan with a bound; each
/// possibly as an `outcome`.
template <class R>
concept decision = std::constructible_from<outcome<decided>, R> || std::constructible_from<outcome<plan>, R> ||
                   std::constructible_from<outcome<placement>, R>;

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
concept partitioner_for =
  std::copy_constructible<S> && (partition::takes_workspace<S, Problem> || partition::takes_random<S, Problem> ||
                                 partition::takes_problem<S, Problem>);

namespace why_not {
template <class S, class Problem>
struct partitioner_for {
  static constexpr bool can_be_called = std::invocable<const S&, const Problem&> ||
                                        std::invocable<const S&, const Problem&, rng&> ||
                                        std::invocable<const S&, const Problem&, rng&, workspace&>;
  static constexpr bool decides = partition::takes_problem<S, Problem> || partition::takes_random<S, Problem> ||
                                  partition::takes_workspace<S, Problem>;
  static constexpr bool lacks_const = called_only_if_mutable<S, const Problem&> ||
                                      called_only_if_mutable<S, const Problem&, rng&> ||
                                      called_only_if_mutable<S, const Problem&, rng&, workspace&>;
  static_assert(can_be_called || !lacks_const,
                "weft: operator() of this partitioner is not const, and a partitioner holds options and no state of a "
                "run: add const, or leave out mutable of a lambda; what a run needs is a local variable, or memory of "
                "the workspace; see docs/concepts/partitioner_for.md");
  static_assert(can_be_called || lacks_const,
                "weft: this is not a partitioner, which the first stage of a pipeline must be: a const function of "
                "(problem), (problem, rng&) or (problem, rng&, workspace&) that returns a placement or a plan; see "
                "docs/concepts/partitioner_for.md");
  static_assert(decides || !can_be_called,
                "weft: this partitioner returns neither a placement (a vector of device ids) nor a plan, nor an "
                "outcome of them; see docs/concepts/partitioner_for.md");
  static_assert(std::copy_constructible<S>, "weft: a partitioner is kept by value, so it must be copyable");
};
} // namespace why_not

namespace must_be {
template <class S, class Problem>
concept partitioner_for = weft::partitioner_for<S, Problem> || explained<why_not::partitioner_for<S, Problem>>;
} // namespace must_be

namespace partition {

namespace detail {
// Members are assigned one by one, since g++ 12 destroys temporaries of nested aggregates twice in constant
// expressions.
template <class R>
constexpr outcome<decided> as_outcome(R&& result) {
  if constexpr (std::constructible_from<outcome<decided>, R>) {
    return outcome<decided>(std::forward<R>(result));
  } else {
    constexpr bool has_plan = std::constructible_from<outcome<plan>, R>;
    outcome<std::conditional_t<has_plan, plan, placement>> o(std::forward<R>(result));
    if (!o) {
      return o.error();
    }
    decided d;
    if constexpr (has_plan) {
      d.plan = std::move(*o);
    } else {
      d.plan.placement = std::move(*o);
    }
    return d;
  }
}
template <class Problem, class S>
constexpr outcome<decided> call(const S& s, const Problem& p, rng& random, workspace& scratch) {
  if constexpr (takes_workspace<S, Problem>) {
    return as_outcome(s(p, random, scratch));
  } else if constexpr (takes_random<S, Problem>) {
    return as_outcome(s(p, random));
  } else {
    return as_outcome(s(p));
  }
}

template <class Problem>
constexpr outcome<decided> checked(outcome<decided> made, const Problem& p, workspace& scratch) {
  if (made) {
    auto marks = scratch.take<std::uint8_t>(p.num_ops());
    check_plan(p, made->plan, {marks.begin(), marks.end()}, "partitioner");
  } else if (made.error().op != none && made.error().op >= p.num_ops()) {
    throw dangling_id_error("partitioner",
                            "op " + std::to_string(made.error().op) + ", which fits nowhere, does not exist");
  }
  return made;
}
} // namespace detail

/// Calls any partitioner in the form that it wants, and turns what it returns into one type. Throws if that is no plan
/// of the problem; see `check_plan`.
template <class Problem, must_be::partitioner_for<Problem> S>
constexpr outcome<decided> run(const S& s, const Problem& p, rng& random, workspace& scratch) {
  return detail::checked(detail::call(s, p, random, scratch), p, scratch);
}

/// The same for one call: with a generator of this seed and a workspace of its own.
template <class Problem, must_be::partitioner_for<Problem> S>
constexpr outcome<decided> run(const S& s, const Problem& p, std::uint64_t seed = 0) {
  rng random{seed};
  workspace scratch;
  return run(s, p, random, scratch);
}

} // namespace partition
} // namespace weft
