// SPDX-License-Identifier: BSL-1.0
/// The largest batch with which a model fits, as short searches tell.
#pragma once

#include "options.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/parallel/simplest_way.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace place {

/// A step as a search of a second or a thousand moves without contention has it, run on the network that was asked for.
struct short_run {
  weft::parallel::timed_way way = {}; ///< of the plan that counts for least, as --least-gain says
  double seconds = std::numeric_limits<double>::infinity(); ///< of its run; infinite if no plan was found that fits
  weft::byte_count lacks = 0; ///< bytes that are lacking in the plan that came nearest, if that is known
  bool spills = true;         ///< ops run on a host for want of memory: one accelerator does not hold all it may run

  /// Its time as it counts beside that of other ways.
  double counted(const options& o) const { return weft::parallel::seconds_with_complexity(way, o.least_gain / 100); }
};
short_run run_shortly(const options& o, const tool::target& target, const tool::input& in);

/// The batches that were tried to find the largest one.
struct tried_batches {
  std::uint64_t largest = 0; ///< that fits; 0 if not even 1 does
  std::uint64_t fastest = 0; ///< of those that fit, the one with most examples per second, as short searches find
  double most_rate = 0;      ///< examples per second of that one
  double largest_rate = 0;   ///< … of the largest
};

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
