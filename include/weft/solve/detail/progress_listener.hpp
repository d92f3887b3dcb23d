// SPDX-License-Identifier: BSL-1.0
/// A listener that several threads share.
#pragma once

#include "weft/core/progress.hpp"

#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

namespace weft::solve::detail {

/// Passes on what is better than everything before, one call at a time.
class progress_listener {
public:
  explicit progress_listener(progress_callback f) : f_{std::move(f)} {}

  void tell(std::uint64_t moves, double seconds, double makespan) {
    if (!f_) {
      return;
    }
    const std::lock_guard lock{mutex_};
    if (makespan < best_) {
      best_ = makespan;
      f_({moves, seconds, makespan});
    }
  }

private:
  progress_callback f_;
  std::mutex mutex_;
  double best_ = std::numeric_limits<double>::infinity();
};

} // namespace weft::solve::detail
