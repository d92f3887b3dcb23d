// SPDX-License-Identifier: BSL-1.0
/// The busy times of something that is asked for very often while a schedule is being built.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::schedule {

/// A `timeline` that remembers only the last `Most` gaps; those before are lost. So what it takes to
/// find one does not grow. O(Most), in 16 bytes for each.
template <std::size_t Most>
class recent_gaps {
public:
  /// The earliest start, not before `ready`, of a remembered gap of `duration` seconds, or of the time behind all.
  constexpr double earliest_gap(double ready, double duration) const {
    if (ready >= end_) {
      return ready;
    }
    if (count_ > 0 && ready + duration <= finish_[count_ - 1]) {
      for (std::size_t g = 0; g < count_; ++g) {
        const double start = std::max(ready, start_[g]);
        if (start + duration <= finish_[g]) {
          return start;
        }
      }
    }
    return end_;
  }

  constexpr double end() const { return end_; }
  constexpr double last_gap() const { return count_ > 0 ? finish_[count_ - 1] : -1; }

  /// Precondition: the stretch is free and begins in a gap that is remembered, or behind all.
  constexpr void reserve(double start, double finish) {
    if (start >= end_) {
      if (start > end_) {
        insert(count_, end_, start);
      }
      end_ = finish;
      return;
    }
    std::size_t g = count_;
    while (g > 0 && start_[g - 1] > start) {
      --g;
    }
    if (g-- == 0 || finish > finish_[g]) { // takes no time
      WEFT_ASSERT(start == finish);
      return;
    }
    const double until = finish_[g];
    if (start_[g] < start) {
      finish_[g] = start;
      if (finish < until) {
        insert(g + 1, finish, until);
      }
    } else if (finish < until) {
      start_[g] = finish;
    } else {
      std::copy(start_.begin() + g + 1, start_.begin() + count_, start_.begin() + g);
      std::copy(finish_.begin() + g + 1, finish_.begin() + count_, finish_.begin() + g);
      --count_;
    }
  }

private:
  constexpr void insert(std::size_t at, double start, double finish) {
    if (count_ == Most) { // forgets the first
      if (at == 0) {
        return;
      }
      std::copy(start_.begin() + 1, start_.begin() + at, start_.begin());
      std::copy(finish_.begin() + 1, finish_.begin() + at, finish_.begin());
      --at;
    } else {
      std::copy_backward(start_.begin() + at, start_.begin() + count_, start_.begin() + count_ + 1);
      std::copy_backward(finish_.begin() + at, finish_.begin() + count_, finish_.begin() + count_ + 1);
      ++count_;
    }
    start_[at] = start;
    finish_[at] = finish;
  }

  double end_ = 0;
  std::size_t count_ = 0;
  std::array<double, Most> start_{};  // ascending
  std::array<double, Most> finish_{};
};

} // namespace weft::schedule
