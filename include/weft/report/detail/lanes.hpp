// SPDX-License-Identifier: BSL-1.0
/// Puts intervals that overlap into different lanes.
#pragma once

#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace weft::report::detail {

/// The lane of each half-open interval, 0, 1, …, and how many there are. Lanes are dealt by start, then finish, then
/// index, each to the lowest lane that is free, which is the fewest that do. An empty interval may share its moment.
/// Complexity: O(n log n + n · lanes).
template <class Time>
std::pair<std::vector<std::uint32_t>, std::size_t> assign_lanes(const std::vector<std::pair<Time, Time>>& intervals) {
  std::vector<std::size_t> by_start(intervals.size());
  std::iota(by_start.begin(), by_start.end(), std::size_t{0});
  weft::stable_sort(by_start,
                   [&](std::size_t a, std::size_t b) { return intervals[a] < intervals[b]; });
  std::vector<std::uint32_t> lane(intervals.size(), 0);
  std::vector<Time> free_from;
  for (const std::size_t i : by_start) {
    const auto at =
      std::find_if(free_from.begin(), free_from.end(), [&](const Time& end) { return end <= intervals[i].first; });
    lane[i] = static_cast<std::uint32_t>(at - free_from.begin());
    if (at == free_from.end()) {
      free_from.push_back(intervals[i].second);
    } else {
      *at = intervals[i].second;
    }
  }
  return {std::move(lane), free_from.size()};
}

} // namespace weft::report::detail
