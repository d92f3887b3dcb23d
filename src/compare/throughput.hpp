// SPDX-License-Identifier: BSL-1.0
/// Placements that are good for pipelined runs, or for one sample.
#pragma once

#include "setting.hpp"

#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"

namespace comparison {

/// A placement, judged by `objective::period` or `objective::latency`.
struct placed {
  weft::placement placement = {};
  double value = 0; ///< of the objective
  double bound = 0;
};

/// The best placement of low period, or of low latency for the problems of placement studies.
weft::outcome<placed> best_period(const problem& p, const weft::budget& b, weft::rng& random);
weft::outcome<placed> best_period(const study& s, const weft::budget& b, weft::rng& random);
weft::outcome<placed> best_latency(const study& s, const weft::budget& b, weft::rng& random);

/// The period of a placement.
double period_of(const problem& p, const weft::placement& where);
/// A bound on the period of all placements.
double bound_of_period(const problem& p);

} // namespace comparison
