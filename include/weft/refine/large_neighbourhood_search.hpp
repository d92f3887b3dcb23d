// SPDX-License-Identifier: BSL-1.0
/// Large-neighbourhood search: free a part of the schedule, decide it anew.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/elementary.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/refine/detail/search.hpp"
#include "weft/refine/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace weft::refine {

/// Frees the components in a window of time over all devices, in an interval of one device, along a piece of a longest
/// path, or in a connected piece of the graph. Then it schedules them again one after the other, as a list scheduler
/// does: in the order of their starts, each on the device and at the position where the longest path through it is
/// shortest. Estimates have random noise of up to `noise`, so that the same part can be scheduled in different ways.
/// Keeps a result that does not lengthen the schedule by more than a threshold, which falls to zero as the budget is
/// used up.
///
/// Returns the best plan found; see `simulated_annealing` for policies. A move of the budget is one freed part.
/// Deterministic for a seed when the budget is in moves.
/// Source: Shaw, *Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems*, CP 1998;
/// Godard, Laborie, Nuijten, *Randomized Large Neighborhood Search for Cumulative Scheduling*, ICAPS 2005.
/// Complexity: an estimate on every device and one evaluation by `incremental_schedule` per component of a part.
/// Choose it for graphs of some hundred ops.
struct large_neighbourhood_search {
  weft::budget budget = {.moves = 5'000}; ///< freed parts
  std::uint32_t largest_part = 30; ///< most components that are freed at once
  double noise = 0.02;             ///< relative to the estimated path
  double threshold = 0.1;          ///< in mean op times, at the beginning
  std::uint32_t devices_tried = 12; ///< most devices that are tried for a component

  template <class Judge>
    requires Judge::one_op_per_slot
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    return detail::search(judge, std::move(start), budget, [&](auto& s, auto& found, budget_meter& meter) {
      const auto& p = judge.problem();
      neighbourhood moves{p};
      const double unit = detail::mean_contribution(s);
      std::vector<component_id> part;
      while (!found.good_enough() && meter.spend()) {
        free_part(p, s, moves, random, part);
        const double limit = s.value() + rounded(threshold * unit * (1 - meter.fraction()));
        if (decide(p, s, moves, random, part) && s.evaluate(limit) <= limit) {
          s.commit();
          found.look_at(s);
        } else {
          s.rollback();
        }
      }
    });
  }

private:
  template <class Problem, class Schedule>
  void free_part(const Problem& p, const Schedule& s, const neighbourhood<Problem>& moves,
                 rng& random, std::vector<component_id>& part) const {
    part.clear();
    const auto wanted = static_cast<std::size_t>(2 + portable_exp(portable_log(largest_part) * random.uniform()));
    const item_id i = near_critical(s, random, 5);
    const op_id v = s.is_op(i) ? i : s.producer(i);
    const auto add = [&](item_id j) {
      const component_id c = p.component(s.is_op(j) ? j : s.producer(j));
      if (part.size() < wanted && std::find(part.begin(), part.end(), c) == part.end()) {
        part.push_back(c);
      }
    };
    add(v);
    switch (random.below(4)) {
    case 0: { // a window of time
      const double length = length_of(s, v) * static_cast<double>(wanted) / static_cast<double>(p.num_devices());
      for (const device_id d : ids(p.num_devices())) {
        s.for_each_in_window(d, s.start(v) - length / 2, s.start(v) + length, add);
      }
      break;
    }
    case 1: // a stretch of a device
      for (item_id j = i; j != none && part.size() < wanted; j = s.after(j)) {
        add(j);
      }
      break;
    case 2: // what made v start when it does
      for (item_id j = i; j != none && part.size() < wanted;) {
        add(j);
        const item_id b = s.before(j);
        j = b != none && s.finish(b) >= s.start(j) ? b : s.last_input(j);
      }
      break;
    default: // a connected piece
      op_id u = v;
      for (std::size_t k = 0; k < 2 * wanted; ++k) {
        const op_id next = moves.neighbour(u, random);
        if (next == none) {
          break;
        }
        u = next;
        add(u);
      }
    }
    weft::sort(part, [&](component_id a, component_id b) {
      const double x = s.start(p.members(a).front());
      const double y = s.start(p.members(b).front());
      return x != y ? x < y : a < b;
    });
  }

  template <class Schedule>
  static double length_of(const Schedule& s, op_id v) {
    return std::max(s.finish(v) - s.start(v), s.makespan() / static_cast<double>(s.num_ops()));
  }

  template <class Problem, class Schedule>
  bool decide(const Problem& p, Schedule& s, const neighbourhood<Problem>& moves, rng& random,
              const std::vector<component_id>& part) const {
    for (const component_id c : part) {
      const op_id v = p.members(c)[random.below(p.members(c).size())];
      device_id best = none;
      double least = 0;
      const auto consider = [&](device_id d) {
        if (d != s.device(v) && !s.fits(c, d)) {
          return;
        }
        const double path = s.path_if_moved(v, d) * (1 + rounded(noise * random.uniform()));
        if (best == none || path < least) {
          best = d;
          least = path;
        }
      };
      if (p.num_devices() <= devices_tried) {
        for (const device_id d : ids(p.num_devices())) {
          consider(d);
        }
      } else {
        consider(s.device(v));
        for (std::uint32_t k = 1; k < devices_tried; ++k) {
          consider(moves.draw_device(s, v, random));
        }
      }
      if (best != none && !s.move(c, best)) {
        return false;
      }
    }
    return true;
  }
};

} // namespace weft::refine
