// SPDX-License-Identifier: BSL-1.0
/// The largest batch with which a model fits, as short searches tell.
#pragma once

#include "options.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/planner/short_search.hpp"
#include "weft/planner/tried_amounts.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace place {

using weft::planner::short_run;
using weft::planner::tried_batches;

/// A step as a search of a second or a thousand moves without contention has it, run on the network that was asked for.
short_run run_shortly(const options& o, const tool::target& target, const tool::input& in);

/// The largest batch below `limit`, which is at least 1, for which a plan is found that keeps to the memory over time,
/// each within a second or a thousand moves. After `seconds` no other batch is tried, and the largest until then is
/// told. Throws `weft::error` for models that take no batch.
tried_batches largest_batch(const options& o, const tool::target& target, std::uint64_t limit,
                            const std::function<void(const std::string&)>& on_stage,
                            double seconds = std::numeric_limits<double>::infinity());

bool has_accelerators(const weft::platform<>& p);

/// The batch that was found and what rate it gives in a step of so many seconds, with the one of those that were tried
/// that gives a higher one, if there is one.
std::string about_batch(const options& o, const tool::target& target, const tried_batches& x, double step_seconds);

} // namespace place
