// SPDX-License-Identifier: BSL-1.0
/// Two queues of ops by rank: a bit set where the rank alone decides, a heap where another key comes first.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::partition::list {

/// No offset: the start alone is the score.
struct no_offset {};

/// A set of ranks below `n` that tells its smallest. Bits in words, and bits that tell which words are not 0, and so
/// on. O(log n / 6) each, without branches that depend on the data. Memory: n / 7.9 bytes, when it is first used.
class rank_set {
public:
  constexpr explicit rank_set(std::size_t n = 0) : n_{n} {}

  constexpr bool empty() const { return size_ == 0; }
  /// The smallest rank. Precondition: not empty.
  constexpr std::uint32_t top() const {
    std::size_t word = 0;
    for (std::size_t l = levels_.size(); l-- > 0;) {
      word = word * 64 + static_cast<std::size_t>(std::countr_zero(levels_[l][word]));
    }
    return static_cast<std::uint32_t>(word);
  }
  constexpr double key() const { return 0; }

  /// Precondition: it is not in the set.
  constexpr void push(double, std::uint32_t rank) {
    if (levels_.empty()) {
      std::size_t words = n_;
      do {
        words = (words + 63) / 64;
        levels_.push_back(buffer<std::uint64_t>(words, 0));
      } while (words > 1);
    }
    std::size_t at = rank;
    for (auto& level : levels_) {
      level[at / 64] |= std::uint64_t{1} << (at % 64);
      at /= 64;
    }
    ++size_;
  }

  /// Removes the smallest.
  constexpr void pop() {
    std::size_t at = top();
    for (auto& level : levels_) {
      level[at / 64] &= ~(std::uint64_t{1} << (at % 64));
      if (level[at / 64] != 0) {
        break;
      }
      at /= 64;
    }
    --size_;
  }

private:
  std::size_t n_ = 0;
  std::size_t size_ = 0;
  buffer<buffer<std::uint64_t>> levels_; // the last has one word
};

/// A heap of ranks, the smallest key first, ties to the smaller rank. O(log size) each.
class rank_heap {
public:
  constexpr explicit rank_heap(std::size_t = 0) {}

  constexpr bool empty() const { return entries_.empty(); }
  constexpr std::uint32_t top() const { return entries_[0].number; }
  constexpr double key() const { return entries_[0].key; }
  constexpr void push(double key, std::uint32_t rank) {
    entries_.push_back({});
    keyed_heap.push(entries_.data(), entries_.size() - 1, {key, rank});
  }
  constexpr void pop() {
    keyed_heap.pop(entries_.data(), entries_.size());
    entries_.pop_back();
  }

private:
  buffer<keyed_number> entries_;
};

} // namespace weft::partition::list
