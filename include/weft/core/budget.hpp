// SPDX-License-Identifier: BSL-1.0
/// Budgets of long-running work (a number of moves, of seconds, a good enough result, a request from outside to stop)
/// and its progress.
#pragma once

#include "weft/core/progress.hpp"
#include "weft/core/stop_pointer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft {

/// How much an anytime algorithm may spend. Budgets in `moves` are deterministic; budgets in `seconds` are not.
/// A literal type, so that strategies with a budget can be constants.
struct budget {
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max(); ///< candidate solutions or search nodes
  double seconds = std::numeric_limits<double>::infinity();        ///< wall-clock time
  stop_pointer stop = nullptr;                                     ///< cooperative cancellation; must outlive the work
  double target = 0; ///< an objective value that is good enough, for example a lower bound
  /// Any callable of `(const progress&)`, called for each better solution, on the thread that searches. An exception
  /// that it throws ends the search and reaches the caller.
  progress_callback on_progress = nullptr;
};

/// Counts what was spent of a budget. Looks at the clock about every 100 microseconds, at least every 64 moves and at
/// most at each.
class budget_meter {
public:
  explicit budget_meter(const budget& b) : budget_{b}, start_{clock::now()} {}

  /// Spends one move; false once the budget is used up.
  bool spend() {
    if (exhausted_ || used_ >= budget_.moves) {
      exhausted_ = true;
      return false;
    }
    if (used_ >= next_look_ && !look()) {
      exhausted_ = true;
      return false;
    }
    ++used_;
    return true;
  }

  /// Tells the listener of a better solution; true if it is good enough.
  bool improved(double best) {
    if (budget_.on_progress && best < std::numeric_limits<double>::infinity()) {
      budget_.on_progress({used_, elapsed(), best});
    }
    return best <= budget_.target * (1 + 1e-12);
  }

  /// How much of the budget is used up, 0 to 1; of seconds as of the last look at the clock.
  double fraction() const {
    const double moves = static_cast<double>(used_) / static_cast<double>(budget_.moves);
    return std::min(1.0, timed() ? std::max(moves, last_look_ / budget_.seconds) : moves);
  }

  bool exhausted() const { return exhausted_; }
  /// Whether seconds are limited, so that results depend on the speed of the machine.
  bool timed() const { return budget_.seconds < std::numeric_limits<double>::infinity(); }
  std::uint64_t budgeted_moves() const { return budget_.moves; }
  std::uint64_t used() const { return used_; }
  double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

private:
  using clock = std::chrono::steady_clock;

  /// False if time is over or a stop was requested. Says when to look again.
  bool look() {
    if (!timed() && budget_.stop == nullptr) {
      next_look_ = std::numeric_limits<std::uint64_t>::max();
      return true;
    }
    const double now = elapsed();
    const auto moves = static_cast<double>(used_ - last_used_);
    const double stride = now > last_look_ ? 1e-4 * moves / (now - last_look_) : 64;
    next_look_ = used_ + static_cast<std::uint64_t>(std::clamp(stride, 1.0, 64.0));
    last_look_ = now;
    last_used_ = used_;
    return now < budget_.seconds && (budget_.stop == nullptr || !budget_.stop->stop_requested());
  }

  budget budget_;
  clock::time_point start_;
  std::uint64_t used_ = 0;
  std::uint64_t last_used_ = 0;
  std::uint64_t next_look_ = 0;
  double last_look_ = 0; ///< seconds
  bool exhausted_ = false;
};

/// Seconds since construction; always 0 in a constant expression, where there is no clock.
class stopwatch {
public:
  constexpr stopwatch() {
    if (!std::is_constant_evaluated()) {
      start_ = std::chrono::steady_clock::now();
    }
  }
  constexpr double seconds() const {
    return std::is_constant_evaluated()
             ? 0.0
             : std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  std::chrono::steady_clock::time_point start_{};
};

} // namespace weft
