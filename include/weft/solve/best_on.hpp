// SPDX-License-Identifier: BSL-1.0
/// The best plan that a budget allows, where transfers affect each other.
#pragma once

#include "weft/cost/congested.hpp"
#include "weft/simulate/network.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/detail/chains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve {

namespace detail {

/// How much longer than alone transfers took, by pair of devices.
class slowdowns {
public:
  explicit slowdowns(std::size_t num_devices) : n_{num_devices}, factors_(n_ * n_, 1) {}
  const std::vector<double>& factors() const { return factors_; }

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
  std::vector<double> factors_;
};

} // namespace detail

/// `best`, for the makespan of the run of the plan under `schedule::static_order` on a network. What proposes plans is
/// `best` without contention; what judges them is the run. Where a run shows transfers slower than alone, their pairs
/// of devices are made as much slower in the costs (`cost::congested`), and `best` proposes again, at first with
/// heuristics alone. The result is never worse than the plan that `best` makes without contention with the same moves.
/// ```
/// const auto r = weft::solve::best_on(weft::simulate::fair_sharing{}, problem, {.seconds = 10});
/// ```
/// A budget in moves holds for each search, of which there are up to three; one in seconds for all of them together, the
/// first having half. Where no transfer is slowed down, the first plan is the result. Under `effort::heuristics` there
/// are no further searches, under `first_plan` the first plan is the only one. Memory is reserved: throws `value_error`
/// for memory over time, which is of runs without contention. `bound` holds under all networks. `on_progress` hears of
/// plans that are better on the network. Memory: O(devices²).
/// Source: a composition of what this library has. Complexity: that of three calls of `best`, and of some twenty runs.
template <must_be::problem Problem, simulate::network_for<Problem> Network>
best_result best_on(const Network& network, const Problem& p, const best_options& options = {}) {
  if (options.memory.rule == memory_rule::over_time) {
    throw value_error("solve::best_on", "memory over time is of runs without contention; use memory_rule::reserved, or "
                                        "leave the network out");
  }
  constexpr int most_lessons = 12;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const stopwatch watch;
  const bool timed = options.seconds < infinity;
  simulator<Problem, schedule::static_order, Network> sim{p, {}, network};
  detail::progress_listener listener{options.on_progress};
  best_result found;
  trace run;
  /// The plan for these costs, run on the network, after which `run` is its trace; whether it is the best so far.
  const auto propose = [&](const detail::slowdowns& slow, double share, bool search, const char* remark) {
    auto mine = options;
    mine.on_progress = nullptr;
    mine.moves = search ? options.moves : 0;
    if (timed) {
      mine.seconds = std::max(0.0, options.seconds - watch.seconds()) * share;
    }
    auto proposed = best(p.with_costs(cost::congested{p.cost(), p.num_devices(), slow.factors()}), mine);
    const auto simulated = proposed.has_plan() ? sim.run(proposed.plan, simulate::recorder{run}) : simulation{infinity};
    if (found.tried.empty()) { // with costs as they are
      found.bound = proposed.bound;
      found.status = proposed.status;
      found.reason = proposed.reason;
    }
    found.tried.push_back({std::string{"best"} + remark, simulated.makespan, proposed.stats.partition_seconds});
    if (!(simulated.complete && simulated.makespan < found.makespan)) {
      return false;
    }
    found.plan = std::move(proposed.plan);
    found.makespan = simulated.makespan;
    found.status = judge(simulated, found.bound);
    found.stats.transfer_bytes = simulated.transfer_bytes;
    found.stats.num_events = simulated.num_events;
    listener.tell(0, watch.seconds(), found.makespan);
    return true;
  };
  const auto stopped = [&] {
    return found.status == status::optimal || watch.seconds() >= options.seconds ||
           (options.stop != nullptr && options.stop->stop_requested());
  };

  detail::slowdowns known{p.num_devices()};
  propose(known, 0.5, true, "");
  const bool goes_on = found.has_plan() && options.effort != effort::first_plan && !stopped() && known.learn(p, run);
  auto best_known = known;
  bool learned = goes_on;
  for (int lesson = 0; lesson < most_lessons && learned && !stopped(); ++lesson) {
    const auto tried = known;
    if (propose(tried, 0.05, false, ", heuristics where links are congested")) {
      best_known = tried;
    }
    learned = known.learn(p, run);
  }
  for (const double share : {0.5, 1.0}) {
    if (goes_on && options.effort == effort::full && !stopped()) {
      propose(best_known, share, true, ", links congested");
      best_known.learn(p, run);
    }
  }
  found.stats.partition_seconds = watch.seconds();
  return found;
}

} // namespace weft::solve

#if defined(WEFT_COMPILED_LINEAR) || defined(WEFT_COMPILED_TABULATED)
#include "weft/compiled.hpp"
#include "weft/simulate/any_network.hpp"
namespace weft::solve {
#ifdef WEFT_COMPILED_LINEAR
extern template best_result best_on(const simulate::any_network&, const compiled::linear&, const best_options&);
#endif
#ifdef WEFT_COMPILED_TABULATED
extern template best_result best_on(const simulate::any_network&, const compiled::tabulated&, const best_options&);
#endif
} // namespace weft::solve
#endif
