// SPDX-License-Identifier: BSL-1.0
/// Runs of strategies: placing, refining and simulating, with a record of each.
#pragma once

#include "options.hpp"
#include "selection.hpp"
#include "setting.hpp"

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/report/comparison.hpp"
#include "weft/solve/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace comparison {

/// One row of the results, and the plan behind it if there is one and it was asked for.
struct row {
  weft::report::run_record record;
  std::shared_ptr<const weft::plan> plan = {};
  std::string policy = {}; ///< what the plan runs under
};

using registry = weft::registry<problem>;

/// The names of all strategies. Throws `error` where one stands for two, or for something else on a command line.
strategy_names known_strategies(const registry& strategies);

/// Runs everything, or until the budget's stop is requested: then what runs ends with what it has found, and what has
/// not begun has no rows. The rows come in the order of the command line whatever the number of jobs.
std::vector<row> run_all(const options& o, const registry& strategies, const selection& chosen,
                         const std::vector<setting>& settings);

/// Runs a plan under a policy once more, for what happens in it.
weft::trace rerun(const options& o, const registry& strategies, const setting& s, const weft::plan& plan,
                  const std::string& policy);

} // namespace comparison
