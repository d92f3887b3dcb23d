// SPDX-License-Identifier: BSL-1.0
/// Plans that move less and are as good.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/random.hpp"
#include "weft/core/sort.hpp"
#include "weft/evaluate/evaluated_plan.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::refine {

/// Takes components to devices of their neighbours where that moves fewer bytes and the score is not worse: of plans
/// that are equally good, links and energy prefer the one that moves less. The moves that promise most go first, until
/// none helps. Each is a run. Kinds, groups and the memory rule are kept: reservations, or, `over_time`, what is in use
/// at each moment. Uses no seed. Complexity: O(m + c P log(c P)) per sweep for c components and P devices, and a run
/// per move.
/// Choose it last, after searches that look at the score alone.
struct less_traffic {
  weft::budget budget = {.moves = 2000}; ///< of runs
  memory_rule memory = memory_rule::reserved;

  template <class Judge>
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng&) const {
    const auto& p = judge.problem();
    using problem_type = typename Judge::problem_type;
    const bool over_time = memory == memory_rule::over_time;
    simulate::memory_tracker<problem_type> tracker{p};
    budget_meter meter{budget};
    evaluated_plan best = std::move(start);
    for (bool better = true; std::exchange(better, false) && best.run.transfer_bytes > 0;) {
      for (const change& x : changes(p, best.plan.placement)) {
        if (!meter.spend()) {
          return best;
        }
        plan moved = best.plan;
        std::erase_if(moved.order, [](const step& s) { return s.is_send(); });
        for (const op_id v : p.members(x.component)) {
          moved.placement[v] = x.to;
        }
        if (!over_time && !has_room(p, moved.placement, x.to)) {
          continue;
        }
        auto run = over_time ? judge.recorded(std::move(moved)) : judge(std::move(moved));
        const bool as_good = run.run.complete && !(best.score < run.score);
        if (!as_good || run.run.transfer_bytes >= best.run.transfer_bytes) {
          continue;
        }
        if (over_time) {
          tracker.follow(run.plan.placement, run.record);
          if (tracker.excess() > 0) {
            continue;
          }
        }
        best = std::move(run);
        better = true;
      }
    }
    return best;
  }

private:
  struct change {
    double saved = 0; // bytes, if each consumer got a transfer of its own
    component_id component = none;
    device_id to = none;
  };

  /// The changes that promise less traffic, the most promising first.
  template <class Problem>
  static buffer<change> changes(const Problem& p, const placement& where) {
    const auto& w = p.workload();
    buffer<change> found;
    std::vector<double> shared(p.num_devices(), 0.0); // bytes exchanged with what is on a device
    for (component_id c = 0; c < p.num_components(); ++c) {
      std::fill(shared.begin(), shared.end(), 0.0);
      const auto exchange = [&](tensor_id t, op_id other) {
        shared[where[other]] += p.component(other) == c ? 0.0 : static_cast<double>(w.bytes(t));
      };
      for (const op_id v : p.members(c)) {
        for (const tensor_id t : w.inputs(v)) {
          exchange(t, w.producer(t));
        }
        for (const tensor_id t : w.outputs(v)) {
          for (const op_id consumer : w.consumers(t)) {
            exchange(t, consumer);
          }
        }
      }
      const device_id here = where[p.members(c).front()];
      for (const device_id d : ids(p.num_devices())) {
        if (d != here && shared[d] > shared[here] && p.kinds(c).contains(p.platform().kind(d))) {
          found.push_back({shared[d] - shared[here], c, d});
        }
      }
    }
    weft::sort(found, [](const change& a, const change& b) {
      if (a.saved != b.saved) {
        return a.saved > b.saved;
      }
      return a.component != b.component ? a.component < b.component : a.to < b.to;
    });
    return found;
  }

  template <class Problem>
  static bool has_room(const Problem& p, const placement& where, device_id d) {
    auto left = p.capacity(d);
    for (component_id c = 0; c < p.num_components(); ++c) {
      if (p.memory_of(where[p.members(c).front()]) == p.memory_of(d)) {
        if (p.demand(c) > left) {
          return false;
        }
        left -= p.demand(c);
      }
    }
    return true;
  }
};

} // namespace weft::refine
