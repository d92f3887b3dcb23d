// SPDX-License-Identifier: BSL-1.0
/// The search for a plan, whatever is to be made small.
#pragma once

#include "options.hpp"
#include "tool/costs.hpp"

#include "weft/core/budget.hpp"
#include "weft/plan/trace.hpp"
#include "weft/planner/choice.hpp"
#include "weft/report/placed_model.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace place {

using tool::estimate;
using tool::problem;

/// A plan with its run, or why there is none.
struct answer {
  bool found = false;
  weft::plan plan = {};
  weft::trace run = {};
  weft::lower_bound bound = {};
  std::string strategy = {};
  std::string result = {}; ///< what was made small, if not the step time
  std::vector<weft::report::alternative> baselines = {};
  std::vector<weft::report::alternative> tried = {};
  std::vector<weft::report::trade_off> front = {}; ///< of step time and energy, if they were looked for
  double least_joules = 0;
  bool front_is_exact = false;
  std::vector<std::string> notes = {}; ///< about the result
  std::vector<std::string> exports = {}; ///< what runtimes read, one of `options::exports` after the other
  std::string why = {};                ///< no plan: what lacks, on one or more lines
  bool proven = false;                 ///< no plan: that there is none
  bool lacks_memory = false;           ///< … and that a step that needs less memory may have one
};

/// The callbacks that are told of a search's progress.
struct listeners {
  weft::progress_callback on_progress;              ///< called for each better plan
  std::function<void(const std::string&)> on_stage; ///< called with what is done next
};

/// Ops in the plan's order on the network that was asked for, which is one.
using on_network = weft::simulate::under<weft::schedule::static_order, weft::simulate::any_network>;
inline on_network network_of(const options& o) { return {{}, {o.contention}}; }

/// Searches within the budget. `base` is what the costs of `p` rest on.
answer search(const options& o, const problem& p, const estimate& base, const listeners& tell);

/// Runs `a.plan` on the network that was asked for. Without an order ops run as a framework would run them, and the
/// plan gets the order that this gave.
void follow(const options& o, const problem& p, answer& a);

/// A plan with its run as one of the ways to run a step.
weft::planner::placed_ops placed_ops_of(const options& o, const problem& p, const answer& a);

/// What one would do without a search; each placement once, those that fit and take least first.
std::vector<weft::report::alternative> baselines(const options& o, const problem& p);

} // namespace place
