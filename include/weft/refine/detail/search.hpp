// SPDX-License-Identifier: BSL-1.0
/// What all searches on an incremental schedule have in common: how they begin and end.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/run_policy.hpp"
#include "weft/simulate/simulator.hpp"

#include <concepts>
#include <optional>
#include <utility>

namespace weft::refine::detail {

/// The best schedule that a search has met.
template <class Schedule>
class incumbent {
public:
  /// `first`: the value that is told of the given plan.
  incumbent(Schedule& s, budget_meter& meter, memory_limit limit, double first) : meter_{&meter}, limit_{limit} {
    if (limit.rule == memory_rule::over_time) {
      memory_.emplace(s.problem());
    }
    s.save(best_);
    done_ = meter.improved(first);
  }
  /// Whether a change that was evaluated to `value` may be committed. Memory over time costs as much as a run, so
  /// that it is looked at only where the schedule would become the best one.
  bool admits(const Schedule& s, double value) {
    if (!memory_ || value >= best_.value) {
      return true;
    }
    s.record(run_);
    where_.clear();
    for (const op_record& x : run_.ops) {
      where_.push_back(x.device);
    }
    memory_->follow(where_, run_);
    for (const device_id d : ids(where_.empty() ? 0 : memory_->peaks().size())) {
      const auto capacity = static_cast<byte_count>(s.problem().platform().memory_capacity(d));
      if (memory_->peaks()[d] > limit_.of(capacity)) {
        ++refused_;
        return false;
      }
    }
    refused_ = 0;
    return true;
  }
  /// Whether the search has got to where nothing keeps to the memory any more; it should go back to the best then.
  bool is_lost() {
    if (refused_ < most_refused) {
      return false;
    }
    refused_ = 0;
    return true;
  }
  /// To be called after each commit.
  void look_at(const Schedule& s) {
    if (s.value() < best_.value) {
      s.save(best_);
      done_ = judge_ == nullptr ? meter_->improved(best_.value) : judge_(context_, best_);
    }
  }
  /// From now on `f(snapshot)` says of each new best whether it is good enough; f must outlive this.
  template <class F>
  void judge_by(const F& f) {
    context_ = &f;
    judge_ = [](const void* context, const auto& best) { return (*static_cast<const F*>(context))(best); };
  }
  double value() const { return best_.value; }
  bool good_enough() const { return done_; }
  const typename Schedule::snapshot& best() const { return best_; }

private:
  static constexpr int most_refused = 32;

  budget_meter* meter_;
  memory_limit limit_;
  std::optional<simulate::memory_tracker<typename Schedule::problem_type>> memory_; // over time only
  trace run_;
  placement where_;
  int refused_ = 0; // in a row
  typename Schedule::snapshot best_;
  const void* context_ = nullptr;
  bool (*judge_)(const void*, const typename Schedule::snapshot&) = nullptr;
  bool done_ = false;
};

/// By how much, relatively, a schedule must be better than the last one that was run under another policy than its own.
inline constexpr double worth_a_run = 1e-3;

/// Runs the plan, calls `improve(schedule, incumbent)` on the schedule that came out, and returns the best plan met, or
/// the given one if that is not worse under the policy, or if no move was made. Under `schedule::static_order` what the
/// search minimises is the makespan of the run; under another policy, or on a network, it is what proposes, and the run
/// of each schedule that becomes the search's best decides, also about the budget's target.
template <class Problem, class Policy, class Improve>
plan search(const Problem& p, plan start, const Policy& policy, const budget& spend, Improve improve,
            memory_limit limit = {}) {
  if (!ready_policy_for<Policy, Problem> && limit.rule == memory_rule::over_time) {
    throw value_error("refiner", "memory over time is of runs without contention; use memory_rule::reserved, or leave the "
                                 "network out");
  }
  if (p.num_ops() == 0) {
    return start;
  }
  budget_meter meter{spend}; // setting up counts
  simulator_for<Problem, Policy> sim{p, policy};
  trace run;
  const auto before = sim.run(start, simulate::recorder{run});
  if (!before.complete) {
    return start;
  }
  incremental_schedule<Problem> s{p};
  s.assign(run);
  constexpr bool is_exact = std::same_as<Policy, schedule::static_order>;
  incumbent found{s, meter, limit, is_exact ? s.value() : before.makespan};
  plan best = start;
  double least = before.makespan;
  const auto decide = [&](plan candidate) {
    const double makespan = sim.run(candidate).makespan;
    const bool better = makespan < least;
    if (better) {
      least = makespan;
      best = std::move(candidate);
    }
    return better;
  };
  double proposed = found.value();
  const auto judge = [&](const auto& better) {
    if (better.value >= proposed * (1 - worth_a_run)) {
      return false;
    }
    proposed = better.value;
    return decide(s.to_plan(better)) && meter.improved(least);
  };
  if constexpr (!is_exact) {
    found.judge_by(judge);
  }
  if (!found.good_enough()) {
    improve(s, found, meter);
  }
  if (meter.used() == 0) {
    return start; // although taking it over may have made it better
  }
  decide(s.to_plan(found.best()));
  return best;
}

/// What an op contributes to the value in the mean, by its time and by what is charged, for scales of temperature.
template <class Schedule>
double mean_contribution(const Schedule& s) {
  double sum = 0;
  for (const op_id v : ids(s.num_ops())) {
    sum += s.finish(v) - s.start(v);
  }
  return s.value_of(sum / static_cast<double>(s.num_ops()), s.charges() / static_cast<double>(s.num_ops()));
}

} // namespace weft::refine::detail
