// SPDX-License-Identifier: BSL-1.0
/// Waiting for another thread: briefly by spinning, then by giving way.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace weft::execute::detail {

/// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Call `wait` again and again until what one waits for is there: the longer it takes, the less it costs the others.
class backoff {
public:
  void wait() {
    ++calls_;
    if (calls_ < 128) {
      relax();
    } else if (calls_ < 1024) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(std::min<std::uint32_t>(calls_ - 1023, 50)));
    }
  }

private:
  std::uint32_t calls_ = 0;
};

} // namespace weft::execute::detail
