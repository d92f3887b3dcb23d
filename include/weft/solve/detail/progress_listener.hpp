// SPDX-License-Identifier: BSL-1.0
/// A listener that several threads share.
#pragma once

#include "weft/core/budget.hpp"

#include <functional>
#include <limits>
#include <mutex>

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

} // namespace weft::solve::detail
