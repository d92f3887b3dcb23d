// SPDX-License-Identifier: BSL-1.0
/// A stop request that has begun and does not come to an end.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace weft::test {

/// Another thread's `request_stop()`, held inside until this goes: the token says that a stop was requested, further
/// requests return false at once, and callbacks that were registered before this have not been called (where the newest
/// are called first, as in libstdc++).
class held_stop {
public:
  /// Returns when the stop is requested.
  explicit held_stop(std::stop_source stop)
      : hold_{stop.get_token(), wait{*this}}, outside_{[stop]() mutable { stop.request_stop(); }} {
    while (!stop.stop_requested()) {
      std::this_thread::yield();
    }
  }
  held_stop(const held_stop&) = delete;
  held_stop& operator=(const held_stop&) = delete;
  ~held_stop() {
    over_ = true;
    over_.notify_all();
    outside_.join();
  }

private:
  struct wait {
    held_stop& self;
    void operator()() const { self.over_.wait(false); }
  };

  std::atomic<bool> over_{false};
  std::stop_callback<wait> hold_;
  std::thread outside_;
};

} // namespace weft::test
