// SPDX-License-Identifier: BSL-1.0
/// Tabu search over placements and orders.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/detail/search.hpp"
#include "weft/refine/neighbourhood.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::refine {

/// In each step it evaluates `candidates` changes near the longest paths, each a reassignment of a component or an
/// exchange of an item with the one before it in its lane, and makes the one that gives the shortest schedule, even if
/// that is longer than the present one. What has moved stays where it is for a random number of steps between `tenure`
/// and 2 · `tenure`, unless moving it gives the best schedule so far. After `patience` steps without a better schedule
/// it returns to the best one.
///
/// Returns the best plan met; see `simulated_annealing` for policies. A move of the budget is a step. Deterministic for
/// a seed when the budget is in moves.
/// Source: Glover, *Tabu Search, Part I*, ORSA J. Computing 1(3), 1989.
/// Complexity: per step `candidates` evaluations by `incremental_schedule`, of which each takes time in what it
/// changes.
/// Choose it for graphs of some hundred ops.
struct tabu_search {
  weft::budget budget = {.moves = 20'000}; ///< of steps
  std::uint32_t candidates = 16;  ///< changes that a step evaluates
  std::uint32_t tenure = 10;      ///< steps, at least, for which what has moved stays
  std::uint32_t focus = 5;        ///< items from which the one on the longest path is taken
  std::uint64_t patience = 2'000; ///< steps without a better schedule before it returns to the best one

  template <class Judge>
    requires slot_policy_for<typename Judge::policy_type, typename Judge::problem_type>
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    return detail::search(judge, std::move(start), budget, [&](auto& s, auto& found, budget_meter& meter) {
      run(judge.problem(), s, found, meter, random);
    });
  }

private:
  /// A reassignment of the component of an op, or, without a device, an exchange of the item with the one before it.
  struct candidate {
    item_id item = none;
    device_id device = none;
  };

  template <class Problem, class Schedule>
  void run(const Problem& p, Schedule& s, detail::incumbent<Schedule>& found, budget_meter& meter,
           rng& random) const {
    neighbourhood moves{p};
    std::vector<std::uint64_t> free_at(p.num_components(), 0);
    std::uint64_t last_better = 0;
    for (std::uint64_t step = 1; !found.good_enough() && meter.spend(); ++step) {
      candidate chosen;
      double least = s.infinity;
      for (std::uint32_t k = 0; k < candidates; ++k) {
        const candidate x = draw(s, moves, random);
        const bool tabu = free_at[component_of(s, x.item)] > step;
        const double limit = std::min(least, tabu ? found.value() : s.infinity);
        if (apply(s, x)) {
          if (const double value = s.evaluate(limit); value < limit) {
            least = value;
            chosen = x;
          }
        }
        s.rollback();
      }
      if (chosen.item != none && apply(s, chosen) && s.evaluate() < s.infinity) {
        free_at[component_of(s, chosen.item)] = step + tenure + random.below(tenure + 1);
        const double best = found.value();
        s.commit();
        found.look_at(s);
        last_better = found.value() < best ? step : last_better;
      } else {
        s.rollback();
      }
      if (step - last_better > patience) {
        s.restore(found.best());
        last_better = step;
      }
    }
  }

  template <class Schedule>
  static component_id component_of(const Schedule& s, item_id i) {
    return s.problem().component(s.is_op(i) ? i : s.producer(i));
  }

  template <class Problem, class Schedule>
  candidate draw(const Schedule& s, const neighbourhood<Problem>& moves, rng& random) const {
    const item_id i = near_critical(s, random, focus);
    if (!s.is_op(i) || s.problem().num_devices() < 2 || random.below(3) == 0) {
      return {i, none};
    }
    return {i, moves.draw_device(s, i, random)};
  }

  template <class Schedule>
  static bool apply(Schedule& s, const candidate& x) {
    if (x.device == none) {
      return s.before(x.item) != none && s.put_before(x.item, s.before(x.item));
    }
    const component_id c = s.problem().component(x.item);
    return x.device != s.device(x.item) && s.fits(c, x.device) && s.move(c, x.device);
  }
};

} // namespace weft::refine
