// SPDX-License-Identifier: BSL-1.0
/// Any objective, among the plans that end in time.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/rounding.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace weft::objective {

/// What `of` says, of plans whose makespan is at most `seconds`; a plan that ends later violates that by as many seconds
/// as it is late, so that less late is better.
///
/// Searches that follow sums pay for every late second as much as they would for all ops where they take most, ten times
/// over, spread over the time to the deadline: so they may pass by plans that are late, and keep the best one in time.
template <class Objective>
struct within_deadline {
  Objective of{};
  double seconds = std::numeric_limits<double>::infinity();

  static constexpr std::string_view unit = [] {
    if constexpr (requires { Objective::unit; }) {
      return std::string_view{Objective::unit};
    } else {
      return std::string_view{};
    }
  }();

  /// A score of a run that ended then.
  constexpr weft::score late(weft::score s, double makespan) const {
    s.violation += std::max(0.0, makespan - seconds);
    return s;
  }

  template <class Problem>
    requires objective_parts::scores_summaries<Objective, Problem>
  constexpr weft::score score(const Problem& p, const simulation& run) const {
    return late(of.score(p, run), run.makespan);
  }
  template <class Problem>
    requires objective_parts::scores_traces<Objective, Problem>
  constexpr weft::score score(const Problem& p, const trace& run) const {
    return late(of.score(p, run), run.makespan);
  }
  template <class Problem, class Policy>
    requires objective_parts::keeps_state<Objective, Problem, Policy>
  constexpr auto state_for(const Problem& p, const Policy& policy) const {
    struct state {
      decltype(of.state_for(p, policy)) inner;
      within_deadline how;
      constexpr weft::score score(const plan& x, const trace& run) {
        return how.late(inner.score(x, run), run.makespan);
      }
    };
    return state{of.state_for(p, policy), *this};
  }

  template <class Problem>
    requires objective_parts::has_bound<Objective, Problem>
  constexpr double bound(const Problem& p, const lower_bound& makespan) const {
    return of.bound(p, makespan);
  }

  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr objective_parts::price_of_time price(const Problem& p) const {
    auto price = of.price(p);
    if (seconds < price.deadline && seconds > 0) {
      double most = rounded(price.per_second * seconds);
      for (const op_id v : ids(p.num_ops())) {
        double charge = 0;
        for (const device_id d : ids(p.num_devices())) {
          const double there = of.op_charge(p, v, d);
          charge = there < std::numeric_limits<double>::infinity() ? std::max(charge, there) : charge;
        }
        most += charge;
      }
      price.deadline = seconds;
      price.per_late_second = 10 * most / seconds;
    }
    return price;
  }
  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr double op_charge(const Problem& p, op_id v, device_id d) const {
    return of.op_charge(p, v, d);
  }
  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr double transfer_charge(const Problem& p, tensor_id t, device_id from, device_id to) const {
    return of.transfer_charge(p, t, from, to);
  }
};
template <class Objective>
within_deadline(Objective, double) -> within_deadline<Objective>;

} // namespace weft::objective
