// SPDX-License-Identifier: BSL-1.0
/// Arrays by dense ids in blocks of memory that never move, so that many of them do not need twice their memory while
/// they grow, nor one large piece of it.
#pragma once

#include "weft/core/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::shard::detail {

template <class T>
class block_store {
public:
  /// Adds an array of so many values, all 0, and returns its place.
  T* add(std::size_t size) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < size) {
      blocks_.emplace_back();
      blocks_.back().reserve(std::max(size, std::min(num_values_, largest_block)));
    }
    auto& block = blocks_.back();
    const auto begin = block.size();
    places_.push_back({static_cast<std::uint32_t>(blocks_.size() - 1), static_cast<std::uint32_t>(begin), size});
    block.resize(begin + size);
    num_values_ += size;
    return block.data() + begin;
  }

  std::size_t size() const { return places_.size(); }
  /// The values of all arrays together.
  std::size_t num_values() const { return num_values_; }
  std::span<const T> operator[](std::size_t id) const {
    const auto& at = places_[id];
    return {blocks_[at.block].data() + at.begin, at.size};
  }
  std::span<T> operator[](std::size_t id) {
    const auto& at = places_[id];
    return {blocks_[at.block].data() + at.begin, at.size};
  }

private:
  static constexpr std::size_t largest_block = 1 << 15;

  struct place {
    std::uint32_t block;
    std::uint32_t begin; ///< in the block; an array larger than a block has one of its own
    std::size_t size;
  };
  std::vector<buffer<T>> blocks_;
  buffer<place> places_; ///< by array
  std::size_t num_values_ = 0;
};

} // namespace weft::shard::detail
