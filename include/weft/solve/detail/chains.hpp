// SPDX-License-Identifier: BSL-1.0
/// Independent pieces of work on several threads, and a listener that they share.
#pragma once

#include "weft/core/budget.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::solve::detail {

/// Passes on what is better than everything before, one call at a time.
class progress_listener {
public:
  explicit progress_listener(const std::function<void(const progress&)>* f) : f_{f} {}

  void tell(std::uint64_t moves, double seconds, double makespan) {
    if (f_ == nullptr) {
      return;
    }
    const std::lock_guard lock{mutex_};
    if (makespan < best_) {
      best_ = makespan;
      (*f_)({moves, seconds, makespan});
    }
  }

private:
  const std::function<void(const progress&)>* f_;
  std::mutex mutex_;
  double best_ = std::numeric_limits<double>::infinity();
};

/// Calls f(0) … f(count − 1), on `threads` threads. The first exception is rethrown when all have ended.
template <class F>
void for_each_chain(unsigned count, unsigned threads, F f) {
  std::atomic<unsigned> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (unsigned k = next++; k < count; k = next++) {
      try {
        f(k);
      } catch (...) {
        const std::lock_guard lock{mutex};
        failure = failure ? failure : std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < std::min(threads, count); ++t) {
      others.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

} // namespace weft::solve::detail
