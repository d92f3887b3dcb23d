// SPDX-License-Identifier: BSL-1.0
/// Trade-offs between the makespan and another objective, such as energy.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/error.hpp"
#include "weft/core/parallel.hpp"
#include "weft/core/random.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/evaluate/evaluated_plan.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/evaluate/pareto_front.hpp"
#include "weft/instance.hpp"
#include "weft/objective/energy.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/exact/trade_off.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/detail/progress_listener.hpp"
#include "weft/solve/detail/memory_guard.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace weft::solve {

namespace detail {

/// The next interval to search: between the two neighbours that are farthest apart, by the product of their ratios, of
/// those between which nobody has looked.
class widest_gap {
public:
  std::optional<std::size_t> next(const pareto_front& front) {
    std::optional<std::size_t> widest;
    double most = 0;
    for (std::size_t i = 0; i + 1 < front.points.size(); ++i) {
      const auto &a = front.points[i], &b = front.points[i + 1];
      const double apart = (b.makespan / a.makespan - 1) * (a.value / b.value - 1);
      if (apart > most && std::find(seen_.begin(), seen_.end(), std::pair{a.makespan, b.makespan}) == seen_.end()) {
        most = apart;
        widest = i;
      }
    }
    if (widest) {
      seen_.emplace_back(front.points[*widest].makespan, front.points[*widest + 1].makespan);
    }
    return widest;
  }

private:
  std::vector<std::pair<double, double>> seen_; // makespans
};

} // namespace detail

/// Plans of which none is better than another in both makespan and value, as the evaluation runs and judges them.
/// ```
/// const auto front = weft::solve::pareto(problem, {.seconds = 10}); // makespan and joules
/// for (const auto& [plan, makespan, joules] : front.points) { … }
/// ```
/// Small problems whose objective is a sum (`objective_parts::is_sum`) are searched through, and the front is `exact`:
/// up to 12 ops in runs without contention, with reservations. Else `best` finds the fastest plan and the one of least
/// value, and in the widest gap between two points, again and again, annealing under a deadline in its middle starts
/// from both. At most `searches` searches share the budget, alike; plans that they meet on their way are not looked at.
/// The same problem, options and seed give the same front at any number of threads if the budget is in moves. A front
/// without points: there is no plan, or none was found.
/// Source: deadlines as ε-constraints: Haimes, Lasdon, Wismer, *On a bicriterion formulation of the problems of
/// integrated system identification and system optimization*, IEEE Trans. Systems, Man, and Cybernetics 1, 1971.
template <must_be::problem Problem, class Run, class Objective>
  requires evaluation_for<evaluation<Run, Objective>, Problem>
pareto_front pareto(const Problem& p, const evaluation<Run, Objective>& how, best_options options = {},
                    std::size_t searches = 12) {
  constexpr std::uint64_t max_visits = 50'000'000; // about a second
  const stopwatch clock;
  options.on_progress = nullptr; // a single number would not say what is better
  const bool over_time = options.memory == memory_rule::over_time;
  if (!std::same_as<Run, schedule::static_order> && over_time) {
    throw value_error("solve::pareto", "memory over time is followed in runs without contention; elsewhere, use "
                                       "memory_rule::reserved, or let the objective be within_memory");
  }
  searches = std::max<std::size_t>(1, searches);
  const Problem searched = over_time ? p.with_resident_demands() : p;
  evaluator judge{searched, how};
  pareto_front front{.makespan_bound = judge.makespan_bound()};
  front.value_bound = judge.bound(front.makespan_bound).value;
  if constexpr (decltype(judge)::is_followed() && objective_parts::is_sum<Objective, Problem>) {
    if (p.num_ops() <= 12 && options.memory == memory_rule::reserved) {
      const auto visits = static_cast<double>(max_visits) * std::min(1.0, options.seconds);
      const std::uint64_t affordable = std::min(options.moves, max_visits / 10) * 10; // a visit is less than a move
      front.exact = refine::exact::trade_off{p, how.objective, std::min(static_cast<std::uint64_t>(visits), affordable),
                                             front}.run();
      const auto forbidden = std::erase_if(front.points, [&](pareto_point& x) {
        const auto s = judge.judge(x.plan); // a sum charges for what is late
        x.value = s.value;
        return !s.admitted();
      });
      // What is late is in nobody's way who is not; what is forbidden for other reasons may have been.
      front.exact =
        front.exact && (forbidden == 0 || how.objective.price(p).deadline < std::numeric_limits<double>::infinity());
    }
  }
  if (front.exact || p.num_ops() == 0) {
    return front;
  }

  std::size_t done = 0;
  const auto share = [&] { // of what is left, alike
    const auto left = static_cast<double>(searches - std::min(done, searches - 1));
    auto mine = options;
    const std::uint64_t all = options.all_moves();
    mine.moves = all == std::numeric_limits<std::uint64_t>::max() ? all : all / searches;
    mine.seconds = std::max(0.0, options.seconds - clock.seconds()) / left;
    mine.seed = rng::mix(options.seed + done++);
    return mine;
  };
  const auto goes_on = [&] { return done < searches && !options.is_over(clock); };
  const auto add = [&](const evaluated_plan& x) { // whatever it was searched for
    if (x.run.complete) {
      if (const auto s = judge.judge(x.plan); s.admitted()) {
        front.offer({x.plan, x.run.makespan, s.value});
      }
    }
  };
  for (const auto& r : {best(p, how.run, share()), best(p, how, share())}) {
    if (r.has_plan()) {
      add({r.plan, r.score, {.makespan = r.makespan}, {}});
    }
  }
  const lowered_problem numbers{searched};
  const auto& tensors = numbers.tensors();
  const std::shared_ptr<const Problem> original{std::shared_ptr<void>{}, &searched};
  detail::widest_gap gaps;
  while (goes_on()) {
    const auto at = gaps.next(front);
    if (!at) {
      break;
    }
    const std::array from{tensors.lowered(front.points[*at].plan), tensors.lowered(front.points[*at + 1].plan)};
    const double deadline = std::sqrt(front.points[*at].makespan * front.points[*at + 1].makespan);
    const evaluation in_time{how.run, objective::within_deadline{how.objective, deadline}};
    const auto mine = share();
    std::array<evaluated_plan, 2> found;
    for_each_on_threads(2, options.threads, [&](unsigned k) {
      any_evaluator<instance> judged{*numbers, original, in_time, tensors};
      rng random{rng::mix(mine.seed + k)};
      const weft::budget half{.moves = mine.moves / 2,
                              .seconds = options.threads > 1 ? mine.seconds : mine.seconds / 2,
                              .stop = options.stop};
      found[k] = detail::annealed({.budget = half, .memory = options.memory}, judged, from[k], random);
    });
    const bool second = judge.is_better(found[1].score, found[0].score);
    auto& better = found[second ? 1 : 0];
    better.plan = tensors.original(std::move(better.plan));
    add(better); // the other one would mostly be a hair's breadth away
  }
  return front;
}

/// The same for energy, of plans that run in their order and without contention.
template <must_be::problem Problem>
pareto_front pareto(const Problem& p, const best_options& options = {}, std::size_t searches = 12) {
  return pareto(p, evaluation{schedule::static_order{}, objective::energy{}}, options, searches);
}

} // namespace weft::solve
