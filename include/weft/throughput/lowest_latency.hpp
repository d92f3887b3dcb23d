// SPDX-License-Identifier: BSL-1.0
/// Placements of low latency on host-staged platforms.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/rounding.hpp"
#include "weft/throughput/detail/proposals.hpp"
#include "weft/throughput/latency.hpp"
#include "weft/throughput/packing.hpp"
#include "weft/throughput/split.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft::throughput {

/// A placement and its latency.
struct latency_result {
  weft::placement placement;
  double latency = 0; ///< seconds, as `throughput::latency` says
  double bound = 0;   ///< seconds; no placement has a smaller latency
};

/// Starts from the best of: what is quickest op by op within memory, everything on hosts, and a contiguous split for
/// the period; then anneals with the changes that throughput/detail/proposals.hpp draws. Each is judged by a full
/// evaluation; the sum of all durations, with a small weight, tells apart what has the same longest path.
/// Half of the rounds start hot, half of them warm, all from the best placement so far.
///
/// Returns why there is no placement if memory or kinds allow none; `not_found` if pieces wait for each other in every
/// placement that it met. Deterministic for a seed, unless the budget is in seconds.
/// Complexity: O((n + m) · accelerators) per move.
struct lowest_latency {
  weft::budget budget = {};
  std::uint32_t rounds = 4;
  std::uint64_t moves_per_round = 30'000;
  double hot = 0.03;    ///< accepted growth, relative
  double cold = 0.0001;
  double cluster_share = 0.5;

  template <staged_problem Problem>
  outcome<latency_result> operator()(const Problem& p, rng& random) const {
    budget_meter meter{budget};
    const flow<Problem> f{p};
    auto packed = pack(f);
    if (!packed) {
      return packed.error();
    }
    state<Problem> s{f, *packed};
    double best = s.latency();
    std::vector<device_id> best_where = std::move(*packed);
    const auto offer = [&](std::vector<device_id> where) {
      s.restart(where);
      if (const double x = s.latency(); x < best) {
        best = x;
        best_where = std::move(where);
      }
    };
    offer(on_hosts(f, best_where));
    const weft::budget rest{.seconds = budget.seconds - meter.elapsed(), .stop = budget.stop};
    if (auto split = linear_split{.budget = rest}(f); split.has_split()) {
      offer(std::move(split.where));
    }
    const double bound = latency_bound(p);
    bool good = best < std::numeric_limits<double>::infinity() && meter.improved(best);
    detail::proposals<Problem> draw{f};
    detail::proposal x;
    for (std::uint32_t round = 0; round < rounds && p.num_components() > 0 && p.num_devices() > 1; ++round) {
      s.restart(best_where);
      double current = s.value();
      const double start = round % 2 == 0 ? hot : hot / 10;
      for (std::uint64_t i = 0; i < moves_per_round && best > bound && !good && meter.spend(); ++i) {
        const double left = 1 - static_cast<double>(i) / static_cast<double>(moves_per_round);
        const double heat = rounded(start * left * left) + rounded(cold * (1 - left));
        draw.draw(s, random, cluster_share, x);
        if (x.moved.empty()) {
          continue;
        }
        s.change(x, x.from, x.to);
        const double y = s.value();
        if (y <= current * (1 + rounded(heat * detail::patience(random)))) {
          current = y;
          if (s.last < best) {
            best = s.last;
            best_where = s.where;
            good = meter.improved(best);
          }
        } else {
          s.change(x, x.to, x.from);
        }
      }
    }
    if (!(best < std::numeric_limits<double>::infinity())) {
      return infeasibility{.cause = infeasibility::kind::not_found};
    }
    s.restart(best_where);
    return latency_result{std::move(s.by_op), best, bound};
  }

private:
  /// A placement that proposals change, and its latency.
  template <class Problem>
  struct state {
    const flow<Problem>& f;
    latency_evaluator<Problem> evaluate;
    std::vector<device_id> where; // per component
    placement by_op;
    std::vector<byte_count> left;
    double last = 0; // latency at the last evaluation

    state(const flow<Problem>& flow, const std::vector<device_id>& start)
        : f{flow}, evaluate{flow.problem()}, by_op(flow.problem().num_ops()), left(flow.num_devices()) {
      restart(start);
    }
    device_id device(component_id c) const { return where[c]; }
    byte_count free(device_id d) const { return left[d]; }

    void restart(const std::vector<device_id>& start) {
      where = start;
      for (const device_id d : ids(f.num_devices())) {
        left[d] = f.problem().capacity(d);
      }
      for (component_id c = 0; c < f.num_components(); ++c) {
        f.problem().memories().take(left, where[c], f.problem().demand(c));
        for (const op_id v : f.problem().members(c)) {
          by_op[v] = where[c];
        }
      }
    }
    void move(component_id c, device_id to) {
      f.problem().memories().give(left, where[c], f.problem().demand(c));
      f.problem().memories().take(left, to, f.problem().demand(c));
      where[c] = to;
      for (const op_id v : f.problem().members(c)) {
        by_op[v] = to;
      }
    }
    void change(const detail::proposal& x, device_id from, device_id to) {
      for (const component_id c : x.moved) {
        move(c, to);
      }
      if (x.exchanged != none) {
        move(x.exchanged, from);
      }
    }
    double latency() { return last = evaluate(by_op); }
    double value() { return latency() + rounded(1e-3 * evaluate.total()); }
  };

  /// Everything that may and fits goes to the first host, the rest stays.
  template <class Problem>
  static std::vector<device_id> on_hosts(const flow<Problem>& f, std::vector<device_id> where) {
    const auto& p = f.problem();
    for (const device_id d : ids(f.num_devices())) {
      if (p.platform().kind(d) == device_kind::cpu) {
        auto room = p.capacity(d);
        for (component_id c = 0; c < f.num_components(); ++c) {
          room -= p.memory_of(where[c]) == p.memory_of(d) ? p.demand(c) : 0;
        }
        for (component_id c = 0; c < f.num_components(); ++c) {
          if (where[c] != d && p.allows(c, d) && p.demand(c) <= room) {
            room -= p.demand(c);
            where[c] = d;
          }
        }
        break;
      }
    }
    return where;
  }
};

} // namespace weft::throughput
