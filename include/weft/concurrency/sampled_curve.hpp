// SPDX-License-Identifier: BSL-1.0
/// A curve through measured points.
#pragma once

#include "weft/concurrency/concepts.hpp"
#include "weft/core/error.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weft::concurrency {

/// A measured time.
struct sample {
  std::uint32_t threads = 1;
  double seconds = 0;
  friend constexpr bool operator==(const sample&, const sample&) = default;
};

/// The time of an op between and beyond measured thread counts, per affinity.
///
/// Where time falls from one point to the next, what is interpolated linearly is p · T(p), the core-seconds: under
/// Amdahl's law that is a straight line, while T itself bends so strongly at few threads that a chord between 1 and 9
/// threads is off by a factor of two or three. Where time rises, T is interpolated: there the cost of the team, which
/// grows with its size, outweighs the rest. Beyond the last point the last segment goes on, but never below what
/// perfect scaling from there would give; below the first, core-seconds are constant.
/// An affinity without points of its own has the other's times. Complexity: O(log points) per call.
class sampled_curve {
public:
  sampled_curve() = default;

  /// Throws `value_error` if there is no point, or one without threads or a positive, finite time.
  sampled_curve(std::vector<sample> packed, std::vector<sample> spread) {
    points_[0] = prepare(std::move(packed));
    points_[1] = prepare(std::move(spread));
    if (points_[0].empty() && points_[1].empty()) {
      throw value_error("sampled_curve", "needs at least one measured time");
    }
    for (int a : {0, 1}) {
      if (points_[a].empty()) {
        points_[a] = points_[1 - a];
      }
    }
  }

  double operator()(team t) const {
    const auto& points = points_[static_cast<int>(t.affinity)];
    const auto p = static_cast<double>(t.threads);
    const auto after = std::lower_bound(points.begin(), points.end(), t.threads,
                                        [](const sample& s, std::uint32_t threads) { return s.threads < threads; });
    if (after != points.end() && after->threads == t.threads) {
      return after->seconds;
    }
    if (after == points.begin() || points.size() == 1) { // core-seconds of the nearest point
      const auto& near = after == points.begin() ? *after : points.back();
      return work(near) / p;
    }
    const auto right = after == points.end() ? after - 1 : after;
    const auto left = right - 1;
    const double distance = p - static_cast<double>(left->threads);
    const double length = right->threads - left->threads;
    if (right->seconds > left->seconds) {
      return left->seconds + rounded((right->seconds - left->seconds) / length * distance);
    }
    const double core_seconds = work(*left) + rounded((work(*right) - work(*left)) / length * distance);
    return (after == points.end() ? std::max(core_seconds, work(*right)) : core_seconds) / p;
  }

  const std::vector<sample>& points(affinity a) const { return points_[static_cast<int>(a)]; }

private:
  static double work(const sample& s) { return s.seconds * static_cast<double>(s.threads); }

  static std::vector<sample> prepare(std::vector<sample> points) {
    for (const sample& s : points) {
      if (s.threads == 0 || !(s.seconds > 0 && s.seconds < std::numeric_limits<double>::infinity())) {
        throw value_error("sampled_curve", "a time for " + std::to_string(s.threads) +
                                             " threads must be positive and finite, and threads at least 1");
      }
    }
    weft::stable_sort(points,
                     [](const sample& a, const sample& b) { return a.threads < b.threads; });
    points.erase(std::unique(points.begin(), points.end(),
                             [](const sample& a, const sample& b) { return a.threads == b.threads; }),
                 points.end());
    return points;
  }

  std::vector<sample> points_[2]; // by affinity
};

} // namespace weft::concurrency
