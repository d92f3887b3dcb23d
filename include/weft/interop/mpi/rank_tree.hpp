// SPDX-License-Identifier: BSL-1.0
/// Ranks in groups that are near each other: on a host, behind a switch.
#pragma once

#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::mpi {

/// Levels of groups, each group inside of one of the level above. On level 0 every rank is a group of its own; on the
/// last one all ranks are one group.
class rank_tree {
public:
  explicit rank_tree(std::size_t ranks) : groups_(1, std::vector<std::uint32_t>(ranks)) {
    std::iota(groups_[0].begin(), groups_[0].end(), 0u);
  }

  /// Adds a level: ranks of equal keys are a group. Groups are numbered by their first ranks. Without effect if it
  /// would be the level before. Precondition: ranks of one group have one key.
  template <class Key>
  void add_level(const std::vector<Key>& keys) {
    std::vector<std::uint32_t> level(keys.size());
    std::vector<Key> seen;
    for (std::size_t r = 0; r < keys.size(); ++r) {
      const auto at = std::find(seen.begin(), seen.end(), keys[r]);
      level[r] = static_cast<std::uint32_t>(at - seen.begin());
      if (at == seen.end()) {
        seen.push_back(keys[r]);
      }
    }
    if (level != groups_.back()) {
      groups_.push_back(std::move(level));
    }
  }

  std::size_t num_ranks() const { return groups_[0].size(); }
  std::size_t num_levels() const { return groups_.size(); }
  std::size_t num_groups(std::size_t level) const {
    const auto& groups = groups_[level];
    return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + std::size_t{1};
  }
  std::uint32_t group_of(std::size_t level, std::uint32_t rank) const { return groups_[level][rank]; }
  /// In ascending order.
  std::vector<std::uint32_t> members(std::size_t level, std::uint32_t group) const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t r = 0; r < num_ranks(); ++r) {
      if (groups_[level][r] == group) {
        ranks.push_back(r);
      }
    }
    return ranks;
  }
  /// The level of the smallest group that both are in.
  std::size_t level_of(std::uint32_t a, std::uint32_t b) const {
    std::size_t level = 0;
    while (groups_[level][a] != groups_[level][b]) {
      ++level;
    }
    return level;
  }

private:
  std::vector<std::vector<std::uint32_t>> groups_; // by level and rank
};

/// Groups things that are near each other, the nearest first, each level as a key per thing: `distance[a * n + b]`,
/// infinite where it is not known. Two things are in a group when a chain of short enough distances joins them; where
/// the next distance that would join two groups is more than `gap` times as long as the last one that did, a level
/// ends. So what differs by less makes no level. Complexity: O(n³).
inline std::vector<std::vector<std::uint32_t>> levels_by_distance(std::span<const double> distance, std::size_t n,
                                                                  double gap = 1.3) {
  std::vector<std::vector<std::uint32_t>> levels;
  std::vector<std::uint32_t> group(n);
  std::iota(group.begin(), group.end(), 0u);
  double last = 0;
  for (std::size_t joined = 1; joined < n; ++joined) {
    double least = std::numeric_limits<double>::infinity();
    std::uint32_t a = 0, b = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t k = 0; k < n; ++k) {
        if (group[i] != group[k] && distance[i * n + k] < least) {
          least = distance[i * n + k];
          a = group[i];
          b = group[k];
        }
      }
    }
    if (last > 0 && least > gap * last) {
      levels.push_back(group);
    }
    last = least;
    std::replace(group.begin(), group.end(), b, a);
  }
  return levels;
}

} // namespace weft::mpi
