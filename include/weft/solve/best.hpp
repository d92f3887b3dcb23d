// SPDX-License-Identifier: BSL-1.0
/// The best plan that a budget allows: heuristics, exact search where it pays, and refinement of what was found.
#pragma once

#include "weft/bound/component_memory.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/error.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/instance.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best_result.hpp"
#include "weft/solve/detail/congestion.hpp"
#include "weft/solve/detail/on_network.hpp"
#include "weft/solve/detail/portfolio.hpp"

#include <algorithm>
#include <concepts>
#include <memory>
#include <optional>
#include <utility>

namespace weft::solve {

namespace detail {
template <class Policy>
inline constexpr bool is_on_network = false;
template <class Policy, class Network, class Devices>
inline constexpr bool is_on_network<simulate::under<Policy, Network, Devices>> = true;

using on_any_network = simulate::under<schedule::static_order, simulate::any_network>;

/// Runs in the plan's order, alone or on a network of the library.
template <class Run>
inline constexpr bool runs_in_plain_order = std::same_as<Run, schedule::static_order>;
template <class Network>
inline constexpr bool runs_in_plain_order<simulate::under<schedule::static_order, Network>> =
  network_of_library<Network>;

/// Nothing but the numbers of an instance decides: E is of makespans in the plan's order, alone or on a network of the
/// library between devices whose links an instance has.
template <class E, class Problem>
concept needs_numbers_only =
  std::same_as<weft::detail::objective_of<E>, objective::makespan> && runs_in_plain_order<weft::detail::run_of<E>> &&
  (!is_on_network<weft::detail::run_of<E>> || std::same_as<typename Problem::platform_type, platform<>>);

/// Such a run policy, as one of two types: what runs and scores plans by them is compiled once.
template <class Run>
  requires runs_in_plain_order<Run>
constexpr auto compiled_run(const Run& run) {
  if constexpr (is_on_network<Run>) {
    return on_any_network{.network = as_any_network(run.network)};
  } else {
    return run;
  }
}

/// The result of `search(instance, its tensors, options)` for a problem, in the problem's numbers. To lower the problem
/// counts as part of the search.
template <class Problem, class Search>
best_result on_instance(const Problem& p, const best_options& options, Search search) {
  if constexpr (std::same_as<Problem, instance>) {
    return search(p, tensor_numbers{}, options);
  } else {
    const stopwatch watch;
    const lowered_problem numbers{p};
    const double lowering = watch.seconds();
    auto rest = options;
    rest.seconds = std::max(0.0, options.seconds - lowering);
    best_result found = search(*numbers, numbers.tensors(), rest);
    found.stats.partition_seconds += lowering;
    found.plan = numbers.tensors().original(std::move(found.plan));
    found.record = numbers.tensors().original(std::move(found.record));
    if (found.shortage) {
      found.shortage = numbers.tensors().original(std::move(*found.shortage));
    }
    return found;
  }
}

/// The search for a plan that runs alone, by the judge of the problem, whose demands every plan keeps to; of
/// `strictest`, no run exceeds them.
template <class Problem>
best_result best_alone(any_evaluator<Problem> judge, const Problem& strictest, const best_options& options) {
  return portfolio<Problem>{std::move(judge), options}.run(strictest);
}

/// Annealing from a plan, which it returns if none is better.
template <class Problem>
evaluated_plan annealed(const refine::simulated_annealing& search, any_evaluator<Problem>& judge, const plan& from,
                        rng& random) {
  return search(judge, judge.recorded(from), random);
}

/// The search itself. `p`: the problem that the instance was made of.
template <class Problem, class Original, class E>
best_result best_of(const Problem& lowered, const Original& p, const E& how, const tensor_numbers& tensors,
                    const best_options& options) {
  using policy = weft::detail::run_of<E>;
  const bool over_time = options.memory == memory_rule::over_time;
  if (p.num_ops() == 0) {
    best_result nothing;
    nothing.peaks.assign(over_time ? p.num_devices() : 0, 0);
    nothing.take(evaluator{p, how}.recorded({}));
    nothing.status = status::optimal;
    return nothing;
  }
  if (over_time && !is_on_network<policy> && !weft::detail::keeps_order<policy>) {
    throw value_error("solve::best", "memory over time is of runs in the plan's order; use memory_rule::reserved, or "
                                     "schedule::static_order");
  }
  /// With demands below which no run falls.
  const auto relaxed = [&]<class P>(const P& strict) -> std::shared_ptr<const P> {
    if (over_time) {
      return std::make_shared<const P>(strict.with_resident_demands());
    }
    return {std::shared_ptr<void>{}, &strict};
  };
  const auto numbers = relaxed(lowered);
  const auto original = relaxed(p);
  any_evaluator<Problem> judge{*numbers, original, how, tensors};
  if constexpr (is_on_network<policy>) {
    const on_network_of<Problem, Original, E> network{*numbers, *original, how, tensors};
    return best_on_network<Problem>(std::move(judge), lowered, network, options);
  } else {
    return best_alone<Problem>(std::move(judge), lowered, options);
  }
}
} // namespace detail

/// The best plan within a budget, under a run policy, for the makespan, or under an `evaluation` of a run policy and an
/// objective. Run the plan under the same policy.
/// ```
/// const auto r = weft::solve::best(problem, {.seconds = 10}); // the makespan in the plan's order, without contention
/// // r.plan, r.makespan, r.bound, r.gap(), r.record, r.tried
/// const weft::simulate::under fair{weft::schedule::static_order{}, weft::simulate::fair_sharing{}};
/// const auto s = weft::solve::best(problem, fair, {.seconds = 10});
/// ```
/// For identical devices and free transfers it uses exact search. Otherwise it runs several heuristics, each evaluated
/// in its own order and in that of a run by path completion time. Then come branch and bound for up to 60 ops, and for
/// more ops a better bound by refutation, if that can raise the objective's bound; then tabu search and annealing from
/// the best plan, of which the better one gets most of the time. Last, transfers that gain nothing are removed. It ends
/// early if a plan meets the bound. If the budget is in moves, the same problem, options and seed give the same result
/// with any number of threads.
///
/// Without a plan, the status is `infeasible` if it is proven that there is none, else `not_found`; `reason` says more.
/// Plans that miss a requirement of the objective are `late`, and returned only if no other plan was found. For an
/// objective other than the makespan, annealing evaluates it incrementally if it is a sum (`objective_parts::is_sum`).
/// Otherwise annealing chooses changes by the makespan, and simulated runs decide.
///
/// On a network: plans are made without contention and evaluated by simulated runs with it. If a run shows slower
/// transfers, the costs between these pairs of devices are raised accordingly, and plans are made again; last, single
/// changes are simulated. The result is never worse than the plan made without contention with the same moves, nor, if
/// there is time to try it, than everything on one device. A budget in moves holds for each of the two searches, and a
/// run counts as one move per five ops. A budget in seconds is for everything together, half of it for the first
/// search. Under `effort::heuristics` there are no further searches; under `first_plan` the first usable plan is the
/// only one. Memory: O(devices²).
///
/// With `.memory = memory_rule::over_time` no device exceeds its capacity in the run of the plan, also on a network;
/// `peaks` says how much each device holds. That finds plans which reservations would reject. Where memory binds,
/// heuristics run again under reservations learned from plans that needed too much; orders within the memory are
/// searched, for up to 60 ops exactly; plans are repaired; and annealing accepts no change that needs too much. If a
/// run on a network needs too much, plans are made again for less memory, and, of up to 10 ops, every plan is run.
/// Where memory does not bind, plans are those of unlimited memory. See docs/memory.md. Throws `value_error` for a
/// ready policy other than `schedule::static_order` that is on no network.
/// Source: a composition of parts of this library; each part names its own. Complexity: that of its parts, within the
/// budget.
/// Choose it when the plan matters more than the time to find it, or when you do not know what to choose.
template <must_be::problem Problem, class E>
  requires(!std::same_as<E, best_options>) && must_be::evaluation_for<E, Problem>
best_result best(const Problem& p, const E& how, const best_options& options = {}) {
  using policy = weft::detail::run_of<E>;
  static_assert(slot_policy_for<policy, Problem>,
                "weft: solve::best plans for devices that run an op per slot; for a concurrency strategy use "
                "weft::pipeline(partitioner, refine::local_search{}, strategy)");
  return detail::on_instance(p, options, [&](const instance& numbers, const tensor_numbers& tensors, const auto& rest) {
    if constexpr (detail::needs_numbers_only<E, Problem>) {
      return detail::best_of(numbers, numbers, detail::compiled_run(weft::detail::policy_in(how)), {}, rest);
    } else {
      return detail::best_of(numbers, p, how, tensors, rest);
    }
  });
}

// The same for the makespan, in the plan's order and without contention.
template <must_be::problem Problem>
best_result best(const Problem& p, const best_options& options = {}) {
  return best(p, schedule::static_order{}, options);
}

} // namespace weft::solve

#ifdef WEFT_COMPILED
namespace weft::solve::detail {
extern template best_result best_alone(any_evaluator<instance>, const instance&, const best_options&);
extern template best_result best_on_network(any_evaluator<instance>, const instance&, const on_network<instance>&,
                                            const best_options&);
extern template evaluated_plan annealed(const refine::simulated_annealing&, any_evaluator<instance>&, const plan&,
                                        rng&);
extern template std::optional<outcome<plan>> booked<partition::heft>(const instance&, const simulate::any_network&,
                                                                     rng&, workspace&);
extern template std::optional<outcome<plan>> booked<partition::peft>(const instance&, const simulate::any_network&,
                                                                     rng&, workspace&);
extern template plan in_path_order(const instance&, const simulate::any_network&, const plan&);
extern template best_result best_of(const instance&, const instance&, const schedule::static_order&,
                                    const tensor_numbers&, const best_options&);
extern template best_result best_of(const instance&, const instance&, const on_any_network&, const tensor_numbers&,
                                    const best_options&);
} // namespace weft::solve::detail
#endif
