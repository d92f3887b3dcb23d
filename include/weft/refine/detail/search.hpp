// SPDX-License-Identifier: BSL-1.0
/// The common frame of all searches on an incremental schedule: how they begin and end.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/simulate/incremental_memory.hpp"

#include <concepts>
#include <optional>
#include <utility>

namespace weft::refine::detail {

/// The best schedule that a search has met.
template <class Schedule>
class incumbent {
public:
  /// `first`: the value that is told of the given plan.
  incumbent(Schedule& s, budget_meter& meter, memory_rule memory, double first) : meter_{&meter} {
    if (memory == memory_rule::over_time) {
      memory_.emplace(s.problem());
      memory_->assign(s.items());
      excess_ = least_excess_ = memory_->excess();
    }
    s.save(best_);
    late_ = s.late();
    done_ = excess_ == 0 && meter.improved(first);
  }
  /// The value to evaluate a change to that has to come to at most `limit`: where there is too little memory, less of
  /// that is worth any value.
  double limit_for(double limit) const { return excess_ > 0 ? Schedule::infinity : limit; }
  /// The item at which a change begins: while memory lacks, at an op of a device that is short of it, if `rounds` draws
  /// meet one; else near the longest paths.
  item_id draw(const Schedule& s, rng& random, std::uint32_t rounds) const {
    for (std::uint32_t k = 0; excess_ > 0 && k < rounds; ++k) {
      const op_id v = random.below(static_cast<std::uint32_t>(s.num_ops()));
      if (memory_->is_short(s.device(v)) && s.stands_in_lane(v)) {
        return v;
      }
    }
    return near_critical(s, random, rounds);
  }
  /// Whether a change that was evaluated to `value` may be committed, which is to follow then.
  bool admits(const Schedule& s, double value, double limit) {
    if (!memory_) {
      return value <= limit;
    }
    memory_->follow(s.items());
    const double excess = memory_->excess();
    if (excess > excess_ || (excess == excess_ && value > limit)) {
      memory_->rollback();
      return false;
    }
    memory_->commit();
    excess_ = excess;
    return true;
  }
  /// To be called after each commit.
  void look_at(const Schedule& s) {
    const double late = s.late();
    const bool as_late = late < late_ || (late == late_ && s.value() < best_.value);
    if (excess_ < least_excess_ || (excess_ == least_excess_ && as_late)) {
      s.save(best_);
      least_excess_ = excess_;
      late_ = late;
      done_ =
        excess_ == 0 && late_ == 0 && (judge_ == nullptr ? meter_->improved(best_.value) : judge_(context_, best_));
    }
  }
  /// Goes back to the best one.
  void restore(Schedule& s) {
    s.restore(best_);
    if (memory_) {
      memory_->assign(s.items());
      excess_ = memory_->excess();
    }
  }
  /// From now on `f(snapshot)` says of each new best whether it is good enough; f must outlive this.
  template <class F>
  void judge_by(const F& f) {
    context_ = &f;
    judge_ = [](const void* context, const auto& best) { return (*static_cast<const F*>(context))(best); };
  }
  /// The memory that the best one lacks; less of that is worth any value.
  double excess() const { return least_excess_; }
  double value() const { return best_.value; }
  bool good_enough() const { return done_; }
  const typename Schedule::snapshot& best() const { return best_; }

private:
  budget_meter* meter_;
  std::optional<simulate::incremental_memory<typename Schedule::problem_type>> memory_; // over time only
  double excess_ = 0; // of the present schedule
  double least_excess_ = 0;
  double late_ = 0; // of the best one
  typename Schedule::snapshot best_;
  const void* context_ = nullptr;
  bool (*judge_)(const void*, const typename Schedule::snapshot&) = nullptr;
  bool done_ = false;
};

/// By how much, relatively, a schedule must be better than the last one that was run, where runs decide.
inline constexpr double worth_a_run = 1e-3;

/// Takes the run of `start` over, calls `improve(schedule, incumbent, meter)`, and returns the best plan met, or
/// `start` if that is not worse, or if no move was made. Where the evaluator's score is not what the incremental
/// schedule follows, the latter proposes, and the score of each schedule that becomes the search's best decides, also
/// about the budget's target.
template <class Judge, class Improve>
evaluated_plan search(Judge& judge, evaluated_plan start, const budget& spend, Improve improve,
                      memory_rule memory = memory_rule::reserved) {
  if (!judge.runs_alone() && memory == memory_rule::over_time) {
    throw value_error("refiner",
                      "memory over time is followed in runs without contention; on a network, leave it out and "
                      "let the objective be within_memory");
  }
  if (judge.problem().num_ops() == 0 || !start.run.complete) {
    return start;
  }
  budget_meter meter{spend}; // setting up counts
  incremental_schedule s{judge.problem(), judge.sum()};
  s.assign(judge.record_of(start));
  incumbent found{s, meter, memory, judge.is_followed() && s.late() == 0 ? s.value() : start.score.usable()};
  std::optional<evaluated_plan> best;
  double excess = found.excess(); // of the best
  const auto decide = [&](plan candidate) {
    auto x = judge(std::move(candidate));
    const score& known = best ? best->score : start.score;
    const bool better =
      found.excess() < excess || (found.excess() == excess && judge.is_better(x.score, known));
    if (better) {
      excess = found.excess();
      best = std::move(x);
    }
    return better;
  };
  double proposed = found.value();
  const auto run_it = [&](const auto& better) {
    if (better.value >= proposed * (1 - worth_a_run)) {
      return false;
    }
    proposed = better.value;
    return decide(s.to_plan(better)) && meter.improved(best->score.usable());
  };
  if (!judge.is_followed()) {
    found.judge_by(run_it);
  }
  if (!found.good_enough()) {
    improve(s, found, meter);
  }
  if (meter.used() == 0) {
    return start; // although taking it over may have made it better
  }
  decide(s.to_plan(found.best()));
  return best ? std::move(*best) : std::move(start);
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
