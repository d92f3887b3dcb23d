// SPDX-License-Identifier: BSL-1.0
/// The time between two results where many runs follow each other.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/bound.hpp"
#include "weft/throughput/loads.hpp"

#include <string_view>
#include <utility>

namespace weft::objective {

/// Seconds per run when runs are pipelined: the largest load of a device or link (`throughput::period`); of equal ones,
/// the plan whose single run is shorter. `solve::best` asks `throughput::best` first, which searches placements alone,
/// with memory reserved, and then shortens the single run where that costs no throughput.
/// Complexity: O(n + m) per plan.
struct period {
  static constexpr std::string_view unit = "s";

  template <class Problem>
  struct state {
    const Problem* problem;
    weft::score score(const plan& x, const trace& run) const {
      return {0, throughput::period(*problem, x.placement), run.makespan};
    }
  };
  template <class Problem, class Policy>
  state<Problem> state_for(const Problem& p, const Policy&) const {
    return {&p};
  }
  template <class Problem>
  double bound(const Problem& p, const lower_bound&) const {
    return throughput::period_bound(throughput::flow<Problem>{p});
  }
  template <class Problem>
  outcome<plan> propose(const Problem& p, const budget& spend, rng& random) const {
    auto found = throughput::best{.budget = spend}(p, random);
    if (!found) {
      return found.error();
    }
    return plan{std::move(found->placement), {}};
  }
};

} // namespace weft::objective
