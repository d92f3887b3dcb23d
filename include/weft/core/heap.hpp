// SPDX-License-Identifier: BSL-1.0
/// Priority heaps over memory that somebody else owns, for inner loops that must not allocate.
#pragma once

#include <cstddef>
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
      std::size_t best = first;
      if (first + 4 <= size) {
        best = before(heap[best], heap[first + 1]) ? best : first + 1;
        best = before(heap[best], heap[first + 2]) ? best : first + 2;
        best = before(heap[best], heap[first + 3]) ? best : first + 3;
      } else {
        for (std::size_t child = first + 1; child < size; ++child) {
          best = before(heap[best], heap[child]) ? best : child;
        }
      }
      if (!before(heap[best], moved)) {
        break;
      }
      heap[hole] = heap[best];
      hole = best;
    }
    heap[hole] = moved;
  }
};

} // namespace weft
