// SPDX-License-Identifier: BSL-1.0
/// Dense 32-bit ids of ops, tensors, devices, links and colocation groups, and ranges of them.
#pragma once

#include "weft/core/config.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>

namespace weft {

/// Ids are plain integers, so that any adjacency structure over integers is a graph and any
/// contiguous array over ops is a column. The aliases say which number space is meant.
using op_id = std::uint32_t;
using tensor_id = std::uint32_t;
using device_id = std::uint32_t;
using link_id = std::uint32_t;
using group_id = std::uint32_t;

/// An amount of memory or data in bytes.
using byte_count = std::uint64_t;
/// The most that the bytes of all ops and tensors together may be, so that no sum of some of them overflows.
inline constexpr byte_count max_total_bytes = (byte_count{1} << 62) - 1;

/// "No such thing": an op without a group, an op not placed yet, …
inline constexpr std::uint32_t none = 0xffff'ffffu;

/// A number as an id; `none` if it is too large, or negative, to be one.
template <class T>
constexpr std::uint32_t to_id(const T& x) {
  if constexpr (std::integral<T> && sizeof(T) > sizeof(std::uint32_t)) {
    return static_cast<std::make_unsigned_t<T>>(x) < none ? static_cast<std::uint32_t>(x) : none;
  } else {
    return static_cast<std::uint32_t>(x);
  }
}

/// The ids `first, first + 1, …, last - 1`.
class id_range : public std::ranges::view_interface<id_range> {
public:
  class iterator {
  public:
    using value_type = std::uint32_t;
    using difference_type = std::int64_t;
    using iterator_category = std::random_access_iterator_tag;
    using reference = std::uint32_t;
    using pointer = void;

    constexpr iterator() = default;
    constexpr explicit iterator(std::uint32_t value) : value_{value} {}
    constexpr std::uint32_t operator*() const { return value_; }
    constexpr std::uint32_t operator[](difference_type n) const { return static_cast<std::uint32_t>(value_ + n); }
    constexpr iterator& operator++() {
      ++value_;
      return *this;
    }
    constexpr iterator operator++(int) { return iterator{value_++}; }
    constexpr iterator& operator--() {
      --value_;
      return *this;
    }
    constexpr iterator operator--(int) { return iterator{value_--}; }
    constexpr iterator& operator+=(difference_type n) {
      value_ = static_cast<std::uint32_t>(value_ + n);
      return *this;
    }
    constexpr iterator& operator-=(difference_type n) { return *this += -n; }
    friend constexpr iterator operator+(iterator i, difference_type n) { return i += n; }
    friend constexpr iterator operator+(difference_type n, iterator i) { return i += n; }
    friend constexpr iterator operator-(iterator i, difference_type n) { return i -= n; }
    friend constexpr difference_type operator-(iterator a, iterator b) {
      return static_cast<difference_type>(a.value_) - static_cast<difference_type>(b.value_);
    }
    friend constexpr bool operator==(iterator, iterator) = default;
    friend constexpr auto operator<=>(iterator, iterator) = default;

  private:
    std::uint32_t value_ = 0;
  };

  constexpr id_range() = default;
  constexpr id_range(std::uint32_t first, std::uint32_t last) : first_{first}, last_{last} {}
  constexpr iterator begin() const { return iterator{first_}; }
  constexpr iterator end() const { return iterator{last_}; }
  constexpr std::size_t size() const { return last_ - first_; }

private:
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
};

/// The ids `0, 1, …, count - 1`.
constexpr id_range ids(std::size_t count) { return {0, static_cast<std::uint32_t>(count)}; }

} // namespace weft
