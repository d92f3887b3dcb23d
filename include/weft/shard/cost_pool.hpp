// SPDX-License-Identifier: BSL-1.0
/// A store of arrays of costs in which equal arrays are kept once.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/block_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::shard {

/// Arrays by dense ids, in the order in which they were first added. Edges of a model that do the same reshard alike,
/// so that most matrices of a problem are equal to others.
class cost_pool {
public:
  /// The id of an array of these values; arrays with other tags differ. Complexity: linear in the values, expected.
  std::uint32_t add(std::span<const std::int64_t> values, std::size_t tag = 0) {
    if (2 * (size() + 2) > slots_.size()) {
      grow();
    }
    const auto hash = hash_of(values, tag);
    for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] == none) {
        slots_[i] = static_cast<std::uint32_t>(size());
        hashes_.push_back(hash);
        tags_.push_back(tag);
        std::copy(values.begin(), values.end(), arrays_.add(values.size()));
        return slots_[i];
      }
      const auto have = (*this)[slots_[i]];
      if (hashes_[slots_[i]] == hash && tags_[slots_[i]] == tag &&
          std::equal(have.begin(), have.end(), values.begin(), values.end())) {
        return slots_[i];
      }
    }
  }

  std::size_t size() const { return hashes_.size(); }
  /// The values of all arrays together.
  std::size_t num_values() const { return arrays_.num_values(); }
  std::span<const std::int64_t> operator[](std::uint32_t id) const { return arrays_[id]; }

private:
  static std::uint64_t hash_of(std::span<const std::int64_t> values, std::size_t tag) {
    std::uint64_t hash = rng::mix(values.size() + 1) + tag;
    for (const auto x : values) {
      hash = rng::mix(hash + 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(x));
    }
    return hash;
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), none);
    for (const auto id : ids(size())) {
      std::size_t i = hashes_[id] & (slots_.size() - 1);
      while (slots_[i] != none) {
        i = (i + 1) & (slots_.size() - 1);
      }
      slots_[i] = id;
    }
  }

  detail::block_store<std::int64_t> arrays_;
  buffer<std::uint64_t> hashes_;
  buffer<std::size_t> tags_;
  buffer<std::uint32_t> slots_; ///< open addressing; a power of two
};

} // namespace weft::shard
