// SPDX-License-Identifier: BSL-1.0
/// Costs that are typical of ops of each type, for want of measurements.
#pragma once

#include "weft/cost/launches.hpp"
#include "weft/planner/costs.hpp"

namespace weft::planner {

/// Rooflines with what is typical of ops of each type (`cost::typical_efficiencies`).
step_costs typical_costs(const cost::typical_of& what = {});

} // namespace weft::planner

#ifndef WEFT_COMPILED
#include "weft/planner/kinds/typical_roofline.hpp"

namespace weft::planner {

inline step_costs typical_costs(const cost::typical_of& what) { return detail::rooflines_of(what); }

} // namespace weft::planner
#endif
