// SPDX-License-Identifier: BSL-1.0
/// Sorting ids by a number that spreads evenly, as ranks and start times do.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/core/workspace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::partition::list {

/// Keys and ties that several strategies have in common, which therefore share one sort.
struct largest_first {
  const std::vector<double>& of; ///< per id
  constexpr double operator()(std::uint32_t i) const { return -of[i]; }
};
struct in_given_order {
  constexpr bool operator()(std::uint32_t, std::uint32_t) const { return false; }
};

/// Sorts `order` by ascending `key(i)`, which must be finite; ids with equal keys by `before(a, b)`, and if that does
/// not tell either, they stay in their order. Deals the ids to a quarter as many buckets of equal width, then sorts
/// each. Asks for each key once, in the given order, as keys may be all over memory.
/// Complexity: O(n) if the keys spread evenly, O(n log n) in any case. Memory: 21 bytes per id, from `scratch`.
template <class Key, class Before>
constexpr void sort_by_key(std::span<std::uint32_t> order, Key key, Before before, workspace& scratch) {
  const std::size_t n = order.size();
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const double x = key(a);
    const double y = key(b);
    return x != y ? x < y : before(a, b);
  };
  if (n <= 16) {
    weft::stable_sort(order.data(), order.data() + n, order.data(), less);
    return;
  }
  auto keys = scratch.take<double>(n);
  double low = key(order[0]);
  double high = low;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = keys[i] = key(order[i]);
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  auto dealt = scratch.take<std::uint32_t>(n);
  const std::size_t buckets = n / 4;
  const double scale = static_cast<double>(buckets - 1) / (high - low);
  if (!(scale > 0 && scale <= 1e300)) { // all are equal, or as good as
    weft::stable_sort(order.data(), order.data() + n, dealt.data(), less);
    return;
  }
  const auto bucket_of = [&](double x) { // whatever the rounding, a larger key has no smaller bucket
    const auto b = static_cast<std::uint32_t>((x - low) * scale);
    return b < buckets ? b : static_cast<std::uint32_t>(buckets - 1);
  };
  auto first = scratch.take<std::uint32_t>(buckets + 1);
  for (const double x : keys) {
    ++first[bucket_of(x) + 1];
  }
  for (std::size_t b = 0; b < buckets; ++b) {
    first[b + 1] += first[b];
  }
  auto dealt_keys = scratch.take<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t place = first[bucket_of(keys[i])]++;
    dealt[place] = order[i];
    dealt_keys[place] = keys[i];
  }
  std::size_t begin = 0;
  for (std::size_t b = 0; b < buckets; ++b) { // after dealing, `first` says where each ends
    const std::size_t end = first[b];
    if (end - begin > 16) {
      weft::stable_sort(dealt.data() + begin, dealt.data() + end, order.data() + begin, less);
    } else {
      for (std::size_t i = begin + 1; i < end; ++i) { // insertion sort of ids with their keys
        const std::uint32_t moved = dealt[i];
        const double x = dealt_keys[i];
        std::size_t hole = i;
        for (; hole > begin && (x != dealt_keys[hole - 1] ? x < dealt_keys[hole - 1] : before(moved, dealt[hole - 1]));
             --hole) {
          dealt[hole] = dealt[hole - 1];
          dealt_keys[hole] = dealt_keys[hole - 1];
        }
        dealt[hole] = moved;
        dealt_keys[hole] = x;
      }
    }
    begin = end;
  }
  std::copy(dealt.begin(), dealt.end(), order.begin());
}

} // namespace weft::partition::list
