// SPDX-License-Identifier: BSL-1.0
/// The common base of objectives that are made from other objectives.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <string_view>
#include <utility>

namespace weft::objective::detail {

/// An objective whose values are those of another one: its unit, its bound and, if it is a sum, its prices are passed
/// on here; who derives from this says what it changes.
template <class Objective>
struct wrapper_of {
  Objective of;

  constexpr explicit wrapper_of(Objective o) : of{std::move(o)} {}

  static constexpr std::string_view unit = [] {
    if constexpr (requires { Objective::unit; }) {
      return std::string_view{Objective::unit};
    } else {
      return std::string_view{};
    }
  }();

  template <class Problem>
    requires objective_parts::has_bound<Objective, Problem>
  constexpr double bound(const Problem& p, const lower_bound& makespan) const {
    return of.bound(p, makespan);
  }

  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr objective_parts::price_of_time price(const Problem& p) const {
    return of.price(p);
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

/// The score of a run by its record, which has all that a summary has.
template <class O, class Problem>
  requires objective_parts::scores_traces<O, Problem> || objective_parts::scores_summaries<O, Problem>
constexpr weft::score score_by(const O& o, const Problem& p, const trace& run) {
  if constexpr (objective_parts::scores_traces<O, Problem>) {
    return o.score(p, run);
  } else {
    simulation all{.makespan = run.makespan};
    all.num_events = run.ops.size();
    for (const transfer_record& x : run.transfers) {
      all.transfer_bytes += p.workload().bytes(x.tensor);
      all.num_events += p.send_time(x.tensor, x.from, x.to) > 0 ? 2u : 1u;
    }
    return o.score(p, all);
  }
}

/// What keeps an objective's state, if it has one, or else nothing: `s.score(plan, trace)` is the score of a run.
template <class O, class Problem, class Policy>
constexpr auto state_by(const O& o, const Problem& p, const Policy& policy) {
  if constexpr (objective_parts::keeps_state<O, Problem, Policy>) {
    return o.state_for(p, policy);
  } else {
    struct stateless {
      O o;
      const Problem* p;
      constexpr weft::score score(const plan&, const trace& run) const { return score_by(o, *p, run); }
    };
    return stateless{o, &p};
  }
}

} // namespace weft::objective::detail
