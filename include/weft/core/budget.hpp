// SPDX-License-Identifier: BSL-1.0
/// When long-running work stops: a number of moves, a number of seconds, or a request from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <type_traits>

namespace weft {

/// How much an anytime algorithm may spend. Budgets in `moves` are deterministic; budgets in `seconds` are not.
/// A literal type, so that strategies with a budget can be constants.
struct budget {
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max(); ///< candidate solutions or search nodes
  double seconds = std::numeric_limits<double>::infinity();        ///< wall-clock time
  const std::stop_token* stop = nullptr;                           ///< cooperative cancellation; must outlive the work
};

/// Counts what was spent of a budget. The clock is only read every `64` moves.
class budget_meter {
public:
  explicit budget_meter(const budget& b) : budget_{b}, start_{clock::now()} {}

  /// Spends one move; false once the budget is used up.
  bool spend() {
    if (exhausted_ || used_ >= budget_.moves) {
      return exhausted_ = true, false;
    }
    if ((used_ & 63) == 0 &&
        (elapsed() >= budget_.seconds || (budget_.stop != nullptr && budget_.stop->stop_requested()))) {
      return exhausted_ = true, false;
    }
    ++used_;
    return true;
  }

  bool exhausted() const { return exhausted_; }
  std::uint64_t used() const { return used_; }
  double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

private:
  using clock = std::chrono::steady_clock;
  budget budget_;
  clock::time_point start_;
  std::uint64_t used_ = 0;
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
