// SPDX-License-Identifier: BSL-1.0
/// A constant value that its copies share, in constant expressions, too.
#pragma once

#include "weft/core/config.hpp"

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft {

/// Copying it costs O(1) and allocates nothing; the value goes with the last copy. Copies may be in different threads.
/// A std::shared_ptr<const T> for constant expressions, for which the standard's is not before C++26.
template <class T>
class shared {
public:
  constexpr explicit shared(T value) : held_{new holder{std::move(value)}} {}
  constexpr shared(const shared& other) noexcept : held_{other.held_} {
    if (std::is_constant_evaluated()) {
      ++held_->constant_copies;
    } else {
      held_->copies.fetch_add(1, std::memory_order_relaxed);
    }
  }
  constexpr shared& operator=(shared other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  constexpr ~shared() {
    if (leave() == 1) {
      delete held_;
    }
  }

  constexpr const T& operator*() const { return held_->value; }
  constexpr const T* operator->() const { return &held_->value; }

private:
  struct holder {
    T value;
    std::atomic<std::size_t> copies{1};
    std::size_t constant_copies = 1; // no constant expression counts atomically, and none outlives its compiler
  };

  /// How many copies there were with this one.
  constexpr std::size_t leave() {
    if (std::is_constant_evaluated()) {
      return held_->constant_copies--;
    }
    return held_->copies.fetch_sub(1, std::memory_order_acq_rel);
  }

  holder* held_;
};

} // namespace weft
