// SPDX-License-Identifier: BSL-1.0
/// Reusable scratch memory, so that an algorithm that runs again does not allocate again.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/explained.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft {

/// An element type of scratch buffers.
template <class T>
concept scratch_element = std::same_as<T, double> || std::same_as<T, std::uint8_t> || std::same_as<T, std::uint32_t> ||
                          std::same_as<T, std::uint64_t>;

namespace why_not {
template <class T>
struct scratch_element {
  static_assert(weft::scratch_element<T>,
                "weft: a workspace lends buffers of double, std::uint8_t, std::uint32_t and std::uint64_t only");
};
} // namespace why_not

namespace must_be {
template <class T>
concept scratch_element = weft::scratch_element<T> || explained<why_not::scratch_element<T>>;
} // namespace must_be

namespace detail {

/// Buffers of one element type that nobody borrows now, the last one that came back first.
template <class T>
class scratch_pool {
public:
  struct entry {
    buffer<T> elements = {};
    entry* next = nullptr;
  };

  constexpr scratch_pool() = default;
  constexpr scratch_pool(scratch_pool&& other) noexcept : first_{std::exchange(other.first_, nullptr)} {}
  constexpr scratch_pool& operator=(scratch_pool&& other) noexcept {
    std::swap(first_, other.first_);
    return *this;
  }
  constexpr ~scratch_pool() {
    while (first_ != nullptr) {
      delete take();
    }
  }

  constexpr entry* take() { return first_ == nullptr ? new entry : std::exchange(first_, first_->next); }
  constexpr void give_back(entry* e) {
    e->next = first_;
    first_ = e;
  }

private:
  entry* first_ = nullptr;
};

} // namespace detail

/// Pools of buffers for the element types that algorithms need. A caller may keep one between solves; an
/// algorithm takes what it needs and gives it back by scope. Not thread-safe: one workspace per thread.
class workspace : detail::scratch_pool<double>,
                  detail::scratch_pool<std::uint8_t>,
                  detail::scratch_pool<std::uint32_t>,
                  detail::scratch_pool<std::uint64_t> {
public:
  /// A borrowed buffer of `n` elements; goes back to the pool when it leaves its scope.
  template <class T>
  class scratch : public buffer<T> {
  public:
    constexpr scratch(detail::scratch_pool<T>& home, std::size_t n, T value) : home_{&home}, entry_{home.take()} {
      static_cast<buffer<T>&>(*this) = std::move(entry_->elements);
      this->assign(n, value);
    }
    constexpr scratch(scratch&& other) noexcept
        : buffer<T>{std::move(other)}, home_{other.home_}, entry_{std::exchange(other.entry_, nullptr)} {}
    scratch& operator=(scratch&&) = delete;
    constexpr ~scratch() {
      if (entry_ != nullptr) {
        entry_->elements = std::move(*this);
        home_->give_back(entry_);
      }
    }

  private:
    detail::scratch_pool<T>* home_;
    typename detail::scratch_pool<T>::entry* entry_;
  };

  /// Borrows `n` elements of type T, all equal to `value`. T is `double`, `std::uint8_t`, `std::uint32_t` or
  /// `std::uint64_t`.
  template <must_be::scratch_element T>
  constexpr scratch<T> take(std::size_t n = 0, T value = {}) {
    return {static_cast<detail::scratch_pool<T>&>(*this), n, value};
  }
};

} // namespace weft
