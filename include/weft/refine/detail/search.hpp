// SPDX-License-Identifier: BSL-1.0
/// What all searches on an incremental schedule have in common: how they begin and end.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <optional>
#include <utility>

namespace weft::refine::detail {

/// The best schedule that a search has met.
template <class Problem>
class incumbent {
public:
  using schedule_type = incremental_schedule<Problem>;

  incumbent(schedule_type& s, budget_meter& meter, memory_limit limit = {}) : meter_{&meter}, limit_{limit} {
    if (limit.rule == memory_rule::over_time) {
      memory_.emplace(s.problem());
    }
    s.save(best_);
    done_ = meter.improved(best_.makespan);
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
      done_ = meter_->improved(best_.makespan);
    }
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
  bool done_ = false;
};

/// Runs the plan, calls `improve(schedule, incumbent)` on the schedule that came out, and returns the best plan met, or
/// the given one if that is not worse under the policy, or if no move was made.
template <class Problem, class Policy, class Improve>
plan search(const Problem& p, plan start, const Policy& policy, const budget& spend, Improve improve,
            memory_limit limit = {}) {
  if (p.num_ops() == 0) {
    return start;
  }
  budget_meter meter{spend}; // setting up counts
  simulator<Problem, Policy> sim{p, policy};
  trace run;
  const auto before = sim.run(start, simulate::recorder{run});
  if (!before.complete) {
    return start;
  }
  incremental_schedule<Problem> s{p};
  s.assign(run);
  incumbent<Problem> found{s, meter, limit};
  if (!found.good_enough()) {
    improve(s, found, meter);
  }
  if (meter.used() == 0) {
    return start; // although taking it over may have made it better
  }
  plan improved = s.to_plan(found.best());
  return sim.run(improved).makespan < before.makespan ? improved : start;
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
