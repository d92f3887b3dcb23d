// SPDX-License-Identifier: BSL-1.0
/// What `solve::best` does on a network: plans are proposed without contention, and it learns where there was some.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/workspace.hpp"
#include "weft/cost/congested.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/list/bookings.hpp"
#include "weft/partition/peft.hpp"
#include "weft/core/random.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best_result.hpp"
#include "weft/solve/detail/chains.hpp"
#include "weft/solve/detail/portfolio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve::detail {

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

/// What proposes plans is the portfolio without contention; what judges them is the run. Where a run shows transfers slower
/// than alone, their pairs of devices are made as much slower in the costs (`cost::congested`), and the portfolio
/// proposes again, at first with heuristics alone. Heuristics that book links (`bookable_network_for`) propose, too.
template <class Problem, class E>
best_result best_by_lessons(const Problem& p, const E& how, const best_options& options) {
  constexpr int most_lessons = 12;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const stopwatch watch;
  const evaluation without{schedule::static_order{}, weft::detail::objective_in(how)};
  evaluator<Problem, E> judge{p, how};
  progress_listener listener{options.on_progress};
  best_result found;
  evaluated_plan best, last;
  const auto offer = [&](const evaluated_plan& x) {
    const bool better = x.run.complete && (found.plan.placement.empty() || x.score < best.score);
    if (better) {
      best = x;
      found.take({x.plan, x.score, x.run, {}});
      if (x.score.admitted()) {
        listener.tell(0, watch.seconds(), x.score.value);
      }
    }
    return better;
  };
  /// The plan for these costs; whether it is the best so far. `last` is its run on the network.
  const auto propose = [&](const slowdowns& slow, double share, bool search, const char* remark) {
    auto mine = options;
    mine.on_progress = nullptr;
    mine.moves = search ? options.moves : 0;
    if (options.timed()) {
      mine.seconds = std::max(0.0, options.seconds - watch.seconds()) * share;
    }
    const auto slower = p.with_costs(cost::congested{p.cost(), p.num_devices(), slow.factors()});
    using slower_problem = std::remove_const_t<decltype(slower)>;
    auto proposed = portfolio<slower_problem, std::remove_const_t<decltype(without)>>{slower, without, mine}.run(slower);
    const bool is_first = found.tried.empty();
    if (is_first) { // with costs as they are
      found.bound = proposed.bound;
      found.status = proposed.status;
      found.reason = proposed.reason;
    }
    if (proposed.plan.placement.empty()) {
      found.tried.push_back({std::string{"best"} + remark, infinity, proposed.stats.partition_seconds});
      return false;
    }
    last = judge.recorded(std::move(proposed.plan));
    found.tried.push_back({std::string{"best"} + remark, last.score.usable(),
                           proposed.stats.partition_seconds});
    return offer(last);
  };
  const auto stopped = [&] { return found.status == status::optimal || options.is_over(watch); };

  slowdowns known{p.num_devices()};
  const bool any = propose(known, 0.5, true, "");
  const bool goes_on = any && options.effort != effort::first_plan && !stopped() && known.learn(p, last.record);
  auto best_known = known;
  bool learned = goes_on;
  for (int lesson = 0; lesson < most_lessons && learned && !stopped(); ++lesson) {
    const auto tried = known;
    if (propose(tried, 0.05, false, ", heuristics where links are congested")) {
      best_known = tried;
    }
    learned = known.learn(p, last.record);
  }
  const auto& network = weft::detail::policy_in(how).network;
  if constexpr (partition::bookable_network_for<std::remove_cvref_t<decltype(network)>, Problem>) {
    workspace scratch;
    const auto book = [&](const char* name, const auto& strategy) {
      if (!goes_on || stopped()) {
        return;
      }
      const stopwatch planning;
      rng random{options.seed};
      if (auto decided = partition::run(strategy, p, random, scratch)) {
        const auto x = judge(std::move(decided->plan));
        found.tried.push_back({name, x.score.usable(), planning.seconds()});
        offer(x);
      }
    };
    book("heft, links booked", partition::heft{}.on(network));
    book("peft, links booked", partition::peft{}.on(network));
  }
  if (goes_on && options.effort == effort::full && !stopped()) {
    propose(best_known, 0.7, true, ", links congested");
  }
  if (goes_on && options.effort == effort::full && !stopped()) {
    const stopwatch searching;
    rng random{rng::mix(options.seed)};
    const budget left{.moves = options.all_moves(),
                      .seconds = options.seconds - watch.seconds(),
                      .stop = options.stop,
                      .target = found.bound.value};
    offer(by_runs(judge, best, left, random));
    found.tried.push_back({"local_search, on the network", found.score.usable(), searching.seconds()});
  }
  found.stats.partition_seconds = watch.seconds();
  return found;
}

} // namespace weft::solve::detail
