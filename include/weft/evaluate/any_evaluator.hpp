// SPDX-License-Identifier: BSL-1.0
/// An evaluator of any run policy and any objective, in one type.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/instance.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/simulate/memory.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace weft {

/// Judges plans of Problem as an `evaluator` judges those of the problem that this one was lowered from, so that a
/// search is compiled once for all run policies and objectives. A run is a virtual call, and so is a charge of an
/// objective that is a sum; what is followed change by change is followed in Problem itself. For policies whose devices
/// run an op per slot. Refers to the problem and to `tensors`; shares the original problem. Not for several threads at
/// a time; each makes a copy, which runs plans by itself.
template <class Problem>
class any_evaluator {
public:
  using problem_type = Problem;
  static constexpr bool one_op_per_slot = true;

  /// Of the problem itself.
  template <class E = schedule::static_order>
    requires must_be::evaluation_for<E, Problem>
  explicit any_evaluator(const Problem& p, const E& how = {})
      : any_evaluator{p, how, std::shared_ptr<const Problem>{std::shared_ptr<void>{}, &p}, nullptr} {}
  template <class E = schedule::static_order>
  explicit any_evaluator(const Problem&&, const E& = {}, detail::problem_must_outlive_it = {}) = delete;
  /// `p`: what `lowered` was made of, with the same demands. `tensors`: of both.
  template <class Original, class E>
    requires evaluation_for<E, Original>
  any_evaluator(const Problem& lowered, std::shared_ptr<const Original> p, const E& how, const tensor_numbers& tensors)
      : any_evaluator{lowered, how, std::move(p), &tensors} {}
  any_evaluator(const any_evaluator& other)
      : problem_{other.problem_}, facts_{other.facts_}, runs_{other.runs_->copy()}, memory_{other.memory_} {}
  any_evaluator(any_evaluator&&) = default;
  any_evaluator& operator=(const any_evaluator&) = delete;
  ~any_evaluator() = default;

  /// From now on, a plan in whose run a device holds more than it may violates that, as `objective::within_memory` has
  /// it.
  void limit_memory() { memory_ = limited{simulate::memory_tracker<Problem>{*problem_}}; }

  const Problem& problem() const { return *problem_; }
  weft::score judge(const plan& x) {
    return memory_ ? judge(x, memory_->record) : runs_->judge(x, nullptr);
  }
  weft::score judge(const plan& x, trace& record) {
    auto score = runs_->judge(x, &record);
    if (memory_ && last().complete) {
      memory_->tracker.follow(x.placement, record);
      score.violation += memory_->tracker.excess();
    }
    return score;
  }
  evaluated_plan operator()(plan x) {
    const auto score = judge(x);
    return {std::move(x), score, last(), {}};
  }
  evaluated_plan recorded(plan x) {
    trace record;
    const auto score = judge(x, record);
    return {std::move(x), score, last(), std::move(record)};
  }
  const trace& record_of(evaluated_plan& x) {
    if (x.record.ops.size() != problem_->num_ops()) {
      runs_->record(x.plan, x.record);
    }
    return x.record;
  }
  const simulation& last() const { return runs_->last(); }

  bool is_better(const weft::score& a, const weft::score& b) const {
    return minimises_makespan() ? a < b : a.better_than(b);
  }
  bool minimises_makespan() const { return facts_.minimises_makespan && !memory_; }
  bool runs_in_order() const { return facts_.runs_in_order; }
  bool runs_alone() const { return facts_.runs_alone; }
  bool is_followed() const { return facts_.is_followed && !memory_; }
  bool proposes() const { return facts_.proposes; }
  std::shared_ptr<const objective_parts::any_sum> sum() const { return runs_->sum(); }

  lower_bound makespan_bound() const { return weft::bound::best(*problem_); }
  lower_bound bound() const { return bound(makespan_bound()); }
  lower_bound bound(const lower_bound& makespan) const { return runs_->bound(makespan); }
  /// A plan that the objective proposes, or why there is none. Precondition: `proposes()`.
  outcome<plan> propose(const budget& spend, rng& random) const { return runs_->propose(spend, random); }

private:
  template <class Original, class E>
  any_evaluator(const Problem& lowered, const E& how, std::shared_ptr<const Original> p, const tensor_numbers* tensors)
      : problem_{&lowered}, facts_{facts_of<evaluator<Original, E>>()},
        runs_{std::make_unique<typed<Original, E>>(std::move(p), how, tensors)} {
    static_assert(slot_policy_for<detail::run_of<E>, Original>,
                  "weft: an any_evaluator is for devices that run an op per slot");
  }

  struct facts {
    bool minimises_makespan, runs_in_order, runs_alone, is_followed, proposes;
  };
  template <class Evaluator>
  static constexpr facts facts_of() {
    return {Evaluator::minimises_makespan(), Evaluator::runs_in_order(), Evaluator::runs_alone(),
            Evaluator::is_followed(),
            objective_parts::proposes<typename Evaluator::objective_type, typename Evaluator::problem_type>};
  }

  /// An evaluator of a problem of any type, for plans of the lowered one.
  class runs {
  public:
    virtual std::unique_ptr<runs> copy() const = 0;
    /// Records the run if `record` is not null.
    virtual weft::score judge(const plan& x, trace* record) = 0;
    virtual void record(const plan& x, trace& into) = 0;
    virtual const simulation& last() const = 0;
    virtual lower_bound bound(const lower_bound& makespan) const = 0;
    virtual std::shared_ptr<const objective_parts::any_sum> sum() const = 0;
    virtual outcome<plan> propose(const budget& spend, rng& random) const = 0;
    virtual ~runs() = default;
  };
  template <class Original, class E>
  class typed final : public runs {
  public:
    /// `tensors`: null if they are the same.
    typed(std::shared_ptr<const Original> p, const E& how, const tensor_numbers* tensors)
        : p_{std::move(p)}, judge_{*p_, how}, tensors_{tensors == nullptr || tensors->same() ? nullptr : tensors} {}

    std::unique_ptr<runs> copy() const override {
      return std::make_unique<typed>(p_, judge_.how(), tensors_);
    }
    weft::score judge(const plan& x, trace* record) override {
      if (same()) {
        return record == nullptr ? judge_.judge(x) : judge_.judge(x, *record);
      }
      const auto original = tensors_->original(x);
      if (record == nullptr) {
        return judge_.judge(original);
      }
      const auto score = judge_.judge(original, *record);
      *record = tensors_->lowered(std::move(*record));
      return score;
    }
    void record(const plan& x, trace& into) override {
      evaluated_plan unscored{.plan = same() ? x : tensors_->original(x)};
      judge_.record_of(unscored);
      into = same() ? std::move(unscored.record) : tensors_->lowered(std::move(unscored.record));
    }
    const simulation& last() const override { return judge_.last(); }
    lower_bound bound(const lower_bound& makespan) const override { return judge_.bound(makespan); }
    std::shared_ptr<const objective_parts::any_sum> sum() const override {
      auto sum = judge_.sum();
      return same() || !sum ? sum : std::make_shared<renumbered_sum>(std::move(sum), *tensors_);
    }
    outcome<plan> propose([[maybe_unused]] const budget& spend, [[maybe_unused]] rng& random) const override {
      if constexpr (facts_of<evaluator<Original, E>>().proposes) {
        outcome<plan> proposed = judge_.objective().propose(judge_.problem(), spend, random);
        return proposed && !same() ? outcome<plan>{tensors_->lowered(std::move(*proposed))} : proposed;
      } else {
        return infeasibility{};
      }
    }

  private:
    bool same() const { return tensors_ == nullptr; }

    std::shared_ptr<const Original> p_;
    evaluator<Original, E> judge_;
    const tensor_numbers* tensors_;
  };
  class renumbered_sum final : public objective_parts::any_sum {
  public:
    renumbered_sum(std::shared_ptr<const any_sum> sum, const tensor_numbers& tensors)
        : sum_{std::move(sum)}, tensors_{&tensors} {}
    objective_parts::price_of_time price() const override { return sum_->price(); }
    double op_charge(op_id v, device_id d) const override { return sum_->op_charge(v, d); }
    double transfer_charge(tensor_id t, device_id from, device_id to) const override {
      return sum_->transfer_charge(tensors_->original(t), from, to);
    }

  private:
    std::shared_ptr<const any_sum> sum_;
    const tensor_numbers* tensors_;
  };

  struct limited {
    simulate::memory_tracker<Problem> tracker;
    trace record = {}; // of the last run
  };

  const Problem* problem_;
  facts facts_;
  std::unique_ptr<runs> runs_;
  std::optional<limited> memory_;
};

} // namespace weft
