// SPDX-License-Identifier: BSL-1.0
/// Places for buffers in one block of memory, such that those that live at the same time do not overlap.
#pragma once

#include "weft/core/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::execute {

/// What an arena has to hold: `bytes` during `[begin, end)`.
struct lifetime {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  byte_count bytes = 0;
};

/// Where each lies, and how large the arena is.
struct arena_layout {
  std::vector<byte_count> offset; ///< of each lifetime, a multiple of the alignment
  byte_count bytes = 0;
  byte_count live_bytes = 0; ///< the most that live at once, sizes rounded up to the alignment: no arena can be smaller
};

namespace detail {

/// Puts the lifetimes one after another, in the order given, at the lowest place that is free for as long as they live.
inline void place_in_order(std::span<const lifetime> all, std::span<const byte_count> size,
                           std::span<const std::uint32_t> order, arena_layout& made) {
  struct placed {
    std::uint32_t begin, end;
    byte_count low, high;
  };
  std::vector<placed> by_offset; // sorted by low
  made.bytes = 0;
  for (const auto i : order) {
    const auto& x = all[i];
    if (size[i] == 0 || x.begin >= x.end) {
      made.offset[i] = 0;
      continue;
    }
    byte_count low = 0;
    for (const placed& p : by_offset) {
      if (p.begin < x.end && x.begin < p.end) {
        if (p.low >= low + size[i]) {
          break; // fits before it
        }
        low = std::max(low, p.high);
      }
    }
    made.offset[i] = low;
    made.bytes = std::max(made.bytes, low + size[i]);
    const placed now{x.begin, x.end, low, low + size[i]};
    by_offset.insert(std::upper_bound(by_offset.begin(), by_offset.end(), now,
                                      [](const placed& a, const placed& b) { return a.low < b.low; }),
                     now);
  }
}

/// The most that is alive at one moment; what ends there makes room for what begins.
inline byte_count most_live(std::span<const lifetime> all, std::span<const byte_count> size) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moments; // sorted by time, ends first: (2 t, i) and (2 t + 1, i)
  for (const auto i : ids(all.size())) {
    if (all[i].begin < all[i].end) {
      moments.push_back({2 * all[i].begin + 1, i});
      moments.push_back({2 * all[i].end, i});
    }
  }
  std::sort(moments.begin(), moments.end());
  byte_count now = 0, most = 0;
  for (const auto& [moment, i] : moments) {
    now += moment % 2 == 1 ? size[i] : byte_count{0} - size[i];
    most = std::max(most, now);
  }
  return most;
}

/// As memory is taken and given back over time: the smallest gap that is large enough, else at the end.
inline void place_over_time(std::span<const lifetime> all, std::span<const byte_count> size, arena_layout& made) {
  struct block {
    byte_count low, high;
  };
  std::vector<block> gaps{{0, ~byte_count{0}}}; // sorted, apart from each other; the last one is all that follows
  std::vector<std::uint32_t> starts, ends;
  for (const auto i : ids(all.size())) {
    made.offset[i] = 0;
    if (size[i] > 0 && all[i].begin < all[i].end) {
      starts.push_back(i);
    }
  }
  ends = starts;
  std::stable_sort(starts.begin(), starts.end(), [&](auto a, auto b) { return all[a].begin < all[b].begin; });
  std::stable_sort(ends.begin(), ends.end(), [&](auto a, auto b) { return all[a].end < all[b].end; });
  auto ended = ends.begin();
  for (const auto i : starts) {
    for (; all[*ended].end <= all[i].begin; ++ended) {
      block back{made.offset[*ended], made.offset[*ended] + size[*ended]};
      auto next = std::lower_bound(gaps.begin(), gaps.end(), back,
                                   [](const block& a, const block& b) { return a.low < b.low; });
      if (next->low == back.high) {
        back.high = next->high;
        next = gaps.erase(next);
      }
      if (next != gaps.begin() && (next - 1)->high == back.low) {
        (next - 1)->high = back.high;
      } else {
        gaps.insert(next, back);
      }
    }
    auto best = gaps.end() - 1;
    for (auto g = gaps.begin(); g != gaps.end() - 1; ++g) {
      if (g->high - g->low >= size[i] && (best + 1 == gaps.end() || g->high - g->low < best->high - best->low)) {
        best = g;
      }
    }
    made.offset[i] = best->low;
    best->low += size[i];
    if (best->low == best->high) {
      gaps.erase(best);
    }
  }
  made.bytes = 0;
  for (const auto i : starts) {
    made.bytes = std::max(made.bytes, made.offset[i] + size[i]);
  }
}

/// From the bottom up: at the lowest place of the skyline, whatever comes `first` of those that live only while it is
/// that low; where nothing does, the place is as high as its lower neighbour from then on.
/// Source: Sekiyama, Imai, Negishi, *Profile-guided memory optimization for deep neural networks*, 2018, after Burke,
/// Kendall, Whitwell's best fit for strips, 2004.
template <class First>
void place_on_skyline(std::span<const lifetime> all, std::span<const byte_count> size, First&& first,
                      arena_layout& made) {
  struct step {
    std::uint32_t begin, end;
    byte_count height;
  };
  std::vector<std::uint32_t> left; // by begin
  std::uint32_t end = 0;
  for (const auto i : ids(all.size())) {
    made.offset[i] = 0;
    if (size[i] > 0 && all[i].begin < all[i].end) {
      left.push_back(i);
      end = std::max(end, all[i].end);
    }
  }
  std::stable_sort(left.begin(), left.end(), [&](auto a, auto b) { return all[a].begin < all[b].begin; });
  std::vector<std::uint32_t> next(left.size() + 1); // of those at or after a position, the first that is not placed
  std::iota(next.begin(), next.end(), 0u);
  const auto next_left = [&](std::uint32_t k) {
    for (; next[k] != k; k = next[k]) {
      next[k] = next[next[k]];
    }
    return k;
  };
  std::vector<step> line{{0, end, 0}};
  made.bytes = 0;
  for (std::size_t placed = 0; placed < left.size();) {
    const auto low =
      std::min_element(line.begin(), line.end(), [](const step& a, const step& b) { return a.height < b.height; });
    const step at = *low;
    const auto from = std::lower_bound(left.begin(), left.end(), at.begin,
                                       [&](auto i, std::uint32_t begin) { return all[i].begin < begin; });
    auto best = static_cast<std::uint32_t>(left.size());
    for (auto k = next_left(static_cast<std::uint32_t>(from - left.begin()));
         k < left.size() && all[left[k]].begin < at.end; k = next_left(k + 1)) {
      if (all[left[k]].end <= at.end && (best == left.size() || first(left[k], left[best]))) {
        best = k;
      }
    }
    if (best == left.size()) {
      const byte_count before = low == line.begin() ? ~byte_count{0} : (low - 1)->height;
      const byte_count after = low + 1 == line.end() ? ~byte_count{0} : (low + 1)->height;
      low->height = std::min(before, after);
    } else {
      const auto i = left[best];
      next[best] = best + 1;
      ++placed;
      made.offset[i] = at.height;
      made.bytes = std::max(made.bytes, at.height + size[i]);
      const step parts[] = {{at.begin, all[i].begin, at.height},
                            {all[i].begin, all[i].end, at.height + size[i]},
                            {all[i].end, at.end, at.height}};
      auto where = line.erase(low);
      for (const step& x : parts) {
        if (x.begin < x.end) {
          where = line.insert(where, x) + 1;
        }
      }
    }
    std::size_t kept = 0; // neighbours of one height become one
    for (std::size_t k = 1; k < line.size(); ++k) {
      if (line[k].height == line[kept].height) {
        line[kept].end = line[k].end;
      } else {
        line[++kept] = line[k];
      }
    }
    line.resize(kept + 1);
  }
}

} // namespace detail

/// Lays lifetimes out in one arena: the best that best fit over time, skylines and the lowest free places come to, each
/// with the large first, those that hold much for long, or those that live long. The places are improved by repetition:
/// of the 512 largest lifetimes, those that came to lie above `live_bytes` are placed before all others the next time
/// (squeaky wheels, Joslin, Clements 1999). Whatever follows a layout of `live_bytes` is left out, and all but best fit
/// above 32,768 lifetimes. The best layout is NP-hard to find (dynamic storage allocation, Garey and Johnson SR2); those
/// of training steps are some 0.3 % above `live_bytes` on one device, and some 4 % on several.
/// Complexity: O(n²) and, above 32,768, O(n g) for g gaps.
inline arena_layout lay_out(std::span<const lifetime> all, byte_count alignment) {
  constexpr std::size_t most_lifetimes = 32768, large = 512, repetitions = 100;
  std::vector<byte_count> size(all.size());
  std::vector<std::uint32_t> by_size(all.size());
  for (const auto i : ids(all.size())) {
    size[i] = (all[i].bytes + alignment - 1) / alignment * alignment;
    by_size[i] = i;
  }
  arena_layout best;
  best.offset.resize(all.size());
  detail::place_over_time(all, size, best);
  best.live_bytes = detail::most_live(all, size);

  arena_layout made = best;
  const auto take = [&] {
    if (made.bytes < best.bytes) {
      best = made;
    }
  };
  const auto is_done = [&] { return best.bytes == best.live_bytes || all.size() > most_lifetimes; };
  const auto larger = [&](auto a, auto b) { return size[a] > size[b]; };
  std::stable_sort(by_size.begin(), by_size.end(), larger);
  const auto try_order = [&](auto&& before) {
    if (is_done()) {
      return;
    }
    auto order = by_size;
    const std::span first{order.data(), std::min(large, order.size())};
    std::stable_sort(first.begin(), first.end(), before);
    std::vector<std::uint32_t> lowest;
    byte_count least = ~byte_count{0};
    for (std::size_t i = 0; i < repetitions && least > best.live_bytes; ++i) {
      detail::place_in_order(all, size, first, made);
      if (made.bytes < least) {
        least = made.bytes;
        lowest.assign(first.begin(), first.end());
      }
      std::stable_partition(first.begin(), first.end(),
                            [&](auto k) { return made.offset[k] + size[k] > best.live_bytes; });
    }
    std::copy(lowest.begin(), lowest.end(), first.begin());
    detail::place_in_order(all, size, order, made);
    take();
  };
  const auto try_skyline = [&](auto&& before) {
    if (!is_done()) {
      detail::place_on_skyline(all, size, before, made);
      take();
    }
  };
  const auto area = [&](std::uint32_t i) { return static_cast<double>(size[i]) * (all[i].end - all[i].begin); };
  const auto holds_more = [&](auto a, auto b) { return area(a) > area(b); };
  const auto lives_longer = [&](auto a, auto b) { return all[a].end - all[a].begin > all[b].end - all[b].begin; };
  try_skyline(larger);
  try_skyline(holds_more);
  try_skyline(lives_longer);
  try_order(larger);
  try_order(holds_more);
  try_order(lives_longer);
  return best;
}

} // namespace weft::execute
