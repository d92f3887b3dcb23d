// SPDX-License-Identifier: BSL-1.0
/// The best way to run a step on a machine: shared by devices in one of many ways, or with each op on one device.
#pragma once

#include "weft/planner/best_way.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/options.hpp"
#include "weft/platform/platform.hpp"

namespace weft::planner {

/// The best way to run a step: compares the ways in which devices may share it (`share`), and, unless one of these is
/// faster than any plan with each op on one device can be, or the options ask for one kind of ways, searches for such a
/// plan (`solve::best`). Of those that fit, it is the simplest whose features pay for themselves.
/// ```
/// const weft::planner::step_source net = [&](std::uint64_t batch, auto) { return …; };
/// const auto best = weft::planner::best(net, net(256, {}), machine, weft::planner::typical_costs());
/// // best.taken()->how(), ->run, ->plan, ->ops; best.ways.ways: the others, with the reasons for which they are not
/// ```
/// The same arguments give the same result, for any number of jobs, if the budget is in moves and nothing stops it. The
/// result refers to the machine. Throws as `share`.
/// Complexity: a simulated run per way, and the search.
best_way best(const step_source& model, const model_step& whole, const platform<>& machine, const step_costs& costs,
              const options& how = {}, const search_budget& budget = {});
best_way best(const step_source&, const model_step&, const platform<>&&, const step_costs&, const options& = {},
              const search_budget& = {}) = delete;

} // namespace weft::planner

#ifndef WEFT_COMPILED
#include "weft/planner/kinds/placed.hpp"

namespace weft::planner {

inline best_way best(const step_source& model, const model_step& whole, const platform<>& machine,
                     const step_costs& costs, const options& how, const search_budget& budget) {
  return detail::best_of(model, whole, machine, costs, how, budget);
}

} // namespace weft::planner
#endif
