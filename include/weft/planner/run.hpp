// SPDX-License-Identifier: BSL-1.0
/// Runs of plans whose transfers share links or do not, and the orders that a framework or a list gives.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/instance.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <cstddef>
#include <vector>

namespace weft::planner {

/// The run of a plan by that policy.
template <class Policy>
trace run_of(const instance& p, const plan& x, contention_model how, Policy policy) {
  trace run;
  if (how == contention_model::none) {
    simulator{p, policy}.run(x, simulate::recorder{run});
  } else {
    simulator{p, policy, simulate::any_network{how}}.run(x, simulate::recorder{run});
  }
  return run;
}

/// A placement as a framework runs it: whatever is ready, the longest way to the end first.
inline trace run_of(const instance& p, const placement& where, contention_model how) {
  return run_of(p, plan{.placement = where}, how, schedule::path_completion_time{});
}

/// The run of a plan in its order. One without an order runs as a framework would run it, and gets the order that this
/// gave.
inline trace follow(const instance& p, plan& x, contention_model how) {
  if (x.order.empty()) {
    x = simulate::plan_of(p, run_of(p, x.placement, how));
  }
  return run_of(p, x, how, schedule::static_order{});
}

/// The order of a run in which each device, whenever it is free, does the first op of `list` that is ready. All ops are
/// in it once.
inline order order_by_list(const instance& p, const placement& where, const std::vector<op_id>& list,
                           contention_model how) {
  std::vector<double> priority(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    priority[list[i]] = -static_cast<double>(i);
  }
  const auto by_list = [&](const auto& flow, item_id i) { return flow.is_send(i) ? 1.0 : priority[i]; };
  return simulate::plan_of(p, run_of(p, plan{.placement = where}, how, by_list)).order;
}

} // namespace weft::planner
