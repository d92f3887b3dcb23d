// SPDX-License-Identifier: BSL-1.0
/// Simulated annealing over placements and orders.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/elementary.hpp"
#include "weft/core/rounding.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/detail/search.hpp"
#include "weft/refine/neighbourhood.hpp"

#include <algorithm>
#include <cmath>

namespace weft::refine {

/// Changes placement and order together, and accepts a change that increases the value by x with probability exp(−x /
/// temperature), while the temperature falls geometrically. The value is the makespan, or that of an objective that is
/// a sum (`incremental_schedule`). The acceptance threshold is drawn before a change is evaluated, so that the
/// evaluation of most bad changes stops after a few items. Changes are drawn near the longest paths: around the best of
/// `focus` random items; while the plan exceeds the memory, at ops of devices that are short of it. After
/// `changes_per_round` changes per op the search reheats, from the best schedule found.
///
/// Returns the best plan found, with its order: run it under `schedule::static_order`. Under another policy the plan is
/// returned only if it is better there, too. The unit of temperatures is the mean contribution of an op to the value,
/// which is its time if the makespan is minimised. By default temperatures follow from the number of changes that the
/// budget allows per op. Deterministic for a seed when the budget is in moves.
/// Source: Kirkpatrick, Gelatt, Vecchi, *Optimization by Simulated Annealing*, Science 220, 1983; moves and estimates
/// as for the flexible job shop: Mastrolilli, Gambardella, *Effective Neighbourhood Functions for the Flexible Job Shop
/// Problem*, J. Scheduling 3, 2000. Complexity: per change one evaluation by `incremental_schedule`, which takes time
/// in the items that it changes.
/// Choose it for the best plans, given time.
struct simulated_annealing {
  weft::budget budget = {.moves = 200'000}; ///< changes
  double initial_temperature = 0; ///< in mean op times; 0: derived from the budget
  double final_temperature = 0;   ///< in mean op times; 0: a bit less than a third of the initial one
  double changes_per_round = 1000; ///< changes per op between reheats
  std::uint32_t focus = 8;        ///< random items, of which the one on the longest path is taken
  /// Reserved: changes keep to the reservations. Over time: no change makes a device exceed its memory or, if the given
  /// plan already does, exceed it by more (on devices of several slots: in the planned run).
  memory_rule memory = memory_rule::reserved;

  template <class Judge>
    requires Judge::one_op_per_slot
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    return detail::search(judge, std::move(start), budget, [&](auto& s, auto& found, budget_meter& meter) {
      run(judge.problem(), s, found, meter, random);
    }, memory);
  }

  /// Anneals from the schedule's present state until the meter's budget is spent.
  template <class Problem, class Schedule>
  void run(const Problem& p, Schedule& s, detail::incumbent<Schedule>& found, budget_meter& meter,
           rng& random) const {
    const double changes = changes_per_op(p, s, found, meter, random);
    const double rounds = std::max(1.0, std::round(changes / changes_per_round));
    const double unit = detail::mean_contribution(s);
    const double hot = unit * (initial_temperature > 0 ? initial_temperature
                                                       : 0.35 * std::min(1.0, std::sqrt(changes / changes_per_round)));
    const double cold = final_temperature > 0 ? unit * final_temperature : hot / 3.5;
    neighbourhood moves{p, {.stretches = 0.6 * std::min(1.0, std::sqrt(changes / 2000))}};
    const double begun = meter.fraction();
    double temperature = hot;
    double round = 0;
    for (std::uint64_t k = 0; !found.good_enough() && meter.spend(); ++k) {
      if (k % 64 == 0 && hot > 0) {
        const double done = rounds * (meter.fraction() - begun) / std::max(1e-9, 1 - begun);
        if (std::floor(done) > round && done < rounds) {
          round = std::floor(done);
          found.restore(s);
        }
        temperature = hot * portable_exp((done - round) * portable_log(cold / hot));
      }
      step(s, found, moves, random, temperature);
    }
  }

private:
  template <class Problem, class Schedule>
  void step(Schedule& s, detail::incumbent<Schedule>& found, neighbourhood<Problem>& moves,
            rng& random, double temperature) const {
    const item_id i = found.draw(s, random, focus);
    const double limit = s.value() - rounded(temperature * portable_log(1 - random.uniform()));
    const double value = moves.change(s, i, random) ? s.evaluate(found.limit_for(limit)) : s.infinity;
    if (value < s.infinity && found.admits(s, value, limit)) {
      s.commit();
      found.look_at(s);
    } else {
      s.rollback();
    }
  }

  /// How many changes the budget allows per op. Of a budget in seconds a twentieth is spent to find out, on changes
  /// that do not lengthen the schedule.
  template <class Problem, class Schedule>
  double changes_per_op(const Problem& p, Schedule& s, detail::incumbent<Schedule>& found,
                        budget_meter& meter, rng& random) const {
    const auto n = static_cast<double>(p.num_ops());
    if (!meter.timed()) {
      return static_cast<double>(meter.budgeted_moves()) / n;
    }
    neighbourhood moves{p, {.stretches = 0.3}};
    const auto before = meter.used();
    while (meter.fraction() < 0.05 && !found.good_enough() && meter.spend()) {
      step(s, found, moves, random, 0);
    }
    return static_cast<double>(meter.used() - before) / std::max(1e-3, meter.fraction()) / n;
  }
};

} // namespace weft::refine
