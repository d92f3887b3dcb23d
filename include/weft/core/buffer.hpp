// SPDX-License-Identifier: BSL-1.0
/// A growing array of simple values, for what algorithms keep to themselves: std::vector at an eighth of g++'s work
/// per element type (docs/performance.md).
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft {

/// Has what it shares with `std::vector` under the same names and with the same meaning. Iterators are pointers.
/// Places without an element hold some value of T, too, such as one that was removed: T can be made from nothing and
/// assigned, and what an element owns may live on until the place is used again.
template <class T>
class buffer {
public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr buffer() = default;
  // These are complete before they assign, so that what they own is given back if an element throws.
  constexpr explicit buffer(std::size_t n, const T& value = T{}) : buffer{} { assign(n, value); }
  constexpr buffer(const buffer& other) : buffer{} { append(other.begin(), other.end()); }
  constexpr buffer(buffer&& other) noexcept { swap(other); }
  constexpr buffer& operator=(buffer other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~buffer() { delete[] first_; }

  constexpr std::size_t size() const { return size_; }
  constexpr std::size_t capacity() const { return capacity_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return first_; }
  constexpr const T* data() const { return first_; }
  constexpr T* begin() { return first_; }
  constexpr const T* begin() const { return first_; }
  constexpr T* end() { return first_ + size_; }
  constexpr const T* end() const { return first_ + size_; }
  constexpr T& operator[](std::size_t i) {
    WEFT_ASSERT(i < size_);
    return first_[i];
  }
  constexpr const T& operator[](std::size_t i) const {
    WEFT_ASSERT(i < size_);
    return first_[i];
  }
  constexpr T& front() { return (*this)[0]; }
  constexpr const T& front() const { return (*this)[0]; }
  constexpr T& back() { return (*this)[size_ - 1]; }
  constexpr const T& back() const { return (*this)[size_ - 1]; }

  constexpr void clear() { size_ = 0; }
  constexpr void reserve(std::size_t n) {
    if (n > capacity_) {
      move_to(n);
    }
  }
  constexpr void shrink_to_fit() {
    if (size_ < capacity_) {
      move_to(size_);
    }
  }
  constexpr void push_back(T value) {
    if (size_ == capacity_) {
      grow(size_ + 1);
    }
    first_[size_++] = std::move(value);
  }
  template <class... Arguments>
  constexpr void emplace_back(Arguments&&... arguments) {
    push_back(T{std::forward<Arguments>(arguments)...});
  }
  constexpr void pop_back() {
    WEFT_ASSERT(size_ > 0);
    --size_;
  }
  constexpr void resize(std::size_t n, T value = T{}) {
    if (n > capacity_) {
      grow(n);
    }
    for (; size_ < n; ++size_) {
      first_[size_] = value;
    }
    size_ = n;
  }
  constexpr void assign(std::size_t n, T value) {
    clear();
    resize(n, std::move(value));
  }
  /// Elements of another array than this.
  constexpr void assign(const T* from, const T* to) {
    clear();
    append(from, to);
  }
  constexpr void append(const T* from, const T* to) {
    const auto n = static_cast<std::size_t>(to - from);
    if (size_ + n > capacity_) {
      grow(size_ + n);
    }
    for (; from != to; ++from) {
      first_[size_++] = *from;
    }
  }
  /// Makes room for one element before `at`.
  constexpr void insert(const T* at, T value) {
    const auto i = static_cast<std::size_t>(at - first_);
    push_back(value);
    for (std::size_t k = size_ - 1; k > i; --k) {
      first_[k] = std::move(first_[k - 1]);
    }
    first_[i] = std::move(value);
  }
  constexpr void erase(const T* from, const T* to) {
    T* into = first_ + (from - first_);
    for (T* next = first_ + (to - first_); next != end(); ++next) {
      *into++ = std::move(*next);
    }
    size_ = static_cast<std::size_t>(into - first_);
  }
  constexpr void erase(const T* at) { erase(at, at + 1); }
  constexpr void swap(buffer& other) noexcept {
    T* const first = other.first_;
    other.first_ = first_;
    first_ = first;
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  friend constexpr bool operator==(const buffer& a, const buffer& b) {
    if (a.size_ != b.size_) {
      return false;
    }
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.first_[i] == b.first_[i])) {
        return false;
      }
    }
    return true;
  }

private:
  constexpr void grow(std::size_t n) { move_to(n > 2 * capacity_ ? n : 2 * capacity_); }
  constexpr void move_to(std::size_t capacity) {
    T* const moved = new T[capacity];
    for (std::size_t i = 0; i < size_; ++i) {
      moved[i] = std::move(first_[i]);
    }
    delete[] first_;
    first_ = moved;
    capacity_ = capacity;
  }

  T* first_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace weft
