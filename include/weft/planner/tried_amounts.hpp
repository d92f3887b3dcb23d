// SPDX-License-Identifier: BSL-1.0
/// The largest batch that fits, and what had best run again: found by trying a few.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/least_enough.hpp"
#include "weft/solve/fastest_amount.hpp"
#include "weft/workload/recomputation.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace weft::planner {

/// The batches that were tried to find the largest one.
struct tried_batches {
  std::uint64_t largest = 0; ///< that fits; 0 if not even 1 does
  std::uint64_t fastest = 0; ///< of those that fit, the one with most examples per second
  double most_rate = 0;      ///< examples per second of that one
  double largest_rate = 0;   ///< … of the largest
};

/// The largest batch below `limit`, which is at least 1, of which `seconds_of(batch)` gives the seconds of a step; it
/// gives `std::nullopt` for one that does not fit, or to end the search with the largest until then.
/// Complexity: O(log limit) calls.
template <class SecondsOf>
tried_batches largest_batch(std::uint64_t limit, SecondsOf seconds_of) {
  tried_batches x;
  const auto too_large = least_enough(std::uint64_t{1}, limit - 1, [&](std::uint64_t batch) {
    const std::optional<double> seconds = seconds_of(batch);
    if (!seconds) {
      return true;
    }
    const double rate = *seconds > 0 ? static_cast<double>(batch) / *seconds : 0;
    if (batch > x.largest) {
      x.largest = batch;
      x.largest_rate = rate;
    }
    if (rate > x.most_rate) {
      x.fastest = batch;
      x.most_rate = rate;
    }
    return false;
  });
  x.largest = too_large.value_or(limit) - 1;
  return x;
}

/// A choice of what a step runs again for its backward pass, and its time.
struct judged_rerun {
  std::optional<recomputation> what = {};
  std::uint32_t blocks = none; ///< of `recomputation::blocks`, the first so many; `none`: all
  double seconds = std::numeric_limits<double>::infinity(); ///< infinite if no plan was found
};

/// The fastest of nothing, the first few of so many blocks (`solve::fastest_amount`), and attentions if the model has
/// some, as long as nothing is not enough. All blocks, or attentions without any, where no plan is found. `judge(what,
/// blocks)` returns a `solve::amount_verdict`, whose `is_enough` ends the search.
/// Complexity: O(log blocks) calls.
template <class Judge>
judged_rerun fastest_rerun(std::uint32_t num_blocks, bool has_attentions, Judge judge) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const auto of_blocks = [](std::uint32_t count) {
    return count == 0 ? std::nullopt : std::optional{recomputation::blocks};
  };
  const auto best = solve::fastest_amount(
    num_blocks, [&](std::uint32_t count) { return judge(of_blocks(count), count == 0 ? none : count); });
  const double seconds = best.verdict.seconds;
  if (has_attentions && !(best.amount == 0 && best.verdict.is_enough)) {
    const double again = judge(std::optional{recomputation::attention}, none).seconds;
    if (again < seconds || (num_blocks == 0 && !(seconds < unbounded))) {
      return {recomputation::attention, none, again};
    }
  }
  const auto count = seconds < unbounded ? best.amount : num_blocks;
  return {of_blocks(count), count == 0 ? none : count, seconds};
}

} // namespace weft::planner
