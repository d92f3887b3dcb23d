// SPDX-License-Identifier: BSL-1.0
/// Numbers for names and other keys: what hash maps are used for, at a seventh of g++'s work per type of key
/// (docs/performance.md).
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/random.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace weft {

namespace detail {

constexpr std::uint64_t hash_of(std::uint64_t key) { return rng::mix(key); }
/// FNV-1a.
constexpr std::uint64_t hash_of(std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return rng::mix(hash);
}

} // namespace detail

/// Numbers keys 0, 1, … in the order in which they first came, so that walking over them is the same everywhere; what
/// else is to be known of a key lies in an array of the user's, by number. Keys are strings, views of strings that
/// outlive this, or unsigned numbers. Complexity: amortised O(1) per call, plus reading the string.
template <class Key>
class numbering {
public:
  std::size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  const Key& operator[](std::size_t number) const { return keys_[number]; }
  const Key* begin() const { return keys_.begin(); }
  const Key* end() const { return keys_.end(); }

  /// The number of a key; `none` if it never came.
  std::uint32_t find(const Key& key) const { return slots_.empty() ? none : slots_[slot_of(key)]; }
  bool contains(const Key& key) const { return find(key) != none; }

  /// The number of a key, which is the next one if it is new.
  std::uint32_t number(Key key) {
    if (2 * keys_.size() >= slots_.size()) {
      widen();
    }
    std::uint32_t& slot = slots_[slot_of(key)];
    if (slot == none) {
      keys_.push_back(std::move(key));
      slot = static_cast<std::uint32_t>(keys_.size() - 1);
    }
    return slot;
  }
  /// Whether the key is new; it has a number then.
  bool insert(Key key) {
    const std::size_t before = size();
    number(std::move(key));
    return size() > before;
  }

  void clear() {
    keys_.clear();
    slots_.clear();
  }

private:
  /// Where the number of the key is, or would be. There is a free slot.
  std::size_t slot_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = detail::hash_of(key) & mask;
    while (slots_[i] != none && !(keys_[slots_[i]] == key)) {
      i = (i + 1) & mask;
    }
    return i;
  }
  void widen() {
    const std::size_t slots = slots_.empty() ? 16 : 2 * slots_.size();
    slots_.assign(slots, none);
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      slots_[slot_of(keys_[i])] = i; // keys differ: a free slot
    }
  }

  buffer<Key> keys_;
  buffer<std::uint32_t> slots_; ///< a power of two of them, at most half in use; `none`: free
};

} // namespace weft
