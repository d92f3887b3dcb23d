// SPDX-License-Identifier: BSL-1.0
/// Lifetimes of buffers, and the live bytes over time that follow from them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::allocate {

/// A buffer: `bytes` that lie together, at one offset, during `[begin, end)`. Time is in any unit; only its order
/// counts. A buffer without bytes, or one that ends no later than it begins, needs no place.
struct lifetime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  byte_count bytes = 0;
  byte_count alignment = 1; ///< the offset is a multiple of it; at least 1

  constexpr bool needs_place() const { return bytes > 0 && begin < end; }
  friend constexpr bool operator==(const lifetime&, const lifetime&) = default;
};

/// The length of a lifetime, and its product with the bytes; rounded, for comparing.
constexpr double length(const lifetime& x) { return static_cast<double>(x.end) - static_cast<double>(x.begin); }
constexpr double area(const lifetime& x) { return length(x) * static_cast<double>(x.bytes); }

/// The largest sum of bytes and alignments that is taken: far from where sums overflow.
inline constexpr byte_count max_bytes = byte_count{1} << 60;

/// Throws `value_error` if an alignment is 0, or if bytes and alignments add up to more than `max_bytes`.
inline void require_valid(std::span<const lifetime> all) {
  byte_count sum = 0;
  for (const auto i : ids(all.size())) {
    const auto refuse = [&](const char* why) { throw value_error("lifetime " + std::to_string(i), why); };
    if (all[i].alignment == 0) {
      refuse("its alignment is 0; give 1 if any offset will do");
    }
    const byte_count most = max_bytes - sum;
    if (all[i].bytes > most || all[i].alignment > most - all[i].bytes) {
      refuse("bytes and alignments add up to more than 2^60");
    }
    sum += all[i].bytes + all[i].alignment;
  }
}

/// The least multiple of `alignment` that is no less.
constexpr byte_count aligned(byte_count offset, byte_count alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

/// The beginnings (first) and ends of the lifetimes that need a place, in order; of those at one moment the ends come
/// first: what ends makes room for what begins. Calls `begins(i)` and `ends(i)`. Complexity: O(n log n).
template <class Begins, class Ends>
constexpr void sweep(std::span<const lifetime> all, Begins&& begins, Ends&& ends) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> starts, stops;
  for (const auto i : ids(all.size())) {
    if (all[i].needs_place()) {
      starts.push_back({all[i].begin, i});
      stops.push_back({all[i].end, i});
    }
  }
  std::sort(starts.begin(), starts.end());
  std::sort(stops.begin(), stops.end());
  auto stop = stops.begin();
  for (const auto& [begin, i] : starts) {
    for (; stop->first <= begin; ++stop) {
      ends(stop->second);
    }
    begins(i);
  }
  for (; stop != stops.end(); ++stop) {
    ends(stop->second);
  }
}

/// The most bytes that live at one moment: no memory can be smaller. Complexity: O(n log n).
constexpr byte_count live_bytes(std::span<const lifetime> all) {
  byte_count now = 0, most = 0;
  sweep(
    all, [&](std::uint32_t i) { most = std::max(most, now += all[i].bytes); },
    [&](std::uint32_t i) { now -= all[i].bytes; });
  return most;
}

/// Buffers that lie in the place of others, the first of each: that one then lives as long as all that lie there, and
/// these need no place. `below[i]` is the buffer in whose place i lies, or `none`. Complexity: O(n).
inline std::vector<std::uint32_t> join_in_place(std::span<const std::uint32_t> below, std::vector<lifetime>& all) {
  std::vector<std::uint32_t> first(below.size(), none), chain;
  for (const auto i : ids(below.size())) {
    auto k = i;
    for (; first[k] == none && below[k] != none; k = below[k]) {
      chain.push_back(k);
    }
    first[k] = first[k] == none ? k : first[k];
    for (; !chain.empty(); chain.pop_back()) {
      const auto over = chain.back();
      first[over] = first[k];
      all[first[k]].end = std::max(all[first[k]].end, all[over].end);
      all[over].bytes = 0;
    }
  }
  return first;
}

/// The end of the highest buffer. Precondition: an offset for each.
constexpr byte_count height(std::span<const lifetime> all, std::span<const byte_count> offsets) {
  byte_count most = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    most = all[i].needs_place() ? std::max(most, offsets[i] + all[i].bytes) : most;
  }
  return most;
}

} // namespace weft::allocate
