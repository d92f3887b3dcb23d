// SPDX-License-Identifier: BSL-1.0
/// Independent pieces of work on several threads.
#pragma once

#include "weft/core/buffer.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace weft {

/// Calls f(0) … f(count − 1), on `threads` threads. After an exception no further call begins; the first is
/// rethrown when those that had begun have ended.
template <class F>
void for_each_on_threads(unsigned count, unsigned threads, F f) {
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
        next = count;
      }
    }
  };
  {
    buffer<std::jthread> others;
    for (unsigned t = 1; t < std::min(threads, count); ++t) {
      others.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

} // namespace weft
