// SPDX-License-Identifier: BSL-1.0
/// Any objective, among the plans whose runs keep to the memory of the devices.
#pragma once

#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/makespan.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/objective/detail/wrapper_of.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/memory.hpp"

#include <utility>

namespace weft::objective {

/// The objective `of` among the plans in whose run, under the evaluation's policy, network and devices, no device ever
/// holds more than its capacity (`problem::with_memory_share` for less). A run violates that by Σ over devices of what
/// they lack at their worst moments, in units of what they may hold. Only that run is looked at: not the samples of
/// `risk`, nor the overlapping runs of `period`. Partitioners and refiners keep to the reservations as well; to be free
/// of these, give the problem smaller demands (`problem::with_resident_demands`). See docs/memory.md.
///
/// Complexity: that of `of`, a record of each run, and O((n + m) log(n + m)) per run.
template <class Objective = makespan>
struct within_memory : detail::wrapper_of<Objective> {
  constexpr within_memory(Objective o = Objective()) : detail::wrapper_of<Objective>{std::move(o)} {}

  template <class Problem, class Policy>
    requires objective_for<Objective, Problem, Policy>
  auto state_for(const Problem& p, const Policy& policy) const {
    using inner_state = decltype(detail::state_by(this->of, p, policy));
    struct state {
      inner_state inner;
      simulate::memory_tracker<Problem> memory;

      weft::score score(const plan& x, const trace& run) {
        weft::score s = inner.score(x, run);
        memory.follow(x.placement, run);
        s.violation += memory.excess();
        return s;
      }
    };
    return state{detail::state_by(this->of, p, policy), simulate::memory_tracker<Problem>{p}};
  }
};

} // namespace weft::objective
