// SPDX-License-Identifier: BSL-1.0
/// Tabu search over changes of longest paths.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/critical_neighbourhood.hpp"
#include "weft/refine/detail/search.hpp"
#include "weft/refine/neighbourhood.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::refine {

/// Each step draws a longest path and takes the changes that may shorten it (`critical_neighbourhood`), evaluates the
/// `candidates` with the best estimates, and makes the one with the least value, even if that is greater than the
/// current value. For a number of steps, a moved item may not return to the device that it left, nor change its
/// position on its device again, unless that gives the best schedule so far. That number is `tenure`, up to twice as
/// many at random, plus a share of the length of the path. After `patience` steps without a better schedule the search
/// returns to the best one, perturbs it by a few changes of longest paths, and continues. If the objective charges for
/// ops and transfers, half of the candidates are reassignments of any op, because ops on no longest path have charges,
/// too.
///
/// Returns the best plan found; see `simulated_annealing` for policies. A move of the budget is an evaluated change.
/// Deterministic for a seed when the budget is in moves.
/// Source: Glover, *Tabu Search, Part I*, ORSA J. Computing 1(3), 1989; for shops: Nowicki, Smutnicki, *A Fast Taboo
/// Search Algorithm for the Job Shop Problem*, Management Science 42(6), 1996; Mastrolilli, Gambardella, *Effective
/// Neighbourhood Functions for the Flexible Job Shop Problem*, J. Scheduling 3, 2000.
/// Complexity: per step a longest path with an estimate for each op on it and each device, and `candidates` evaluations
/// by `incremental_schedule`, each of which takes time in the items that it changes.
/// Choose it where devices are the bottleneck, as in job shops. Where communication is the bottleneck, annealing is
/// better.
struct tabu_search {
  weft::budget budget = {.moves = 200'000}; ///< changes
  std::uint32_t candidates = 2;   ///< changes that a step evaluates, besides those that are tabu
  std::uint32_t tenure = 6;       ///< least number of steps for which a moved item may not return
  double tenure_per_item = 0.2;   ///< additional steps per item on the longest path
  std::uint64_t patience = 2'000; ///< steps without a better schedule before it returns to the best one
  std::uint32_t shake = 10;       ///< changes of longest paths in a perturbation
  /// As in `simulated_annealing`.
  memory_rule memory = memory_rule::reserved;

  template <class Judge>
    requires Judge::one_op_per_slot
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    return detail::search(judge, std::move(start), budget, [&](auto& s, auto& found, budget_meter& meter) {
      run(judge.problem(), s, found, meter, random);
    }, memory);
  }

  /// Searches from the schedule's present state until the meter's budget is spent.
  template <class Problem, class Schedule>
  void run(const Problem& p, Schedule& s, detail::incumbent<Schedule>& found, budget_meter& meter, rng& random) const {
    search<Problem, Schedule> x{*this, s, found, meter, random, critical_neighbourhood<Problem>{p},
                                neighbourhood<Problem>{p}, std::vector<std::uint64_t>(remembered(s)), {}};
    x.run();
  }

private:
  static constexpr std::size_t max_moves = 128; ///< pairs of an op and a device, on a longest path, that are estimated

  /// For how many pairs of an item and a device it is known until when they may not meet; if there are more, some
  /// share.
  template <class Schedule>
  static std::size_t remembered(const Schedule& s) {
    return std::min<std::size_t>(s.num_items() * s.problem().num_devices(), std::size_t{1} << 22);
  }

  template <class Problem, class Schedule>
  struct search {
    const tabu_search& options;
    Schedule& s;
    detail::incumbent<Schedule>& found;
    budget_meter& meter;
    rng& random;
    critical_neighbourhood<Problem> critical;
    neighbourhood<Problem> any;
    std::vector<std::uint64_t> tabu_until; // per pair of an item and a device
    buffer<critical_change> reassignments;

    void run() {
      std::uint64_t last_better = 0;
      for (std::uint64_t step = 1; !found.good_enough() && !meter.exhausted(); ++step) {
        const double best = found.value();
        make(choose(step), step);
        if (found.value() < best) {
          last_better = step;
        } else if (step - last_better > options.patience) {
          last_better = step;
          shake_best();
        }
      }
    }

    device_id device_of(item_id i) const { return s.items().flow().device_of(i); }
    std::size_t pair_of(item_id i, device_id d) const {
      return (std::size_t{i} * s.problem().num_devices() + d) % tabu_until.size();
    }
    bool is_tabu(const critical_change& x, std::uint64_t step) const {
      return tabu_until[pair_of(x.item, x.to == none ? device_of(x.item) : x.to)] > step;
    }

    /// The best of those that were evaluated; if none was that may be made, one that is tabu.
    critical_change choose(std::uint64_t step) {
      critical_change chosen, forbidden;
      double least = s.infinity;
      std::uint32_t tried = 0;
      std::uint32_t tabu = 0;
      const std::uint64_t before = meter.used();
      const auto consider = [&](const critical_change& x) {
        const bool not_now = is_tabu(x, step);
        if (not_now && x.estimate >= found.value()) {
          forbidden = random.below(++tabu) == 0 ? x : forbidden;
          return true;
        }
        if (!meter.spend()) {
          return false;
        }
        const double limit = not_now ? std::min(least, found.value()) : least;
        if (critical.apply(s, x)) {
          if (const double value = s.evaluate(limit); value < limit) {
            least = value;
            chosen = x;
          }
          tried += !not_now;
        }
        s.rollback();
        return tried < options.candidates;
      };
      for (const auto& x : reassign_any()) {
        consider(x);
      }
      for (const auto& x : critical.collect(s, random, max_moves)) {
        if (!consider(x)) {
          break;
        }
      }
      // A step without an evaluation counts, too, so that there is an end.
      if (meter.used() == before && !meter.spend()) {
        return {};
      }
      return chosen.item != none ? chosen : forbidden;
    }

    /// Where something is charged: as many as half of the candidates.
    const buffer<critical_change>& reassign_any() {
      reassignments.clear();
      for (std::uint32_t k = 0; s.charges() > 0 && k < options.candidates / 2; ++k) {
        const op_id v = random.below(static_cast<std::uint32_t>(s.num_ops()));
        if (const device_id d = any.draw_device(s, v, random);
            d != s.device(v) && s.fits(s.problem().component(v), d)) {
          reassignments.push_back({.item = v, .to = d});
        }
      }
      return reassignments;
    }

    void make(const critical_change& x, std::uint64_t step) {
      if (x.item == none) {
        return;
      }
      const device_id from = device_of(x.item);
      const bool exchanged = x.to == none && (x.before ? s.before(x.item) : s.after(x.item)) == x.other;
      const bool made = commit(x);
      const std::uint64_t until = step + options.tenure + random.below(options.tenure + 1) +
                                  static_cast<std::uint64_t>(rounded(options.tenure_per_item *
                                                                     static_cast<double>(critical.path().size())));
      // What lacks memory is not tried again at once.
      tabu_until[pair_of(x.item, made || x.to == none ? from : x.to)] = until;
      if (made && exchanged) {
        tabu_until[pair_of(x.other, from)] = until;
      }
    }

    bool commit(const critical_change& x) {
      const double value = critical.apply(s, x) ? s.evaluate() : s.infinity;
      if (value < s.infinity && found.admits(s, value, s.infinity)) {
        s.commit();
        found.look_at(s);
        return true;
      }
      s.rollback();
      return false;
    }

    void shake_best() {
      found.restore(s);
      for (std::uint32_t k = 0; k < options.shake && meter.spend(); ++k) {
        if (const auto& all = critical.collect(s, random, max_moves); !all.empty()) {
          commit(all[random.below(static_cast<std::uint32_t>(all.size()))]);
        }
      }
    }
  };
};

} // namespace weft::refine
