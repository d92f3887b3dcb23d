// SPDX-License-Identifier: BSL-1.0
/// Iterated local search over single-component moves.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/detail/search.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::refine {

namespace detail {
// Facts about an evaluator that are known when compiling.
template <class Judge>
concept always_followed = requires { requires Judge::is_followed(); };
template <class Judge>
concept never_followed = requires { requires !Judge::is_followed(); };
template <class Judge>
concept never_in_order = requires { requires !Judge::runs_in_order(); };
} // namespace detail

/// Moves one component at a time to another device that it fits, and keeps the move if the simulated makespan shrinks.
/// Half of the moves go to the device of a neighbour, half to any device. After `patience` failed moves in a row, a few
/// random moves perturb the best plan, and the search continues from there. Returns the best plan found, without an
/// order, unless none is better than the given one.
///
/// Under `schedule::static_order` the order is searched, too, and returned with the plan: a moved item gets its best
/// position on the device, and half of the moves exchange an item of a longest path with the one before it, or move it
/// to another position. Such changes are evaluated by `incremental_schedule`. So a move of the budget, and of the
/// patience, stands for `changes_per_move` changes, and a change is kept if the makespan does not grow.
///
/// If runs follow the plan's order, but the score cannot be evaluated incrementally (on a network, or for an objective
/// that is not a sum), order and placement are searched by single changes, each of which is simulated.
///
/// Under a concurrency strategy (simulate/manycore.hpp) the simulation of a move includes how ops then share cores.
/// Each move takes one simulation, or about as long. Deterministic for a seed when the budget is in moves.
/// Source: Lourenço, Martin, Stützle, *Iterated Local Search*, 2003; [CP] §3.
/// Complexity: a simulation per move; under `static_order`, that of `incremental_schedule` per change.
/// Choose it for any ready policy and any concurrency strategy, and for large graphs when there is little time.
struct local_search {
  weft::budget budget = {.moves = 2000}; ///< moves, each a simulation or about as much
  std::uint64_t patience = 300; ///< failed moves in a row before a perturbation
  std::uint32_t shake = 4;      ///< random moves in a perturbation
  std::uint32_t changes_per_move = 25; ///< only under static_order, where changes are that much cheaper

  template <class Judge>
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    const auto& p = judge.problem();
    if (p.num_components() == 0 || (p.num_devices() < 2 && !judge.runs_in_order())) {
      return start;
    }
    if constexpr (detail::always_followed<Judge>) {
      return follow(judge, std::move(start), random);
    } else {
      if constexpr (!detail::never_followed<Judge>) {
        if (judge.is_followed()) {
          return follow(judge, std::move(start), random);
        }
      }
      if constexpr (!detail::never_in_order<Judge>) {
        if (judge.runs_in_order()) {
          return run_changes(judge, std::move(start), random);
        }
      }
      return simulate_moves(judge, std::move(start), random);
    }
  }

private:
  template <class Judge>
  evaluated_plan follow(Judge& judge, evaluated_plan start, rng& random) const {
    return detail::search(judge, std::move(start), budget, [&](auto& s, auto& found, budget_meter& meter) {
      descend(judge.problem(), s, found, meter, random);
    });
  }

  /// Changes placement and order, and runs what came out.
  template <class Judge>
  evaluated_plan run_changes(Judge& judge, evaluated_plan start, rng& random) const {
    const auto& p = judge.problem();
    if (!start.run.complete) {
      return start;
    }
    budget_meter meter{budget};
    incremental_schedule s{p, judge.sum()};
    s.assign(judge.record_of(start));
    neighbourhood moves{p, {.stretches = 0}};
    typename decltype(s)::snapshot here, least;
    s.save(least);
    evaluated_plan best = start;
    score current = start.score;
    bool good_enough = meter.improved(current.usable());
    /// Whether the schedule, as it is, is not worse than the last one that was taken.
    const auto run_it = [&](bool whatever) {
      plan changed = s.to_plan();
      const score after = judge.judge(changed);
      if (judge.is_better(current, after) && !whatever) {
        return false;
      }
      current = after;
      s.save(here);
      if (judge.is_better(current, best.score)) {
        best = {std::move(changed), current, judge.last(), {}};
        least = here;
        good_enough = meter.improved(current.usable());
      }
      return true;
    };
    if (!good_enough && meter.spend()) {
      run_it(true); // the order may be another one, as it comes from times without contention
    }
    for (std::uint64_t failures = 0; !good_enough && meter.spend();) {
      if (!change(s, moves, random) || !(s.evaluate() < s.infinity)) {
        s.rollback();
        ++failures;
        continue;
      }
      s.commit();
      const score before = current;
      if (!run_it(false)) {
        s.restore(here);
      }
      failures = judge.is_better(current, before) ? 0 : failures + 1;
      if (failures >= patience) {
        failures = 0;
        s.restore(least);
        for (std::uint32_t i = 0; i < shake; ++i) {
          keep(s, moves.reassign(s, random.below(static_cast<std::uint32_t>(p.num_ops())), random));
        }
        run_it(true);
      }
    }
    return best;
  }

  template <class Problem, class Schedule>
  void descend(const Problem& p, Schedule& s, detail::incumbent<Schedule>& found,
               budget_meter& meter, rng& random) const {
    neighbourhood moves{p, {.stretches = 0}};
    std::uint64_t failures = 0; // moves without a shorter schedule
    while (!found.good_enough() && meter.spend()) {
      const double before = s.value();
      for (std::uint32_t k = 0; k < changes_per_move && !found.good_enough(); ++k) {
        if (change(s, moves, random) && s.evaluate(s.value()) <= s.value()) {
          s.commit();
          found.look_at(s);
        } else {
          s.rollback();
        }
      }
      failures = s.value() < before ? 0 : failures + 1;
      if (failures >= patience) {
        failures = 0;
        s.restore(found.best());
        for (std::uint32_t i = 0; i < shake; ++i) {
          keep(s, moves.reassign(s, random.below(static_cast<std::uint32_t>(p.num_ops())), random));
        }
      }
    }
  }

  template <class Problem, class Schedule>
  static bool change(Schedule& s, const neighbourhood<Problem>& moves, rng& random) {
    const item_id i = near_critical(s, random, 5);
    if (s.is_op(i) && random.below(2) == 0) {
      return moves.reassign(s, i, random);
    }
    return random.below(2) == 0 ? s.before(i) != none && s.put_before(i, s.before(i)) : s.shift(i, s.ready(i));
  }

  /// Makes a change whatever it costs, if it could be made.
  template <class Schedule>
  static void keep(Schedule& s, bool made) {
    if (made && s.evaluate() < s.infinity) {
      s.commit();
    } else {
      s.rollback();
    }
  }

  template <class Judge>
  evaluated_plan simulate_moves(Judge& judge, evaluated_plan start, rng& random) const {
    const auto& p = judge.problem();
    search<Judge> s{judge, start.plan.placement};
    budget_meter meter{budget};
    score current = s.simulate();
    evaluated_plan best{{s.where, {}}, current, judge.last(), {}};
    bool good_enough = meter.improved(best.score.usable());
    for (std::uint64_t failures = 0; !good_enough && meter.spend();) {
      const auto [c, d] = s.propose(random);
      if (d == none) {
        ++failures;
        continue;
      }
      const device_id from = s.where[p.members(c).front()];
      s.move(c, d);
      if (const score after = s.simulate(); judge.is_better(after, current)) {
        current = after;
        failures = 0;
      } else {
        s.move(c, from);
        ++failures;
      }
      if (judge.is_better(current, best.score)) {
        best = {{s.where, {}}, current, judge.last(), {}};
        good_enough = meter.improved(best.score.usable());
      }
      if (failures >= patience) {
        failures = 0;
        s.restart(best.plan.placement);
        for (std::uint32_t i = 0; i < shake; ++i) {
          if (const auto [component, device] = s.propose(random); device != none) {
            s.move(component, device);
          }
        }
        current = s.simulate();
      }
    }
    return judge.is_better(best.score, start.score) ? best : start;
  }

  template <class Judge>
  struct search {
    Judge& judge;
    const typename Judge::problem_type& p = judge.problem();
    placement where = {};
    std::vector<byte_count> free = {};

    search(Judge& j, const placement& start) : judge{j}, free(p.num_devices(), 0) { restart(start); }

    void restart(const placement& from) {
      where = from;
      for (const device_id d : ids(p.num_devices())) {
        free[d] = p.capacity(d);
      }
      for (component_id c = 0; c < p.num_components(); ++c) {
        p.memories().take(free, where[p.members(c).front()], p.demand(c));
      }
    }

    score simulate() { return judge.judge({where, {}}); }

    void move(component_id c, device_id to) {
      p.memories().give(free, where[p.members(c).front()], p.demand(c));
      p.memories().take(free, to, p.demand(c));
      for (const op_id v : p.members(c)) {
        where[v] = to;
      }
    }

    /// A component and another device that it fits, or `none` if the draw had no such device.
    std::pair<component_id, device_id> propose(rng& random) const {
      const component_id c = random.below(p.num_components());
      const device_id here = where[p.members(c).front()];
      const device_id d = random.below(2) == 0 ? neighbour(c, random) : random.below(p.num_devices());
      const bool fits = d != none && d != here && p.kinds(c).contains(p.platform().kind(d)) &&
                        (free[d] >= p.demand(c) || p.memory_of(d) == p.memory_of(here));
      return {c, fits ? d : none};
    }

    /// The device of a producer or a consumer of some member.
    device_id neighbour(component_id c, rng& random) const {
      const auto members = p.members(c);
      const op_id u = random_neighbour(p.workload(), members[random.below(members.size())], random);
      return u == none ? none : where[u];
    }
  };
};

/// The partitioner of [CP] that moves components while the simulated makespan shrinks, as `local_search` does. It
/// starts from the plan of `start` and searches under `policy`.
///
/// The start matters most: on the paper's convolutional network with 50 devices, 2000 moves from HEFT's plan end at
/// 62.5 (mean of 20 seeds), from `partition::hash`'s at 127.3.
/// Source: [CP] §3; Lourenço, Martin, Stützle, *Iterated Local Search*, 2003. Complexity: that of `start`, and a
/// simulation per move.
/// Choose it to compare with [CP]. Refiners that also search orders evaluate many more changes in the same time.
template <class Start = partition::heft, class Policy = schedule::path_completion_time>
struct iterated_local_search {
  local_search search{}; ///< the search; its budget is 2000 moves
  /// The partitioner whose plan it starts from.
  Start start = Start(); // clang 16 crashes on {} here when Start has empty members
  Policy policy = Policy(); ///< the policy under which moves are simulated

  template <class Problem>
    requires partitioner_for<Start, Problem>
  outcome<plan> operator()(const Problem& p, rng& random, workspace& scratch) const {
    auto first = partition::run(start, p, random, scratch);
    if (!first) {
      return first.error();
    }
    return improve(p, std::move(first->plan), search, policy, random).plan;
  }
};

} // namespace weft::refine
