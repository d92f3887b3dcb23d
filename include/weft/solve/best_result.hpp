// SPDX-License-Identifier: BSL-1.0
/// Options and result of `solve::best`.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/evaluate/evaluated_plan.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/plan/trace.hpp"
#include "weft/solve/result.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve {

/// One strategy that `best` ran.
struct attempt {
  std::string name;
  double value = std::numeric_limits<double>::infinity(); ///< of its plan's score; infinite if it found no plan
  double seconds = 0;                                     ///< wall-clock time
};

/// How far `best` goes.
enum class effort : std::uint8_t {
  full,       ///< for the best plan
  heuristics, ///< for the best one that heuristics find: plans that need too much memory are not repaired
  first_plan, ///< for the first plan, asking only those heuristics that are good at tight memory
};

/// How much `best` may spend. With neither seconds nor moves, `default_moves`.
struct best_options {
  static constexpr std::uint64_t default_moves = 400'000;

  double seconds = std::numeric_limits<double>::infinity();        ///< wall-clock time
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max(); ///< changes that refinement may evaluate
  std::uint64_t seed = 0;                                          ///< the same seed, the same plan
  unsigned threads = 1;                                            ///< at most
  /// Independent refinements of which the best is taken. 0: one per thread. With a budget in moves, one for each 1000
  /// moves per op, at most 4, so that the result does not depend on the number of threads; with fewer moves for each,
  /// a single longer one is better.
  unsigned chains = 0;
  stop_pointer stop = nullptr; ///< ends the search with the best plan so far
  /// Any callable of `(const progress&)`, called for each better plan, never concurrently, on the thread that found it:
  /// the caller's, or one of several that search. An exception that it throws reaches the caller, without a plan, when
  /// the searches on other threads have ended, too; `stop` ends all of them early.
  progress_callback on_progress = nullptr;
  /// Reserved: plans keep to the reservations, by construction. Over time: their runs keep to the capacities.
  memory_rule memory = memory_rule::reserved;
  solve::effort effort = solve::effort::full; ///< the best plan, or only the plans of heuristics

  /// Whether results depend on the speed of the machine.
  bool timed() const { return seconds < std::numeric_limits<double>::infinity(); }
  /// `moves`, or by default `default_moves` unless seconds are limited.
  std::uint64_t all_moves() const {
    return timed() || moves < std::numeric_limits<std::uint64_t>::max() ? moves : default_moves;
  }
  /// Whether the time since then is used up, or a stop was requested.
  bool is_over(const stopwatch& since) const {
    return since.seconds() >= seconds || (stop != nullptr && stop->stop_requested());
  }
};

/// A plan, its quality, and what was tried in which order.
struct best_result : result {
  trace record = {}; ///< of the plan's run, under the policy and on the network that it was made for
  std::vector<attempt> tried = {};
  std::vector<byte_count> peaks = {}; ///< memory over time: bytes per device at its worst moment
  /// Memory over time, without a plan: what the run of the plan that came nearest lacks.
  std::optional<memory_shortage> shortage = {};

  /// Takes over a plan that was judged, and the record of its run.
  void take(evaluated_plan&& x) {
    record = std::move(x.record);
    result::take(std::move(x));
  }
};

} // namespace weft::solve
