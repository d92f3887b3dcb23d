// SPDX-License-Identifier: BSL-1.0
/// Threads that wait for the next run.
#pragma once

#include "weft/execute/detail/backoff.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace weft::execute {

/// `size` helpers that run one function at a time, each with its number (from 1; the caller is 0). They are parked
/// between runs. Starting and joining a run costs a notification per helper and no allocation.
class crew {
public:
  /// Throws `std::system_error` if the system has no more threads.
  explicit crew(std::uint32_t size) : helpers_(size) {
    try {
      for (std::uint32_t i = 0; i < size; ++i) {
        helpers_[i].thread = std::thread{[this, i] { serve(i); }};
      }
    } catch (...) {
      close();
      throw;
    }
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew() { close(); }

  std::uint32_t size() const { return static_cast<std::uint32_t>(helpers_.size()); }

  /// Runs `f(0)` on this thread and `f(i)` on helper i for 1 ≤ i ≤ `count`; returns when all are done. f must not
  /// throw. Not reentrant.
  template <class F>
  void run(std::uint32_t count, F& f) {
    call_ = [](void* context, std::uint32_t i) { (*static_cast<F*>(context))(i); };
    context_ = const_cast<void*>(static_cast<const void*>(&f)); // call_ knows if it is const
    busy_.store(count, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count; ++i) {
      helpers_[i].round.fetch_add(1, std::memory_order_release);
      helpers_[i].round.notify_one();
    }
    f(0);
    detail::backoff b;
    while (busy_.load(std::memory_order_acquire) != 0) {
      b.wait();
    }
  }

private:
  struct alignas(64) helper {
    std::atomic<std::uint32_t> round{0};
    std::thread thread;
  };

  void close() {
    closing_.store(true, std::memory_order_relaxed);
    for (auto& h : helpers_) {
      h.round.fetch_add(1, std::memory_order_release);
      h.round.notify_one();
    }
    for (auto& h : helpers_) {
      if (h.thread.joinable()) {
        h.thread.join();
      }
    }
  }

  void serve(std::uint32_t i) {
    auto& round = helpers_[i].round;
    for (std::uint32_t seen = 0;; ++seen) {
      for (int spin = 0; spin < 2000 && round.load(std::memory_order_relaxed) == seen; ++spin) {
        detail::relax(); // the next step of a training run comes soon
      }
      round.wait(seen, std::memory_order_acquire);
      (void)round.load(std::memory_order_acquire);
      if (closing_.load(std::memory_order_relaxed)) {
        return;
      }
      call_(context_, i + 1);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::vector<helper> helpers_;
  void (*call_)(void*, std::uint32_t) = nullptr;
  void* context_ = nullptr;
  std::atomic<std::uint32_t> busy_{0};
  std::atomic<bool> closing_{false};
};

} // namespace weft::execute
