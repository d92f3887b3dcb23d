// SPDX-License-Identifier: BSL-1.0
/// The time from the start of a run to its end.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/simulate/simulation.hpp"

#include <string_view>

namespace weft::objective {

/// Seconds until the last op or transfer of the run has ended. The default objective.
struct makespan {
  static constexpr std::string_view unit = "s";

  template <class Problem>
  constexpr weft::score score(const Problem&, const simulation& run) const {
    return run.makespan;
  }
  template <class Problem>
  constexpr double bound(const Problem&, const lower_bound& least) const {
    return least.value;
  }
};

} // namespace weft::objective
