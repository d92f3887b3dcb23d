// SPDX-License-Identifier: BSL-1.0
/// Simulated annealing over placements, for the period.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/rounding.hpp"
#include "weft/throughput/detail/proposals.hpp"
#include "weft/throughput/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace weft::throughput {

/// Lowers the period by random moves, swaps and moves of clusters, contiguous or not, and returns the best placement
/// that it met: never a worse one than it was given. Changes are accepted by Σ load^16 over all resources,
/// which has no plateaus where the largest load has; a growth by a factor 1 + `heat` is accepted now and then, and the
/// heat falls from `hot` to `cold`. Each move costs what the loads it changes cost (throughput/ledger.hpp).
///
/// Deterministic for a seed when the budget is in moves; a budget in seconds cools by the clock as well, if it ends
/// before `length` moves are made. Respects kinds, colocation and memory.
/// Sources: Kirkpatrick, Gelatt, Vecchi, *Optimization by Simulated Annealing*, 1983; throughput/detail/proposals.hpp.
struct annealing {
  weft::budget budget = {};
  std::uint64_t length = 300'000; ///< moves in which it cools, and after which it stops
  double hot = 0.2;
  double cold = 0.0005;
  double cluster_share = 0.25; ///< of the moves
  double goal = 0;             ///< stops at a period that is not larger, for example a lower bound

  template <class Problem>
  placement operator()(const Problem& p, placement start, rng& random) const {
    const flow<Problem> f{p};
    std::vector<device_id> where(p.num_components());
    for (component_id c = 0; c < p.num_components(); ++c) {
      where[c] = start[p.members(c).front()];
    }
    where = (*this)(f, std::move(where), random);
    for (const op_id v : ids(p.num_ops())) {
      start[v] = where[p.component(v)];
    }
    return start;
  }

  /// The same for devices by component.
  template <class Problem>
  std::vector<device_id> operator()(const flow<Problem>& f, std::vector<device_id> start, rng& random) const {
    if (f.num_devices() < 2 || f.num_components() == 0) {
      return start;
    }
    run<Problem> r{f, std::move(start)};
    detail::proposals<Problem> draw{f};
    detail::proposal x;
    budget_meter meter{budget};
    const double enough = std::max(goal, budget.target * (1 + 1e-12));
    double told = r.best;
    const auto moves = std::max<std::uint64_t>(1, std::min(length, budget.moves));
    double heat = hot;
    for (std::uint64_t i = 0; i < moves && r.best > enough && meter.spend(); ++i) {
      if (i % 1024 == 0) {
        r.refresh();
        double left = 1 - static_cast<double>(i) / static_cast<double>(moves);
        if (std::isfinite(budget.seconds)) {
          left = std::min(left, std::max(0.0, 1 - meter.elapsed() / budget.seconds));
        }
        heat = rounded(hot * left * left * left) + rounded(cold * (1 - left));
      }
      draw.draw(r.state, random, cluster_share, x);
      if (!x.moved.empty()) {
        r.attempt(x, 1 + rounded(heat * detail::patience(random)));
        if (r.best < told) {
          told = r.best;
          meter.improved(told);
        }
      }
    }
    return std::move(r).result();
  }

private:
  template <class Problem>
  struct run {
    ledger<Problem> state;
    std::vector<device_id> best_where;
    double best;        ///< the smallest period so far
    double scale = 1;   ///< of loads, so that powers stay in range
    double surrogate = 0;
    double peak = 0;        ///< no load has been larger since all were added up
    std::size_t above = 0;  ///< resources whose load is not below `best`
    bool at_best = true;    ///< the state is the best one, and `best_where` does not have it yet

    run(const flow<Problem>& f, std::vector<device_id> start)
        : state{f, std::move(start)}, best_where{state.devices()}, best{state.period()} {}

    static double power(double x) {
      x = std::min(std::abs(x), 1e18); // so that no sum is infinite
      x *= x;
      x *= x;
      x *= x;
      return x * x;
    }
    bool is_above(double load) const { return load >= best * (1 - 1e-12); }

    void refresh() {
      state.rebuild();
      peak = state.period();
      scale = peak > 0 ? 1 / peak : 1;
      surrogate = 0;
      above = 0;
      for (const double x : state.loads()) {
        surrogate += rounded(power(x * scale));
        above += is_above(x) ? 1u : 0u;
      }
    }

    void change(component_id c, device_id to) {
      state.move(c, to, [this](std::size_t, double before, double after) {
        surrogate += rounded(power(after * scale)) - rounded(power(before * scale));
        peak = std::max(peak, after);
        above += static_cast<std::size_t>(is_above(after)) - static_cast<std::size_t>(is_above(before));
      });
    }

    void attempt(const detail::proposal& x, double factor) {
      const double before = surrogate;
      for (const component_id c : x.moved) {
        change(c, x.to);
      }
      if (x.exchanged != none) {
        change(x.exchanged, x.from);
      }
      if (!(surrogate <= before * factor)) {
        if (x.exchanged != none) {
          change(x.exchanged, x.to);
        }
        for (auto c = x.moved.rbegin(); c != x.moved.rend(); ++c) {
          change(*c, x.from);
        }
        surrogate = before;
        return;
      }
      if (above == 0 && peak > 1e4 * best) {
        refresh(); // what is left of a load may be the rounding errors of a much larger one
      }
      if (above == 0) {
        best = state.period();
        at_best = true;
        for (const double load : state.loads()) {
          above += is_above(load) ? 1u : 0u;
        }
      } else if (at_best) { // keep the state before this change
        best_where = state.devices();
        for (const component_id c : x.moved) {
          best_where[c] = x.from;
        }
        if (x.exchanged != none) {
          best_where[x.exchanged] = x.to;
        }
        at_best = false;
      }
    }

    std::vector<device_id> result() && { return at_best ? state.devices() : std::move(best_where); }
  };
};

} // namespace weft::throughput
