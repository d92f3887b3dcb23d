// SPDX-License-Identifier: BSL-1.0
/// The evaluation of plans: the policy, network and devices that they run under, and the objective to minimise.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/bound/moldable.hpp"
#include "weft/core/explained.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/evaluated_plan.hpp"
#include "weft/evaluate/makespan.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/run_policy.hpp"
#include "weft/simulate/under.hpp"

#include <concepts>
#include <limits>
#include <memory>
#include <utility>

namespace weft {

/// A run policy and an objective, as one value. All that takes an evaluation takes a run policy alone, too, and then
/// minimises the makespan.
/// ```
/// weft::pipeline(weft::partition::heft{}, weft::refine::simulated_annealing{},
///                weft::evaluation{weft::schedule::static_order{}, weft::objective::energy{…}});
/// ```
template <class Run, class Objective = objective::makespan>
struct evaluation {
  Run run{};
  [[no_unique_address]] Objective objective{};
};
template <class Run>
evaluation(Run) -> evaluation<Run>;
template <class Run, class Objective>
evaluation(Run, Objective) -> evaluation<Run, Objective>;

namespace detail {
template <class E>
struct parts_of_evaluation {
  using run = E;
  using objective = weft::objective::makespan;
};
template <class Run, class Objective>
struct parts_of_evaluation<evaluation<Run, Objective>> {
  using run = Run;
  using objective = Objective;
};
template <class E>
constexpr const E& policy_in(const E& how) {
  return how;
}
template <class Run, class Objective>
constexpr const Run& policy_in(const evaluation<Run, Objective>& how) {
  return how.run;
}
template <class E>
constexpr objective::makespan objective_in(const E&) {
  return {};
}
template <class Run, class Objective>
constexpr const Objective& objective_in(const evaluation<Run, Objective>& how) {
  return how.objective;
}
template <class E>
using run_of = typename parts_of_evaluation<E>::run;
template <class E>
using objective_of = typename parts_of_evaluation<E>::objective;
} // namespace detail

/// E judges plans of Problem: a run policy, or an `evaluation` of one and an objective.
template <class E, class Problem>
concept evaluation_for = run_policy_for<detail::run_of<E>, Problem> &&
                         objective_for<detail::objective_of<E>, Problem, detail::run_of<E>>;

namespace why_not {
template <class E, class Problem>
struct evaluation_for {
  using objective = detail::objective_of<E>;
  static constexpr bool scores =
    requires(const objective& o, const Problem& p, const simulation& run) { o.score(p, run); } ||
    requires(const objective& o, const Problem& p, const trace& run) { o.score(p, run); };
  static_assert(!run_policy_for<detail::run_of<E>, Problem> || !scores ||
                  objective_for<objective, Problem, detail::run_of<E>>,
                "weft: score(problem, run) of this objective returns neither a weft::score nor a number of seconds, "
                "joules …, or the objective cannot be copied; see docs/concepts/objective_for.md");
  static_assert(!run_policy_for<detail::run_of<E>, Problem> || scores ||
                  objective_for<objective, Problem, detail::run_of<E>>,
                "weft: this is not an objective: it has no const member score(problem, run), whose run is a "
                "weft::simulation or a weft::trace, and which returns a weft::score or seconds, joules …; see "
                "docs/concepts/objective_for.md");
};
} // namespace why_not

namespace must_be {
template <class E, class Problem>
concept evaluation_for = weft::evaluation_for<E, Problem> || (must_be::run_policy_for<detail::run_of<E>, Problem> &&
                                                              explained<why_not::evaluation_for<E, Problem>>);
} // namespace must_be

namespace detail {
template <class Policy>
inline constexpr bool keeps_order = std::same_as<Policy, schedule::static_order>;
template <class Policy, class Network, class Devices>
inline constexpr bool keeps_order<simulate::under<Policy, Network, Devices>> = keeps_order<Policy>;
} // namespace detail

/// Runs plans of one problem and judges them, again and again without allocating where the simulator does not. Refers
/// to the problem. Not for several threads at a time; each makes its own from `problem()` and `how()`.
template <class Problem, class E>
  requires evaluation_for<E, Problem>
class evaluator {
public:
  using problem_type = Problem;
  using policy_type = detail::run_of<E>;
  using objective_type = detail::objective_of<E>;

  constexpr explicit evaluator(const Problem& p, const E& how = {})
      : problem_{&p}, how_{how}, simulator_{p, detail::policy_in(how)}, state_{state_of(p, how)} {}
  explicit evaluator(const Problem&&, const E& = {}, detail::problem_must_outlive_it = {}) = delete;

  constexpr const Problem& problem() const { return *problem_; }
  constexpr const E& how() const { return how_; }
  constexpr const policy_type& policy() const { return detail::policy_in(how_); }
  constexpr decltype(auto) objective() const { return detail::objective_in(how_); }

  /// The score alone, for searches that judge many plans and keep few. A run that does not end has the worst one.
  constexpr weft::score judge(const plan& x) {
    if constexpr (needs_trace) {
      run(x, simulate::recorder{trace_});
    } else {
      run(x, simulate::no_observer{});
    }
    return score_of(x, trace_);
  }
  /// The same, and the record of the run.
  constexpr weft::score judge(const plan& x, trace& record) {
    run(x, simulate::recorder{record});
    return score_of(x, record);
  }
  /// Runs the plan.
  constexpr evaluated_plan operator()(plan x) {
    const auto s = judge(x);
    return {std::move(x), s, last_, {}};
  }
  /// Runs the plan and records the run.
  constexpr evaluated_plan recorded(plan x) {
    trace record;
    const auto s = judge(x, record);
    return {std::move(x), s, last_, std::move(record)};
  }
  /// The record of a plan's run; runs the plan if it has none.
  constexpr const trace& record_of(evaluated_plan& x) {
    if (x.record.ops.size() != problem_->num_ops()) {
      run(x.plan, simulate::recorder{x.record});
    }
    return x.record;
  }

  /// Whether to prefer plan a to plan b: makespans are compared as they are, for searches follow them to the last bit;
  /// values of other objectives are sums in whatever order, so `score::better_than` says it.
  static constexpr bool is_better(const weft::score& a, const weft::score& b) {
    return minimises_makespan() ? a < b : a.better_than(b);
  }

  /// Devices run an op per slot.
  static constexpr bool one_op_per_slot = slot_policy_for<policy_type, Problem>;
  static constexpr bool minimises_makespan() { return std::same_as<objective_type, objective::makespan>; }
  /// Runs follow the plan's order.
  static constexpr bool runs_in_order() { return detail::keeps_order<policy_type>; }
  /// No network slows transfers down.
  static constexpr bool runs_alone() { return ready_policy_for<policy_type, Problem>; }
  /// A search can follow what is minimised change by change; else it proposes, and runs decide.
  static constexpr bool is_followed() {
    return std::same_as<policy_type, schedule::static_order> &&
           (minimises_makespan() || (objective_parts::is_sum<objective_type, Problem> && !keeps_state));
  }
  /// The charges of the objective; null if it is no sum.
  std::shared_ptr<const objective_parts::any_sum> sum() const {
    return objective_parts::sum_of(*problem_, objective());
  }

  /// The result of the last run of `judge`.
  constexpr const simulation& last() const { return last_; }

  /// No plan has a smaller makespan.
  constexpr lower_bound makespan_bound() const {
    if constexpr (slot_policy_for<policy_type, Problem>) {
      return weft::bound::best(*problem_);
    } else {
      return weft::bound::moldable(*problem_);
    }
  }
  /// No plan has a smaller value.
  constexpr lower_bound bound() const { return bound(makespan_bound()); }
  /// The same, as none has a smaller makespan than that.
  constexpr lower_bound bound(const lower_bound& makespan) const {
    if constexpr (objective_parts::has_bound<objective_type, Problem>) {
      return {objective().bound(*problem_, makespan), makespan.which};
    } else {
      return {0, makespan.which};
    }
  }

private:
  static constexpr bool keeps_state = objective_parts::keeps_state<objective_type, Problem, policy_type>;
  static constexpr bool needs_trace = keeps_state || !objective_parts::scores_summaries<objective_type, Problem>;
  struct nothing {};

  static constexpr auto state_of(const Problem& p, const E& how) {
    if constexpr (keeps_state) {
      return detail::objective_in(how).state_for(p, detail::policy_in(how));
    } else {
      return nothing{};
    }
  }

  template <class Observer>
  constexpr void run(const plan& x, Observer&& observer) {
    if constexpr (requires { simulator_.forget(); }) {
      simulator_.forget(); // a plan is judged by itself, not by what the plans before it taught
    }
    last_ = simulator_.run(x, observer);
  }

  constexpr weft::score score_of([[maybe_unused]] const plan& x, [[maybe_unused]] const trace& record) {
    if (!last_.complete) {
      return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    }
    if constexpr (keeps_state) {
      return state_.score(x, record);
    } else if constexpr (needs_trace) {
      return objective().score(*problem_, record);
    } else {
      return objective().score(*problem_, last_);
    }
  }

  const Problem* problem_;
  [[no_unique_address]] E how_;
  simulator_for<Problem, policy_type> simulator_;
  [[no_unique_address]] decltype(state_of(std::declval<const Problem&>(), std::declval<const E&>())) state_;
  trace trace_; // of the last run, where the objective looks at it
  simulation last_;
};
template <class Problem, class E>
evaluator(const Problem&, const E&) -> evaluator<Problem, E>;

} // namespace weft
