// SPDX-License-Identifier: BSL-1.0
/// A plan with its score, and the run that it was judged by.
#pragma once

#include "weft/evaluate/score.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

namespace weft {

/// A plan that has been run and judged.
struct evaluated_plan {
  weft::plan plan = {};
  weft::score score = {};
  simulation run = {};
  trace record = {}; ///< of the run, if it was recorded; else empty
};

} // namespace weft
