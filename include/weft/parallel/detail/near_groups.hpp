// SPDX-License-Identifier: BSL-1.0
/// Groups of near devices.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/detail/mesh_cost.hpp"
#include "weft/parallel/mesh_level.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::parallel::detail {

/// Items in groups of a size, near ones together: from each item a group grows by the one that is nearest to those that
/// it has, and of all groups the nearest one is kept, until there are as many as needed, and all that are as near as
/// the last of these. Ties: the smallest numbers. `seconds` is that between each two items. Where there are very many
/// items, groups grow from the first ones only; after `max_work` steps of growing, from the first free one only.
class near_groups {
public:
  near_groups(std::uint32_t items, std::uint32_t size, const std::vector<double>& seconds,
              std::size_t max_work = 50'000'000)
      : items_{items}, size_{size}, seconds_{&seconds}, max_work_{max_work}, used_(items, false), sum_(items) {}

  std::vector<std::vector<std::uint32_t>> operator()(std::size_t needed) {
    std::vector<std::vector<std::uint32_t>> groups;
    double last = 0; // seconds of a group that is needed
    for (std::size_t left = items_; left >= size_; left -= size_) {
      grow_all();
      std::size_t best = 0;
      for (std::size_t i = 1; i < from_.size(); ++i) {
        best = from_[i].first < from_[best].first * (1 - 1e-9) ? i : best;
      }
      if (groups.size() >= needed && from_[best].first > last * (1 + 1e-9)) {
        break;
      }
      last = groups.size() < needed ? std::max(last, from_[best].first) : last;
      groups.push_back(from_[best].second);
      for (const auto i : groups.back()) {
        used_[i] = true;
      }
    }
    return groups;
  }

private:
  using group = std::pair<double, std::vector<std::uint32_t>>; // its seconds, and its items as they were taken

  bool may_grow() const { return work_ < max_work_; }

  /// A group from each of the first free items: those that have lost an item grow again.
  void grow_all() {
    const auto is_free = [&](const group& g) {
      return std::none_of(g.second.begin(), g.second.end(), [&](auto i) { return used_[i]; });
    };
    for (auto& g : from_) {
      if (const auto first = g.second.front(); !used_[first] && !is_free(g) && may_grow()) {
        g = grown(first);
      }
    }
    std::erase_if(from_, [&](const group& g) { return !is_free(g); });
    const std::size_t starts = std::max<std::size_t>(max_work_ / 4 / (std::size_t{items_} * size_), 1);
    for (; next_start_ < items_ && from_.size() < starts && may_grow(); ++next_start_) {
      if (!used_[next_start_]) {
        from_.push_back(grown(next_start_));
      }
    }
    if (from_.empty()) {
      from_.push_back(grown(static_cast<std::uint32_t>(std::find(used_.begin(), used_.end(), false) - used_.begin())));
    }
  }

  group grown(std::uint32_t first) {
    group made{0, {first}};
    std::fill(sum_.begin(), sum_.end(), 0);
    auto taken = used_;
    taken[first] = true;
    while (made.second.size() < size_) {
      std::uint32_t next = none;
      const auto* const to = seconds_->data() + std::size_t{made.second.back()} * items_;
      for (std::uint32_t i = 0; i < items_; ++i) {
        if (!taken[i]) {
          sum_[i] += to[i];
          next = next == none || sum_[i] < sum_[next] * (1 - 1e-9) ? i : next;
        }
      }
      made.first += sum_[next];
      taken[next] = true;
      made.second.push_back(next);
    }
    work_ += std::size_t{items_} * size_;
    return made;
  }

  std::uint32_t items_, size_;
  const std::vector<double>* seconds_;
  std::size_t max_work_;
  std::vector<bool> used_;       // by item: it is in a group that was kept
  std::vector<double> sum_;      // by item: seconds to those of the group that grows
  std::vector<group> from_;      // that begin with each of the first free items
  std::uint32_t next_start_ = 0; // the first item from which none has grown
  std::size_t work_ = 0;         // steps of growing so far
};

/// A mesh of near groups, level by level, and the devices that are in none.
template <class Platform>
std::vector<std::uint32_t> grouped_mesh(const joined_devices<Platform>& all, std::span<const mesh_level> levels) {
  std::vector<std::vector<std::uint32_t>> parts; // devices of each group so far
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    parts.push_back({i});
  }
  std::size_t needed = 1;
  for (const auto& level : levels) {
    needed *= level.size;
  }
  for (const auto& level : levels) {
    needed /= level.size;
    std::vector<double> seconds;
    seconds.reserve(parts.size() * parts.size());
    for (const auto& a : parts) {
      for (const auto& b : parts) {
        seconds.push_back(std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus{},
                                             [&](auto x, auto y) { return all.between(x, y); }));
      }
    }
    const auto groups = near_groups{static_cast<std::uint32_t>(parts.size()), level.size, seconds}(needed);
    std::vector<std::vector<std::uint32_t>> joined;
    for (const auto& g : groups) {
      auto& devices = joined.emplace_back();
      for (const auto part : g) {
        devices.insert(devices.end(), parts[part].begin(), parts[part].end());
      }
    }
    parts = std::move(joined);
  }
  auto at = std::move(parts.front());
  std::vector<bool> used(all.size(), false);
  for (const auto i : at) {
    used[i] = true;
  }
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!used[i]) {
      at.push_back(i);
    }
  }
  return at;
}

} // namespace weft::parallel::detail
