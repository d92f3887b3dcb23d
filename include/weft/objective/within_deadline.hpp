// SPDX-License-Identifier: BSL-1.0
/// Any objective, among the plans that end in time.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/objective/detail/wrapper_of.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::objective {

/// The objective `of` among the plans whose makespan is at most `seconds`; a plan that ends later violates that by as
/// many seconds as it is late, so that less late is better.
///
/// Searches that follow sums pay for every late second as much as they would for all ops where they take most, ten
/// times over, spread over the time to the deadline: so they may pass by plans that are late, and keep the best one in
/// time.
template <class Objective>
struct within_deadline : detail::wrapper_of<Objective> {
  double seconds; ///< from the start of the run

  constexpr within_deadline(Objective o = Objective(), double deadline = std::numeric_limits<double>::infinity())
      : detail::wrapper_of<Objective>{std::move(o)}, seconds{deadline} {}

  /// A score of a run that ended then.
  constexpr weft::score late(weft::score s, double makespan) const {
    s.violation += std::max(0.0, makespan - seconds);
    return s;
  }

  template <class Problem>
    requires objective_parts::scores_summaries<Objective, Problem>
  constexpr weft::score score(const Problem& p, const simulation& run) const {
    return late(this->of.score(p, run), run.makespan);
  }
  template <class Problem>
    requires objective_parts::scores_traces<Objective, Problem>
  constexpr weft::score score(const Problem& p, const trace& run) const {
    return late(this->of.score(p, run), run.makespan);
  }
  template <class Problem, class Policy>
    requires objective_parts::keeps_state<Objective, Problem, Policy>
  constexpr auto state_for(const Problem& p, const Policy& policy) const {
    using inner_state = decltype(this->of.state_for(p, policy));
    struct state {
      inner_state inner;
      within_deadline how;
      constexpr weft::score score(const plan& x, const trace& run) {
        return how.late(inner.score(x, run), run.makespan);
      }
    };
    return state{this->of.state_for(p, policy), *this};
  }

  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr objective_parts::price_of_time price(const Problem& p) const {
    auto price = this->of.price(p);
    if (seconds < price.deadline && seconds > 0) {
      double most = rounded(price.per_second * seconds);
      for (const op_id v : ids(p.num_ops())) {
        double charge = 0;
        for (const device_id d : ids(p.num_devices())) {
          const double there = this->of.op_charge(p, v, d);
          charge = there < std::numeric_limits<double>::infinity() ? std::max(charge, there) : charge;
        }
        most += charge;
      }
      price.deadline = seconds;
      price.per_late_second = 10 * most / seconds;
    }
    return price;
  }
};

} // namespace weft::objective
