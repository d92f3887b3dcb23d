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

} // namespace detail

/// Lays lifetimes out in one arena: the best of a few orders in which to put them at the lowest place that is free
/// (large ones first, as Pisarchyk and Lee do; those that hold much for long first; as they begin) and of best fit over
/// time. All but the last are left out above 8,192 lifetimes, and as soon as nothing better can be. The best layout is
/// NP-hard to find (dynamic storage allocation, Garey and Johnson SR2). Complexity: O(n²) and, above that, O(n g) for g
/// gaps.
/// Source: Pisarchyk, Lee, *Efficient Memory Management for Deep Neural Net Inference*, 2020.
inline arena_layout lay_out(std::span<const lifetime> all, byte_count alignment) {
  std::vector<byte_count> size(all.size());
  std::vector<std::uint32_t> order(all.size());
  for (const auto i : ids(all.size())) {
    size[i] = (all[i].bytes + alignment - 1) / alignment * alignment;
    order[i] = i;
  }
  arena_layout best;
  best.offset.resize(all.size());
  detail::place_over_time(all, size, best);
  best.live_bytes = detail::most_live(all, size);

  const auto area = [&](std::uint32_t i) { return static_cast<double>(size[i]) * (all[i].end - all[i].begin); };
  const auto try_order = [&](auto&& before) {
    if (best.bytes == best.live_bytes || all.size() > 8192) {
      return;
    }
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), before);
    arena_layout made{std::vector<byte_count>(all.size()), 0, best.live_bytes};
    detail::place_in_order(all, size, order, made);
    if (made.bytes < best.bytes) {
      best = std::move(made);
    }
  };
  try_order([&](auto a, auto b) { return size[a] > size[b]; });
  try_order([&](auto a, auto b) { return area(a) > area(b); });
  try_order([&](auto a, auto b) { return all[a].end - all[a].begin > all[b].end - all[b].begin; });
  try_order([&](auto a, auto b) { return all[a].begin < all[b].begin; });
  return best;
}

} // namespace weft::execute
