// SPDX-License-Identifier: BSL-1.0
/// Congestion-aware search of `solve::best`: plans made without contention, and feedback from where they met it.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/best_result.hpp"
#include "weft/solve/detail/every_order.hpp"
#include "weft/solve/detail/fallbacks.hpp"
#include "weft/solve/detail/on_network.hpp"
#include "weft/solve/detail/portfolio.hpp"
#include "weft/solve/detail/progress_listener.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// What runs on a network taught: how much longer than alone transfers took, by pair of devices; and which share of the
/// memory plans that are made without contention may use, as slow transfers keep tensors in memory for longer.
class congestion_feedback {
public:
  explicit congestion_feedback(std::size_t num_devices) : n_{num_devices}, factors_(n_ * n_, 1) {}
  const std::vector<double>& factors() const { return factors_; }
  /// The share of the memory that is allowed.
  double memory_share() const { return memory_share_; }

  /// With this share a run came to this shortage. Whether there is another share to try.
  bool was_too_large(const memory_shortage& s) {
    too_large_ = memory_share_;
    const double by_peak = memory_share_ * static_cast<double>(s.capacity) / static_cast<double>(s.peak);
    memory_share_ = too_small_ > 0 ? (too_small_ + memory_share_) / 2 : std::max(0.1, by_peak);
    return memory_share_ < too_large_ && has_more();
  }
  /// With so small a share no plan was found. Whether there is another share to try.
  bool was_too_small() {
    too_small_ = memory_share_;
    memory_share_ = (memory_share_ + too_large_) / 2;
    return has_more();
  }

  /// Half way, in proportions, from what was known to what a run shows. Pairs that moved nothing have the mean of what
  /// their sender sent and their receiver received, so that they are no loophole. Whether anything has changed.
  template <class Problem>
  bool learn(const Problem& p, const trace& run) {
    std::vector<double> took(n_ * n_, 0), alone(n_ * n_, 0);
    for (const auto& x : run.transfers) {
      const double least = p.transfer_time(x.tensor, x.from, x.to);
      const double actual = x.arrival - x.send_finish; // a transfer that waited for a port has been slow, too
      const bool slow = actual - least > 1e-12 * x.arrival && actual < infinity; // else it is rounding
      took[x.from * n_ + x.to] += slow ? actual : least;
      alone[x.from * n_ + x.to] += least;
    }
    std::vector<double> ends_took(2 * n_, 0), ends_alone(2 * n_, 0); // senders, then receivers
    for (std::size_t from = 0; from < n_; ++from) {
      for (std::size_t to = 0; to < n_; ++to) {
        for (const auto end : {from, n_ + to}) {
          ends_took[end] += took[from * n_ + to];
          ends_alone[end] += alone[from * n_ + to];
        }
      }
    }
    bool changed = false;
    for (std::size_t from = 0; from < n_; ++from) {
      for (std::size_t to = 0; to < n_; ++to) {
        const auto pair = from * n_ + to;
        const bool seen = alone[pair] > 0;
        const double a = seen ? alone[pair] : ends_alone[from] + ends_alone[n_ + to];
        const double t = seen ? took[pair] : ends_took[from] + ends_took[n_ + to];
        const double shown = a > 0 && t < infinity ? std::max(1.0, t / a) : 1;
        const double between = std::sqrt(factors_[pair] * shown);
        changed = changed || between != factors_[pair];
        factors_[pair] = between;
      }
    }
    return changed;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  std::size_t n_;
  bool has_more() const { return too_large_ - too_small_ > 0.01; }

  std::vector<double> factors_;
  double memory_share_ = 1;
  double too_large_ = 1;
  double too_small_ = 0;
};

/// Of the devices that lack memory in a run the one that lacks most of its capacity.
template <class Problem>
std::optional<memory_shortage> worst_shortage(const Problem& p, const placement& where, const trace& run) {
  auto all = memory_shortages(p, where, run);
  const auto worst = std::max_element(all.begin(), all.end(), [](const memory_shortage& a, const memory_shortage& b) {
    return static_cast<double>(a.peak) * static_cast<double>(b.capacity) <
           static_cast<double>(b.peak) * static_cast<double>(a.capacity);
  });
  return worst == all.end() ? std::nullopt : std::optional{std::move(*worst)};
}

/// The portfolio without contention proposes plans, and runs judge them. If a run shows transfers slower than alone,
/// their pairs of devices are made as much slower in the costs (`cost::lowered`), and the portfolio proposes again,
/// at first with heuristics alone. Heuristics that book links (`bookable_network_for`)
/// propose, too, and so does everything on one device, which may be the best where links are slow.
/// Under `memory_rule::over_time`, the judge's problem has demands that every plan keeps to, and `strictest` some that
/// no run exceeds; else both are the same problem.
template <class Problem>
best_result best_on_network(any_evaluator<Problem> judge, const Problem& strictest, const on_network<Problem>& network,
                            const best_options& options) {
  constexpr int max_rounds = 12;
  constexpr std::uint64_t min_plans = 20'000; // of a small problem, if no plan fits
  constexpr std::uint64_t max_plans = std::numeric_limits<std::uint64_t>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const stopwatch watch;
  const bool over_time = options.memory == memory_rule::over_time;
  const Problem& relaxed = judge.problem();
  if (over_time) {
    judge.limit_memory();
  }
  progress_listener listener{options.on_progress};
  best_result found;
  evaluated_plan best, last;
  std::optional<memory_shortage> lacks; // of the best
  const auto shortage_of = [&](evaluated_plan& x) -> std::optional<memory_shortage> {
    return over_time ? worst_shortage(relaxed, x.plan.placement, judge.record_of(x)) : std::nullopt;
  };
  const auto offer = [&](evaluated_plan x) {
    auto shortage = x.run.complete ? shortage_of(x) : std::nullopt;
    const bool same_memory = lacks.has_value() == shortage.has_value();
    const bool better = x.run.complete && (found.plan.placement.empty() ||
                                           (same_memory ? judge.is_better(x.score, best.score) : lacks.has_value()));
    if (better) {
      best = x;
      lacks = std::move(shortage);
      found.take({x.plan, x.score, x.run, {}});
      if (x.score.admitted()) {
        listener.tell(0, watch.seconds(), x.score.value);
      }
    }
    return better;
  };
  /// One line for what is tried again and again: the best of it, and the time of all.
  const auto note = [&found](std::string name, double value, double seconds) {
    if (found.tried.empty() || found.tried.back().name != name) {
      found.tried.push_back({std::move(name), infinity, 0});
    }
    found.tried.back().value = std::min(found.tried.back().value, value);
    found.tried.back().seconds += seconds;
  };
  bool has_proposed = false;
  /// The plan for these costs, if there is one; whether it is the best so far. `last` is its run on the network.
  const auto propose = [&](const congestion_feedback& learned, double share, bool search, const char* remark) {
    auto mine = options;
    mine.on_progress = nullptr;
    mine.moves = search ? options.moves : 0;
    mine.effort = search || options.effort == effort::first_plan ? options.effort : effort::heuristics;
    if (options.timed()) {
      mine.seconds = std::max(0.0, options.seconds - watch.seconds()) * share;
    }
    const auto slow = relaxed.cost().with_transfer_factors(learned.factors());
    const auto as_learned = [&](const Problem& p) {
      return p.with_costs(slow).with_memory_share(learned.memory_share());
    };
    const Problem slower = as_learned(relaxed);
    portfolio<Problem> strategies{network.alone(slower), mine, true};
    auto proposed = strategies.run(as_learned(strictest));
    const bool is_first = found.tried.empty();
    if (is_first) { // with costs as they are
      found.bound = proposed.bound;
      found.status = proposed.status;
      found.reason = proposed.reason;
      found.shortage = proposed.shortage;
    }
    has_proposed = !proposed.plan.placement.empty();
    if (!has_proposed) {
      note(std::string{"best"} + remark, infinity, proposed.stats.partition_seconds);
      if (is_first && strategies.nearest() != nullptr && found.status != status::infeasible) {
        offer(judge.recorded(*strategies.nearest())); // a transfer that waits may leave room
      }
      return false;
    }
    last = judge.recorded(std::move(proposed.plan));
    note(std::string{"best"} + remark, last.score.usable(), proposed.stats.partition_seconds);
    return offer(last);
  };
  const auto stopped = [&] {
    const bool enough = options.effort == effort::first_plan && best.score.admitted();
    return enough || found.status == status::optimal || options.is_over(watch);
  };

  congestion_feedback known{relaxed.num_devices()};
  const auto learn = [&] {
    if (!has_proposed) {
      return known.was_too_small();
    }
    const bool slow = known.learn(relaxed, last.record);
    const auto shortage = shortage_of(last);
    return (shortage && known.was_too_large(*shortage)) || slow;
  };
  const bool any = propose(known, 0.5, true, "");
  const bool goes_on = any && !stopped() && learn();
  auto best_known = known;
  bool is_proven = false; // they led to a plan
  bool learned = goes_on;
  for (int round = 0; round < max_rounds && learned && !stopped(); ++round) {
    const auto tried = known;
    const bool better = propose(tried, 0.05, false, ", heuristics where links are congested");
    if (better || (has_proposed && !is_proven)) {
      best_known = tried;
      is_proven = true;
    }
    learned = learn();
  }
  workspace scratch;
  const auto book = [&](const char* name, auto heuristic) {
    if (!goes_on || stopped()) {
      return;
    }
    const stopwatch planning;
    rng random{options.seed};
    if (auto decided = (network.*heuristic)(random, scratch); decided && *decided) {
      const auto x = judge(std::move(**decided));
      found.tried.push_back({name, x.score.usable(), planning.seconds()});
      offer(x);
    }
  };
  book("heft, links booked", &on_network<Problem>::heft);
  book("peft, links booked", &on_network<Problem>::peft);
  if (goes_on && !stopped()) { // no network slows down what sends nothing
    const stopwatch planning;
    if (const auto where = one_device{}(relaxed)) {
      const auto x = judge(network.by_path({.placement = *where}));
      found.tried.push_back({"one_device, on the network", x.score.usable(), planning.seconds()});
      offer(x);
    }
  }
  if (goes_on && options.effort == effort::full && !stopped()) {
    propose(best_known, 0.7, true, ", links congested");
  }
  bool proven = found.status == status::infeasible;
  const bool none_fits = over_time && !proven && (lacks || found.plan.placement.empty());
  if (none_fits && judge.runs_in_order() && relaxed.num_ops() <= every_order<Problem>::max_ops &&
      options.effort == effort::full && !options.is_over(watch)) {
    const stopwatch searching;
    const std::uint64_t max_runs = options.timed() ? max_plans : std::max(options.all_moves(), min_plans);
    const auto answer = every_order<Problem>{relaxed}(max_runs, [&](const plan& x) {
      offer(judge.recorded(x));
      return (!lacks && !found.plan.placement.empty()) || options.is_over(watch);
    });
    proven = answer == every_order<Problem>::answer::none_left;
    found.tried.push_back({"every order, on the network", lacks ? infinity : found.score.usable(),
                           searching.seconds()});
  }
  const bool from_nearest = !any && !proven && !found.plan.placement.empty();
  if ((goes_on || from_nearest) && !proven && options.effort == effort::full && !stopped()) {
    const stopwatch searching;
    rng random{rng::mix(options.seed)};
    const budget left{.moves = options.all_moves(),
                      .seconds = options.seconds - watch.seconds(),
                      .stop = options.stop,
                      .target = found.bound.value};
    offer(by_runs(judge, best, left, random));
    found.tried.push_back({"local_search, on the network", found.score.usable(), searching.seconds()});
  }
  const bool unusable = lacks || (!found.plan.placement.empty() && !(found.makespan < infinity));
  if (unusable) {
    found.shortage = lacks;
    static_cast<result&>(found) = {.bound = found.bound, .stats = found.stats, .reason = infeasibility{}};
  }
  if (proven && found.status != status::infeasible) {
    found.status = status::infeasible;
    found.reason = infeasibility{.cause = infeasibility::kind::every_plan_fails};
  }
  if (!unusable && !found.plan.placement.empty()) {
    found.record = judge.record_of(best);
    if (over_time) {
      simulate::memory_tracker<Problem> memory{relaxed};
      memory.follow(best.plan.placement, found.record);
      found.peaks = memory.peaks();
    }
  }
  found.stats.partition_seconds = watch.seconds();
  return found;
}

} // namespace weft::solve::detail
