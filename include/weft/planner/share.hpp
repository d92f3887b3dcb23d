// SPDX-License-Identifier: BSL-1.0
/// The comparison of all ways in which devices may share a step.
#pragma once

#include "weft/planner/comparison.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/options.hpp"
#include "weft/platform/platform.hpp"

namespace weft::planner {

/// Simulates steps in which devices share the work: each does a part of the batch, or of each op, or stages of layers,
/// as the options ask for it, or all of these ways; on all of the devices, on as many as are wanted, or on fewer, too.
/// `whole` is the step of `model` with the batch that it has. If several choices of what runs again are given, they are
/// tried one after the other until all ways fit. Ways are in the order of their times, and `best` is the one to take.
///
/// The same arguments give the same result, for any number of jobs, unless it is stopped. The result refers to the
/// machine. Throws `value_error` for ways that none can be; an `error` of `model` is a reason.
/// Complexity: a simulated run per way.
comparison share(const step_source& model, const model_step& whole, const platform<>& machine, const step_costs& costs,
                 const options& how);
comparison share(const step_source&, const model_step&, const platform<>&&, const step_costs&, const options&) = delete;

} // namespace weft::planner

#ifndef WEFT_COMPILED
#include "weft/planner/kinds/compare.hpp"

namespace weft::planner {

inline comparison share(const step_source& model, const model_step& whole, const platform<>& machine,
                        const step_costs& costs, const options& how) {
  return detail::share_in_ways(model, whole, machine, costs, how);
}

} // namespace weft::planner
#endif
