// SPDX-License-Identifier: BSL-1.0
/// Refinement of plans of up to millions of ops: passes over the whole, then stretches of time on several threads.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/parallel.hpp"
#include "weft/core/random.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/detail/reverse_pass.hpp"
#include "weft/refine/detail/search.hpp"
#include "weft/refine/detail/timed_plan.hpp"
#include "weft/refine/detail/window_problem.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/schedule/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace weft::refine {

/// Refines plans of problems that are too large for searches over the whole, in two stages, each on several threads.
///
/// **Passes** decide everything anew from the end to the beginning (`detail::reverse_pass`), where sends are known when
/// they are booked, at several prices of a device's time: 1 and 8, then around the better one. What this gains is what a
/// list scheduler loses that goes forwards: it does not see the sends that its choice will cause, and takes a device that
/// is bad at an op because it is free now.
///
/// **Windows** are stretches of `window` ops in the order of their starts, each a problem of its own in which all around
/// it stays where it is (`detail::window_problem`). Every second one is annealed at the same time, then the others; in
/// the next sweep borders lie in the middle of the windows before. A window minimises how much earlier all that is behind
/// it could begin, which adds up over windows, critical or not. After each half of a sweep the whole is run, and the new
/// plan is kept if it is better. A problem of one window is annealed as a whole.
///
/// Returns the best plan met, with its order, or the given one; see `simulated_annealing` for policies. Where the
/// objective is not the makespan, windows shorten the makespan, and the objective decides what is kept. Deterministic for
/// a seed at any number of threads when the budget is in moves. Memory by reservation.
/// Source: time-window decomposition of job shops, Byeon, Wu, Storer, *Decomposition Heuristics for
/// Robust Job-Shop Scheduling*, IEEE Transactions on Robotics and Automation 14(2), 1998.
/// Complexity: at most five passes, O(devices · (n + m) + n log n) each; per change one evaluation by
/// `incremental_schedule` in a window. Memory: about 200 bytes per op and 150 per edge.
/// Choose it for graphs of more than some 10,000 ops, and where sends take time or devices are good at different ops.
struct windows {
  weft::budget budget = {.moves = 1'000'000}; ///< of changes; a pass counts as one per eight ops
  std::uint32_t window = 1000; ///< ops
  std::uint32_t sweeps = 2;    ///< over which the budget is spread; 0: passes only
  unsigned threads = 1;

  template <class Judge>
    requires slot_policy_for<typename Judge::policy_type, typename Judge::problem_type>
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    if (judge.problem().num_ops() == 0 || !start.run.complete || budget.moves == 0) {
      return start;
    }
    state<Judge> s{*this, judge, std::move(start), random()};
    if (!s.is_over(1)) {
      s.make_passes();
    }
    if (sweeps > 0 && judge.problem().num_ops() <= window && !s.is_over(1)) {
      s.anneal(random);
    }
    s.halves = 2 * sweeps;
    for (std::uint32_t half = 0; sweeps > 0 && !s.is_over(1) && s.refine_windows(half); ++half) {
    }
    return std::move(s.best);
  }

private:
  template <class Judge>
  struct state {
    using problem_type = typename Judge::problem_type;
    using pass_type = detail::reverse_pass<problem_type>;
    static constexpr double most_changes = 1000; ///< per op in half a sweep

    const windows& how;
    Judge& judge;
    evaluated_plan best;
    std::uint64_t seed;
    const problem_type& p = judge.problem();
    stopwatch clock = {};
    std::uint64_t used = 0;
    bool good_enough = false;
    std::uint32_t halves = 0; ///< of sweeps, over which what is left is spread
    double around = 0; ///< seconds that half a sweep takes besides what it spends on windows, by the last one

    state(const windows& w, Judge& j, evaluated_plan start, std::uint64_t s)
        : how{w}, judge{j}, best{std::move(start)}, seed{s} {
      judge.record_of(best);
      good_enough = tell();
    }

    bool is_over(double share) const {
      const auto& b = how.budget;
      return good_enough || (b.stop != nullptr && b.stop->stop_requested()) || clock.seconds() >= b.seconds * share ||
             static_cast<double>(used) >= static_cast<double>(b.moves) * share;
    }
    bool tell() const {
      const double value = best.score.usable();
      if (how.budget.on_progress != nullptr && value < std::numeric_limits<double>::infinity()) {
        (*how.budget.on_progress)({used, clock.seconds(), value});
      }
      return value <= how.budget.target * (1 + 1e-12);
    }
    weft::budget left() const {
      auto b = how.budget;
      b.moves -= b.moves < weft::budget{}.moves ? std::min(used, b.moves) : 0;
      b.seconds = std::max(0.0, b.seconds - clock.seconds());
      return b;
    }
    void offer(plan x) {
      auto judged = judge.recorded(std::move(x));
      if (judged.score < best.score) {
        best = std::move(judged);
        good_enough = tell();
      }
    }

    /// The price is searched first on a coarse grid, then around the best point of it.
    void make_passes() {
      const pass_type pass{p};
      typename pass_type::result least;
      double price = 0;
      const auto try_prices = [&](const std::vector<double>& prices) {
        buffer<typename pass_type::result> made(prices.size());
        weft::for_each_on_threads(static_cast<unsigned>(prices.size()), how.threads, [&](unsigned i) {
          made[i] = pass(prices[i]);
        });
        for (std::size_t i = 0; i < prices.size(); ++i) {
          used += 1 + p.num_ops() / 8;
          if (made[i].makespan < least.makespan) {
            least = std::move(made[i]);
            price = prices[i];
          }
        }
      };
      try_prices({1, 8});
      if (!is_over(0.25)) {
        try_prices(price == 1 ? std::vector<double>{0, 0.25, 3} : std::vector<double>{3, 20});
      }
      if (!least.plan.placement.empty()) {
        const double begun = clock.seconds();
        offer(std::move(least.plan));
        around = 3 * (clock.seconds() - begun);
      }
    }

    /// The whole as one window, until the budget is spent.
    void anneal(rng& random) {
      const double begun = clock.seconds();
      double known = best.score.usable();
      const std::function<void(const progress&)> listen = [&](const progress& x) {
        if (x.best < known && how.budget.on_progress != nullptr) {
          known = x.best;
          (*how.budget.on_progress)({used + x.moves, begun + x.seconds, x.best});
        }
      };
      simulated_annealing search{.budget = left()};
      search.budget.on_progress = &listen;
      best = search(judge, std::move(best), random);
      good_enough = true; // there is nothing else to do
    }

    /// Every second window, with borders that differ from sweep to sweep. False: there was no time for it.
    bool refine_windows(std::uint32_t half) {
      const double entered = clock.seconds();
      const detail::timed_plan<problem_type> whole{p, best.record};
      const std::size_t n = p.num_ops();
      const std::size_t size = std::max<std::size_t>(2, how.window);
      std::vector<std::size_t> borders{0};
      for (std::size_t next = half / 2 % 2 == 0 ? size : size / 2; next + size / 2 < n; next += size) {
        borders.push_back(next);
      }
      borders.push_back(n);
      std::vector<std::size_t> chosen;
      for (std::size_t i = half % 2; i + 1 < borders.size(); i += 2) {
        chosen.push_back(i);
      }
      if (chosen.empty()) {
        return true;
      }
      std::size_t ops = 0;
      for (const auto i : chosen) {
        ops += borders[i + 1] - borders[i];
      }
      const weft::budget rest = left();
      while (halves > half + 2 && (halves - half) * around > rest.seconds / 5) {
        halves -= 2; // fewer, so that most of the time is for windows
      }
      const double share = half < halves ? 1.0 / (halves - half) : 1;
      const double seconds = rest.seconds * share - around;
      if (!(seconds > 0)) {
        return false;
      }
      const double moves = std::min(most_changes, static_cast<double>(rest.moves) * share / static_cast<double>(ops));
      const auto begun = clock.seconds();
      std::vector<std::vector<step>> steps(borders.size() - 1);
      std::vector<std::uint64_t> spent(chosen.size(), 0);
      placement where = best.plan.placement;
      weft::for_each_on_threads(static_cast<unsigned>(chosen.size()), how.threads, [&](unsigned k) {
        const std::size_t from = borders[chosen[k]];
        const std::size_t to = borders[chosen[k] + 1];
        const detail::window_problem<problem_type> window{whole, from, to, chosen.size()};
        // Of seconds, windows have what those before them left.
        const auto waiting = static_cast<double>(std::max<std::size_t>(how.threads, chosen.size() - k));
        const weft::budget mine{.moves = static_cast<std::uint64_t>(moves * static_cast<double>(to - from)),
                                .seconds = std::max(0.0, begun + seconds - clock.seconds()) * how.threads / waiting,
                                .stop = how.budget.stop};
        rng random{rng::mix(seed + 0x9e3779b97f4a7c15u * (half * borders.size() + k + 1))};
        spent[k] = refine_window(window, mine, random, where, steps[chosen[k]]);
      });
      const double ended = clock.seconds();
      for (const auto x : spent) {
        used += 1 + x;
      }
      offer(merged(whole, borders, std::move(steps), std::move(where)));
      around = begun - entered + (clock.seconds() - ended);
      return true;
    }

    std::uint64_t refine_window(const detail::window_problem<problem_type>& window, const weft::budget& spend, rng& random,
                                placement& where, std::vector<step>& steps) const {
      const auto& q = window.problem();
      budget_meter meter{spend};
      incremental_schedule s{q};
      s.assign(window.present());
      const double before = s.value();
      detail::incumbent found{s, meter, memory_limit{}, before};
      simulated_annealing{}.run(q, s, found, meter, random);
      if (found.value() < before) {
        window.take_over(s.to_plan(found.best()), where, steps);
      }
      return meter.used();
    }

    /// Windows that were decided anew, in their places. A send from before such a window goes before it.
    plan merged(const detail::timed_plan<problem_type>& whole, const std::vector<std::size_t>& borders,
                std::vector<std::vector<step>> steps, placement where) const {
      plan x{std::move(where), {}};
      x.order.reserve(best.plan.order.size());
      const auto add = [&](const step& y) {
        const auto is_needed = [&](op_id c) { return x.placement[c] == y.to; };
        if (!y.is_send() || (x.placement[y.op] != y.to && std::ranges::any_of(p.workload().consumers(y.tensor), is_needed))) {
          x.order.push_back(y);
        }
      };
      std::size_t here = 0; // the window of the last op
      const auto leave = [&] { std::for_each(steps[here].begin(), steps[here].end(), add); };
      whole.for_each_step([&](const step& y) {
        const auto of = static_cast<std::size_t>(
          std::upper_bound(borders.begin(), borders.end(), whole.position(y.op)) - borders.begin() - 1);
        if (!y.is_send() && of != here) {
          leave();
          here = of;
        }
        if (steps[of].empty()) {
          add(y);
        }
      });
      leave();
      return x;
    }
  };
};

} // namespace weft::refine
