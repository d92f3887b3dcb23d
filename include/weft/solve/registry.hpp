// SPDX-License-Identifier: BSL-1.0
/// Strategies by name: the one place where types are erased, for programs that choose at run time.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/schedule/check_plan.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/standard_strategies.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// A simulator whose policy and network are not in its type. Records every run.
template <class Problem>
class any_simulator {
public:
  virtual ~any_simulator() = default;
  /// See `simulator::prepare`.
  virtual void prepare(const plan& decided) = 0;
  /// See `simulator::run_prepared`; fills the trace.
  virtual simulation run_prepared(trace& into) = 0;
  /// True if devices run the order of a plan that has one, as `schedule::static_order` does, and not the policy's.
  virtual bool keeps_order() const = 0;
};

/// A refiner with a budget that can be set, for any evaluation.
template <class S, class Problem>
concept budgeted_refiner_for =
  std::copy_constructible<S> &&
  requires(S s, const weft::budget& b, any_evaluator<Problem>& judge, evaluated_plan start, rng& random) {
    { s.budget } -> std::convertible_to<weft::budget>;
    s.budget = b;
    { std::as_const(s)(judge, std::move(start), random) } -> std::convertible_to<evaluated_plan>;
  };

namespace why_not {
template <class S, class Problem>
struct budgeted_refiner_for {
  static constexpr bool can_be_called =
    std::invocable<const S&, any_evaluator<Problem>&, weft::evaluated_plan, rng&>;
  static constexpr bool lacks_const =
    called_only_if_mutable<S, any_evaluator<Problem>&, weft::evaluated_plan, rng&>;
  static constexpr bool refines = std::copy_constructible<S> && [] {
    if constexpr (can_be_called) {
      return std::convertible_to<std::invoke_result_t<const S&, any_evaluator<Problem>&, weft::evaluated_plan, rng&>,
                                 weft::evaluated_plan>;
    } else {
      return false;
    }
  }();
  static_assert(!lacks_const,
                "weft: operator() of this refiner is not const, and a refiner holds options and no state of a run: add "
                "const, or leave out mutable of a lambda; see docs/concepts/refiner_for.md");
  static_assert(can_be_called || lacks_const,
                "weft: this is not a refiner of a registry, which must be a const function of (auto& judge, "
                "evaluated_plan, rng&) that returns an evaluated_plan; see docs/concepts/refiner_for.md");
  static_assert(!can_be_called || refines,
                "weft: this refiner does not return an evaluated_plan, or cannot be copied; see "
                "docs/concepts/refiner_for.md");
  static_assert(!refines || weft::budgeted_refiner_for<S, Problem>,
                "weft: a refiner of a registry lacks a member `weft::budget budget`, which the registry sets");
};
} // namespace why_not

namespace must_be {
template <class S, class Problem>
concept budgeted_refiner_for =
  weft::budgeted_refiner_for<S, Problem> || explained<why_not::budgeted_refiner_for<S, Problem>>;
} // namespace must_be

/// The refiner with the budget that it is given or, where that limits neither moves nor seconds, its own limits.
template <class Refiner>
Refiner with_budget(Refiner refiner, const weft::budget& given) {
  const weft::budget own = refiner.budget;
  refiner.budget = given;
  if (given.moves == weft::budget{}.moves && given.seconds == weft::budget{}.seconds) {
    refiner.budget.moves = own.moves;
    refiner.budget.seconds = own.seconds;
  }
  return refiner;
}

/// Partitioners, ready policies and refiners for one type of problem, by name and in a fixed order. Starts with those
/// of the library; add your own under new names.
template <class Problem>
class registry {
public:
  using partitioner = std::function<outcome<partition::decided>(const Problem&, rng&, workspace&)>;
  using simulator_factory = std::function<std::unique_ptr<any_simulator<Problem>>(const Problem&, contention_model)>;

  /// Improves a plan as the evaluator judges it, such as `any_evaluator{p}`, for the makespan in the plan's order. A
  /// budget that limits neither moves nor seconds stands for the refiner's own limits.
  using refiner = std::function<evaluated_plan(any_evaluator<Problem>&, plan, const weft::budget&, rng&)>;

  /// All strategies of the library.
  static registry standard();
  /// The parts of `standard`, for programs that need only some and want to compile quickly.
  void add_standard_partitioners() {
    add_placement_rules();
    add_list_schedulers();
    add_clusterings();
    add_memory_constrained();
    add_searches();
  }
  void add_standard_policies();
  void add_standard_refiners();

  /// The parts of `add_standard_partitioners`, as `standard_strategies` has them.
  void add_placement_rules();
  void add_list_schedulers();
  void add_clusterings();
  void add_memory_constrained();
  void add_searches();

  template <must_be::partitioner_for<Problem> S>
  void add_partitioner(std::string name, S strategy) {
    partitioners_.emplace_back(std::move(name), [strategy](const Problem& p, rng& random, workspace& scratch) {
      return partition::run(strategy, p, random, scratch);
    });
  }

  template <must_be::ready_policy_for<Problem> S>
  void add_policy(std::string name, S policy) {
    policies_.emplace_back(
      std::move(name),
      [policy](const Problem& p, contention_model contention) -> std::unique_ptr<any_simulator<Problem>> {
        if (contention == contention_model::none) {
          return std::make_unique<erased<S, simulate::no_contention>>(p, policy);
        }
        return std::make_unique<erased<S, simulate::any_network>>(p, policy, simulate::any_network{contention});
      });
  }

  template <must_be::budgeted_refiner_for<Problem> S>
  void add_refiner(std::string name, S strategy) {
    refiners_.emplace_back(
      std::move(name), [strategy](any_evaluator<Problem>& judge, plan start, const weft::budget& given, rng& random) {
        evaluated_plan refined = with_budget(strategy, given)(judge, judge.recorded(std::move(start)), random);
        std::vector<std::uint8_t> marks(judge.problem().num_ops());
        check_plan(judge.problem(), refined.plan, marks, "refiner");
        return refined;
      });
  }

  /// The strategy of that name, or nullptr.
  const partitioner* find_partitioner(std::string_view name) const { return find(partitioners_, name); }
  const simulator_factory* find_policy(std::string_view name) const { return find(policies_, name); }
  const refiner* find_refiner(std::string_view name) const { return find(refiners_, name); }

  std::vector<std::string> partitioner_names() const { return names(partitioners_); }
  std::vector<std::string> policy_names() const { return names(policies_); }
  std::vector<std::string> refiner_names() const { return names(refiners_); }

private:
  template <class T>
  using table = std::vector<std::pair<std::string, T>>;

  template <class Policy, class Network>
  class erased final : public any_simulator<Problem> {
  public:
    erased(const Problem& p, const Policy& policy, Network network = {}) : simulator_{p, policy, network} {}
    void prepare(const plan& decided) override { simulator_.prepare(decided); }
    bool keeps_order() const override { return weft::detail::keeps_order<Policy>; }
    simulation run_prepared(trace& into) override { return simulator_.run_prepared(simulate::recorder{into}); }

  private:
    simulator<Problem, Policy, Network> simulator_;
  };

  template <class T>
  static const T* find(const table<T>& entries, std::string_view name) {
    for (const auto& [key, value] : entries) {
      if (key == name) {
        return &value;
      }
    }
    return nullptr;
  }

  template <class T>
  static std::vector<std::string> names(const table<T>& entries) {
    std::vector<std::string> result;
    for (const auto& [key, value] : entries) {
      result.push_back(key);
    }
    return result;
  }

  table<partitioner> partitioners_;
  table<simulator_factory> policies_;
  table<refiner> refiners_;
};

// What is heavy is defined outside of the class, so that a program can compile it once: functions defined in a class
// are inline, and `extern template` does nothing for those.
template <class Problem>
registry<Problem> registry<Problem>::standard() {
  registry r;
  r.add_standard_partitioners();
  r.add_standard_policies();
  r.add_standard_refiners();
  return r;
}

template <class Problem>
void registry<Problem>::add_placement_rules() {
  standard_strategies::placement_rules(*this);
}

template <class Problem>
void registry<Problem>::add_list_schedulers() {
  standard_strategies::list_schedulers(*this);
}

template <class Problem>
void registry<Problem>::add_clusterings() {
  standard_strategies::clusterings(*this);
}

template <class Problem>
void registry<Problem>::add_memory_constrained() {
  standard_strategies::memory_constrained(*this);
}

template <class Problem>
void registry<Problem>::add_searches() {
  standard_strategies::searches(*this);
}

template <class Problem>
void registry<Problem>::add_standard_policies() {
  standard_strategies::policies(*this);
}

template <class Problem>
void registry<Problem>::add_standard_refiners() {
  standard_strategies::refiners(*this);
}

} // namespace weft

#ifdef WEFT_COMPILED
namespace weft {
extern template registry<instance> registry<instance>::standard();
extern template void registry<instance>::add_placement_rules();
extern template void registry<instance>::add_list_schedulers();
extern template void registry<instance>::add_clusterings();
extern template void registry<instance>::add_memory_constrained();
extern template void registry<instance>::add_searches();
extern template void registry<instance>::add_standard_policies();
extern template void registry<instance>::add_standard_refiners();
} // namespace weft
#endif
