// SPDX-License-Identifier: BSL-1.0
/// Priority heaps over memory that the caller owns, for inner loops that must not allocate.
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

/// 4-ary heap operations on `heap[0, size)`. `Before` says which of two entries comes out first.
/// Complexity: O(log size) each.
template <class Entry, class Before>
struct heap_operations {
  [[no_unique_address]] Before before{};

  /// Inserts `entry`; the slot `heap[size]` must exist. The caller increments its size.
  constexpr void push(Entry* heap, std::size_t size, const Entry& entry) const {
    std::size_t hole = size;
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(entry, heap[parent])) {
        break;
      }
      heap[hole] = heap[parent];
      hole = parent;
    }
    heap[hole] = entry;
  }

  /// Removes `heap[0]` from a heap of `size > 0` entries. The caller decrements its size.
  constexpr void pop(Entry* heap, std::size_t size) const {
    const Entry moved = heap[--size];
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = 4 * hole + 1;
      if (first >= size) {
        break;
      }
      Entry* best = heap + first; // pointers, since with indices compilers compute each address anew
      if (first + 4 <= size) {
        Entry* const child = best;
        best = before(*best, child[1]) ? best : child + 1;
        best = before(*best, child[2]) ? best : child + 2;
        best = before(*best, child[3]) ? best : child + 3;
      } else {
        for (Entry* child = best + 1; child != heap + size; ++child) {
          best = before(*best, *child) ? best : child;
        }
      }
      if (!before(*best, moved)) {
        break;
      }
      heap[hole] = *best;
      hole = static_cast<std::size_t>(best - heap);
    }
    heap[hole] = moved;
  }
};

/// Something that has a number, such as a transfer, and when or how soon it comes out.
struct keyed_number {
  double key = 0;
  std::uint32_t number = 0;
};
/// The least key; of equal ones the least number.
struct least_key {
  constexpr bool operator()(const keyed_number& a, const keyed_number& b) const {
    return a.key < b.key || (a.key == b.key && a.number < b.number);
  }
};
inline constexpr heap_operations<keyed_number, least_key> keyed_heap{};

} // namespace weft
