// SPDX-License-Identifier: BSL-1.0
/// The one-machine relaxation: Jackson's preemptive schedule of jobs with heads and tails, as a lower bound.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::bound::detail {

/// A job that may start at `head`, takes `time` and is followed by `tail` seconds elsewhere.
struct job {
  double head;
  double time;
  double tail;
};

/// Jackson's preemptive schedule: always the released job with the longest tail. Its value is
/// max over sets S of jobs of (min head + Σ time + min tail over S), so it is a lower bound on any schedule of the
/// jobs on one machine; with each time divided by k, on k machines that work alike.
/// Complexity: O(k log k) for k jobs. Source: Carlier, The one-machine sequencing problem, 1982.
class one_machine {
public:
  /// Sorts the jobs by head.
  constexpr double operator()(buffer<job>& jobs) {
    weft::sort(jobs, [](const job& a, const job& b) { return a.head < b.head; });
    return of_sorted(jobs);
  }

  /// Precondition: the jobs are sorted by head.
  constexpr double of_sorted(const buffer<job>& jobs) {
    const auto shorter_tail = [](const job& a, const job& b) { return a.tail < b.tail; };
    open_.clear();
    double now = 0;
    double value = 0;
    for (std::size_t next = 0; next < jobs.size() || !open_.empty();) {
      if (open_.empty()) {
        now = std::max(now, jobs[next].head);
      }
      for (; next < jobs.size() && jobs[next].head <= now; ++next) {
        open_.push_back(jobs[next]);
        std::push_heap(open_.begin(), open_.end(), shorter_tail);
      }
      const double until = next < jobs.size() ? jobs[next].head : std::numeric_limits<double>::infinity();
      if (auto& running = open_.front(); now + running.time <= until) {
        now += running.time;
        value = std::max(value, now + running.tail);
        std::pop_heap(open_.begin(), open_.end(), shorter_tail);
        open_.pop_back();
      } else {
        running.time -= until - now;
        now = until;
      }
    }
    return value;
  }

private:
  buffer<job> open_; // a heap, the longest tail in front
};

} // namespace weft::bound::detail
