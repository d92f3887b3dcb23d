// SPDX-License-Identifier: BSL-1.0
/// Reusable scratch memory, so that an algorithm that runs again does not allocate again.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/explained.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

/// What buffers are made of.
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

/// Pools of buffers for the element types that algorithms need. A caller may keep one between solves; an
/// algorithm takes what it needs and gives it back by scope. Not thread-safe: one workspace per thread.
class workspace {
  template <class T>
  using pool = std::vector<std::vector<T>>;

public:
  /// A borrowed buffer of `n` elements; goes back to the pool when it leaves its scope.
  template <class T>
  class scratch {
  public:
    constexpr scratch(pool<T>& home, std::size_t n, T value) : home_{&home} {
      if (!home.empty()) {
        buffer_ = std::move(home.back());
        home.pop_back();
      }
      buffer_.assign(n, value);
    }
    constexpr scratch(scratch&& other) noexcept
        : home_{std::exchange(other.home_, nullptr)}, buffer_{std::move(other.buffer_)} {}
    scratch& operator=(scratch&&) = delete;
    constexpr ~scratch() {
      if (home_ != nullptr) {
        home_->push_back(std::move(buffer_));
      }
    }

    constexpr T& operator[](std::size_t i) { return buffer_[i]; }
    constexpr const T& operator[](std::size_t i) const { return buffer_[i]; }
    constexpr std::size_t size() const { return buffer_.size(); }
    constexpr bool empty() const { return buffer_.empty(); }
    constexpr T* data() { return buffer_.data(); }
    constexpr auto begin() { return buffer_.begin(); }
    constexpr auto end() { return buffer_.end(); }
    constexpr auto begin() const { return buffer_.begin(); }
    constexpr auto end() const { return buffer_.end(); }
    constexpr void push_back(T value) { buffer_.push_back(value); }
    constexpr void clear() { buffer_.clear(); }

  private:
    pool<T>* home_;
    std::vector<T> buffer_;
  };

  /// Borrows `n` elements of type T, all equal to `value`. T is `double`, `std::uint8_t`, `std::uint32_t` or `std::uint64_t`.
  template <must_be::scratch_element T>
  constexpr scratch<T> take(std::size_t n = 0, T value = {}) {
    return {std::get<pool<T>>(pools_), n, value};
  }

private:
  std::tuple<pool<double>, pool<std::uint8_t>, pool<std::uint32_t>, pool<std::uint64_t>> pools_;
};

} // namespace weft
