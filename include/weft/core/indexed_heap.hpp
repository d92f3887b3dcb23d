// SPDX-License-Identifier: BSL-1.0
/// A priority queue of numbered things whose keys change.
#pragma once

#include "weft/core/ids.hpp"

#include <vector>

namespace weft {

/// Of the ids `0 … capacity - 1` each is in it at most once, with a key; the least key comes first, of equal ones the
/// least id. Complexity: O(log size) per change, which does not allocate.
class indexed_heap {
public:
  constexpr void reset(std::size_t capacity) {
    heap_.clear();
    heap_.reserve(capacity);
    place_.assign(capacity, none);
    key_.assign(capacity, 0);
  }
  constexpr bool empty() const { return heap_.empty(); }
  constexpr std::uint32_t first() const { return heap_.front(); }
  constexpr double first_key() const { return key_[heap_.front()]; }
  constexpr bool contains(std::uint32_t id) const { return place_[id] != none; }

  /// Inserts id, or changes its key.
  constexpr void set(std::uint32_t id, double key) {
    key_[id] = key;
    if (place_[id] == none) {
      place_[id] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(id);
    }
    sift_down(sift_up(place_[id]));
  }
  constexpr void remove(std::uint32_t id) {
    const std::uint32_t hole = place_[id];
    if (hole == none) {
      return;
    }
    place_[id] = none;
    const std::uint32_t moved = heap_.back();
    heap_.pop_back();
    if (moved != id) {
      heap_[hole] = moved;
      place_[moved] = hole;
      sift_down(sift_up(hole));
    }
  }

private:
  constexpr bool before(std::uint32_t a, std::uint32_t b) const {
    return key_[a] < key_[b] || (key_[a] == key_[b] && a < b);
  }
  constexpr void put(std::size_t at, std::uint32_t id) {
    heap_[at] = id;
    place_[id] = static_cast<std::uint32_t>(at);
  }
  constexpr std::size_t sift_up(std::size_t at) {
    const std::uint32_t id = heap_[at];
    for (; at > 0 && before(id, heap_[(at - 1) / 2]); at = (at - 1) / 2) {
      put(at, heap_[(at - 1) / 2]);
    }
    put(at, id);
    return at;
  }
  constexpr void sift_down(std::size_t at) {
    const std::uint32_t id = heap_[at];
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      child += child + 1 < heap_.size() && before(heap_[child + 1], heap_[child]);
      if (!before(heap_[child], id)) {
        break;
      }
      put(at, heap_[child]);
      at = child;
    }
    put(at, id);
  }

  std::vector<std::uint32_t> heap_;
  std::vector<std::uint32_t> place_; // per id; `none` if it is not in it
  std::vector<double> key_;          // per id
};

} // namespace weft
