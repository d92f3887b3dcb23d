// SPDX-License-Identifier: BSL-1.0
/// Jobs on several threads, and a line on the terminal that says how far they are.
#pragma once

#include "weft/core/budget.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace comparison {

/// A line on a terminal that says how far the runs are; silent elsewhere.
class progress_bar {
public:
  /// With `slow` jobs, also one alone gets a line.
  progress_bar(std::size_t total, bool slow)
      : total_{total}, shown_{isatty(STDERR_FILENO) != 0 && (total > 1 || slow)} {}
  progress_bar(const progress_bar&) = delete;
  ~progress_bar() {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }
  /// A job has ended.
  void advance(std::string_view what) {
    if (shown_) {
      const std::lock_guard lock{mutex_};
      ++done_;
      show(what);
    }
  }
  /// A job has found something better. At most ten lines a second.
  void improve(std::string_view what, const weft::progress& now) {
    if (shown_) {
      const std::lock_guard lock{mutex_};
      if (clock_.seconds() >= next_) {
        next_ = clock_.seconds() + 0.1;
        show(fmt::format("{}: {:.6g} after {:.1f} s", what, now.best, now.seconds));
      }
    }
  }

private:
  void show(std::string_view what) const {
    const std::size_t filled = 30 * done_ / total_;
    fmt::print(stderr, "\r\x1b[K[{:━<{}}{:·<{}}] {}/{} {}", "", filled, "", 30 - filled, done_, total_, what);
    std::fflush(stderr);
  }

  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_;
  double next_ = 0;
  weft::stopwatch clock_;
  std::mutex mutex_;
};

inline bool is_requested(weft::stop_pointer stop) { return stop != nullptr && stop->stop_requested(); }

/// Runs the jobs `0 … count - 1` on `threads` threads; `worker()` makes what one thread keeps between its jobs. The
/// first exception ends the rest and is rethrown; a requested stop ends the rest, too.
template <class Worker>
void parallel_for(std::size_t count, unsigned threads, weft::stop_pointer stop, Worker worker) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    try {
      auto job = worker();
      for (std::size_t i = next++; i < count && !is_requested(stop); i = next++) {
        job(i);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock{mutex};
      failure = failure ? failure : std::current_exception();
    }
  };
  std::vector<std::jthread> pool;
  for (unsigned t = 1; t < std::min<std::size_t>(threads, count); ++t) {
    pool.emplace_back(loop);
  }
  loop();
  pool.clear(); // joins
  if (failure) {
    std::rethrow_exception(failure);
  }
}

} // namespace comparison
