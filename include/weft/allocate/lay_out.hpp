// SPDX-License-Identifier: BSL-1.0
/// Fast heuristics for the offsets of buffers in one memory: first fit, best fit and skylines, repeated.
#pragma once

#include "weft/allocate/allocation.hpp"
#include "weft/allocate/lifetime.hpp"
#include "weft/core/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::allocate {

/// Puts the lifetimes one after another, in the order given, at the lowest place that is free for as long as they live.
/// Those that the order lacks get no place. Leaves the bound as it is. Complexity: O(n²).
inline void first_fit(std::span<const lifetime> all, std::span<const std::uint32_t> order, allocation& made) {
  struct placed {
    std::int64_t begin, end;
    byte_count low, high;
  };
  std::vector<placed> by_offset; // sorted by low
  made.bytes = 0;
  made.offsets.assign(all.size(), 0);
  for (const auto i : order) {
    const auto& x = all[i];
    if (!x.needs_place()) {
      continue;
    }
    byte_count low = 0;
    for (const placed& p : by_offset) {
      if (p.begin < x.end && x.begin < p.end) {
        if (p.low >= low + x.bytes) {
          break; // fits before it
        }
        low = std::max(low, aligned(p.high, x.alignment));
      }
    }
    made.offsets[i] = low;
    made.bytes = std::max(made.bytes, low + x.bytes);
    const placed now{x.begin, x.end, low, low + x.bytes};
    by_offset.insert(std::upper_bound(by_offset.begin(), by_offset.end(), now,
                                      [](const placed& a, const placed& b) { return a.low < b.low; }),
                     now);
  }
}

namespace detail {

/// As memory is taken and given back over time: the smallest gap that is large enough, else at the end.
inline void best_fit_over_time(std::span<const lifetime> all, allocation& made) {
  struct block {
    byte_count low, high;
  };
  std::vector<block> gaps{{0, ~byte_count{0}}}; // sorted, apart from each other; the last one is all that follows
  made.offsets.assign(all.size(), 0);
  made.bytes = 0;
  const auto release = [&](std::uint32_t i) {
    block back{made.offsets[i], made.offsets[i] + all[i].bytes};
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
  };
  const auto take = [&](std::uint32_t i) {
    const lifetime& x = all[i];
    auto best = gaps.end() - 1;
    for (auto g = gaps.begin(); g != gaps.end() - 1; ++g) {
      if (g->high >= aligned(g->low, x.alignment) + x.bytes &&
          (best + 1 == gaps.end() || g->high - g->low < best->high - best->low)) {
        best = g;
      }
    }
    const block before{best->low, aligned(best->low, x.alignment)};
    made.offsets[i] = before.high;
    made.bytes = std::max(made.bytes, before.high + x.bytes);
    best->low = before.high + x.bytes;
    if (best->low == best->high) {
      best = gaps.erase(best);
    }
    if (before.low < before.high) {
      gaps.insert(best, before);
    }
  };
  sweep(all, take, release);
}

/// From the bottom up: at the lowest place of the skyline, whatever comes `first` of those that live only while it is
/// that low; where nothing does, the place is as high as its lower neighbour from then on.
/// Source: Sekiyama, Imai, Negishi, *Profile-guided memory optimization for deep neural networks*, 2018, after Burke,
/// Kendall, Whitwell's best fit for strips, 2004.
template <class First>
void place_on_skyline(std::span<const lifetime> all, First&& first, allocation& made) {
  struct step {
    std::int64_t begin, end;
    byte_count height;
  };
  made.offsets.assign(all.size(), 0);
  made.bytes = 0;
  std::vector<std::uint32_t> left; // by begin
  for (const auto i : ids(all.size())) {
    if (all[i].needs_place()) {
      left.push_back(i);
    }
  }
  if (left.empty()) {
    return;
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
  const auto last =
    *std::max_element(left.begin(), left.end(), [&](auto i, auto k) { return all[i].end < all[k].end; });
  std::vector<step> line{{all[left.front()].begin, all[last].end, 0}};
  for (std::size_t placed = 0; placed < left.size();) {
    const auto low =
      std::min_element(line.begin(), line.end(), [](const step& a, const step& b) { return a.height < b.height; });
    const step at = *low;
    const auto from = std::lower_bound(left.begin(), left.end(), at.begin,
                                       [&](auto i, std::int64_t begin) { return all[i].begin < begin; });
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
      made.offsets[i] = aligned(at.height, all[i].alignment);
      const byte_count top = made.offsets[i] + all[i].bytes;
      made.bytes = std::max(made.bytes, top);
      const step parts[] = {{at.begin, all[i].begin, at.height},
                            {all[i].begin, all[i].end, top},
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

/// Lays lifetimes out in one memory: the best that best fit over time, skylines and the lowest free places come to,
/// each with the large first, those that hold much for long, or those that live long. The places are improved by
/// repetition: of the 512 largest lifetimes, those that came to lie above the bound, `live_bytes`, are placed before
/// all others the next time (squeaky wheels, Joslin, Clements 1999). Whatever follows a layout as small as the bound is
/// left out, and all but best fit above 32,768 lifetimes. Those of training steps are some 0.3 % above the bound on one
/// device, and some 4 % on several. `least` in allocate/offsets.hpp goes on from here.
/// Throws `value_error` as `require_valid` does. Complexity: O(n²) and, above 32,768, O(n g) for g gaps.
inline allocation lay_out(std::span<const lifetime> all) {
  constexpr std::size_t max_lifetimes = 32768, large = 512, repetitions = 100;
  require_valid(all);
  std::vector<std::uint32_t> by_size(all.size());
  std::iota(by_size.begin(), by_size.end(), 0u);
  allocation best;
  detail::best_fit_over_time(all, best);
  best.bound = live_bytes(all);

  allocation made = best;
  const auto take = [&] {
    if (made.bytes < best.bytes) {
      best = made;
    }
  };
  const auto is_done = [&] { return best.bytes == best.bound || all.size() > max_lifetimes; };
  const auto larger = [&](auto a, auto b) { return all[a].bytes > all[b].bytes; };
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
    for (std::size_t i = 0; i < repetitions && least > best.bound; ++i) {
      first_fit(all, first, made);
      if (made.bytes < least) {
        least = made.bytes;
        lowest.assign(first.begin(), first.end());
      }
      std::stable_partition(first.begin(), first.end(),
                            [&](auto k) { return made.offsets[k] + all[k].bytes > best.bound; });
    }
    std::copy(lowest.begin(), lowest.end(), first.begin());
    first_fit(all, order, made);
    take();
  };
  const auto try_skyline = [&](auto&& before) {
    if (!is_done()) {
      detail::place_on_skyline(all, before, made);
      take();
    }
  };
  const auto holds_more = [&](auto a, auto b) { return area(all[a]) > area(all[b]); };
  const auto lives_longer = [&](auto a, auto b) { return length(all[a]) > length(all[b]); };
  try_skyline(larger);
  try_skyline(holds_more);
  try_skyline(lives_longer);
  try_order(larger);
  try_order(holds_more);
  try_order(lives_longer);
  return best;
}

} // namespace weft::allocate
