// SPDX-License-Identifier: BSL-1.0
/// What all searches on an incremental schedule have in common: how they begin and end.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/makespan.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"

#include <concepts>
#include <optional>
#include <utility>

namespace weft::refine::detail {

/// The best schedule that a search has met.
template <class Problem>
class incumbent {
public:
  using schedule_type = incremental_schedule<Problem>;

  /// `first`: the makespan that is told of the given plan.
  incumbent(schedule_type& s, budget_meter& meter, memory_limit limit, double first) : meter_{&meter}, limit_{limit} {
    if (limit.rule == memory_rule::over_time) {
      memory_.emplace(s.problem());
    }
    s.save(best_);
    done_ = meter.improved(first);
  }
  /// Whether a change that was evaluated to `makespan` may be committed. Memory over time costs as much as a run, so
  /// that it is looked at only where the schedule would become the best one.
  bool admits(const schedule_type& s, double makespan) {
    if (!memory_ || makespan >= best_.makespan) {
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
  void look_at(const schedule_type& s) {
    if (s.makespan() < best_.makespan) {
      s.save(best_);
      done_ = judge_ == nullptr ? meter_->improved(best_.makespan) : judge_(context_, best_);
    }
  }
  /// From now on `f(snapshot)` says of each new best whether it is good enough; f must outlive this.
  template <class F>
  void judge_by(const F& f) {
    context_ = &f;
    judge_ = [](const void* context, const auto& best) { return (*static_cast<const F*>(context))(best); };
  }
  double makespan() const { return best_.makespan; }
  bool good_enough() const { return done_; }
  const typename schedule_type::snapshot& best() const { return best_; }

private:
  static constexpr int most_refused = 32;

  budget_meter* meter_;
  memory_limit limit_;
  std::optional<simulate::memory_tracker<Problem>> memory_; // over time only
  trace run_;
  placement where_;
  int refused_ = 0; // in a row
  typename schedule_type::snapshot best_;
  const void* context_ = nullptr;
  bool (*judge_)(const void*, const typename schedule_type::snapshot&) = nullptr;
  bool done_ = false;
};

/// By how much, relatively, a schedule must be better than the last one that was run, where runs decide.
inline constexpr double worth_a_run = 1e-3;

/// Takes the run of `start` over, calls `improve(schedule, incumbent, meter)`, and returns the best plan met, or `start`
/// if that is not worse, or if no move was made. Where the evaluator's score is not what the incremental schedule
/// follows, the latter proposes, and the score of each schedule that becomes the search's best decides, also about the
/// budget's target.
template <class Judge, class Improve>
evaluated_plan search(Judge& judge, evaluated_plan start, const budget& spend, Improve improve, memory_limit limit = {}) {
  using problem_type = typename Judge::problem_type;
  if (!ready_policy_for<typename Judge::policy_type, problem_type> && limit.rule == memory_rule::over_time) {
    throw value_error("refiner", "memory over time is of runs without contention; use memory_rule::reserved, or leave the "
                                 "network out");
  }
  if (judge.problem().num_ops() == 0 || !start.run.complete) {
    return start;
  }
  budget_meter meter{spend}; // setting up counts
  incremental_schedule<problem_type> s{judge.problem()};
  s.assign(judge.record_of(start));
  incumbent<problem_type> found{s, meter, limit, follows<Judge> ? s.makespan() : start.score.value};
  std::optional<evaluated_plan> best;
  const auto decide = [&](plan candidate) {
    auto x = judge(std::move(candidate));
    const bool better = x.score < (best ? best->score : start.score);
    if (better) {
      best = std::move(x);
    }
    return better;
  };
  double proposed = found.makespan();
  const auto run_it = [&](const auto& better) {
    if (better.makespan >= proposed * (1 - worth_a_run)) {
      return false;
    }
    proposed = better.makespan;
    return decide(s.to_plan(better)) && meter.improved(best->score.value);
  };
  if constexpr (!follows<Judge>) {
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

/// The mean time that an item spends in a lane, for scales of temperature.
template <class Problem>
double mean_duration(const incremental_schedule<Problem>& s) {
  double sum = 0;
  for (const op_id v : ids(s.num_ops())) {
    sum += s.finish(v) - s.start(v);
  }
  return sum / static_cast<double>(s.num_ops());
}

} // namespace weft::refine::detail
