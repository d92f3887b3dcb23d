// SPDX-License-Identifier: BSL-1.0
/// Items that wait to be looked at, each once, in the order of a number.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/// Numbers below `size`, each at most once, the one with the least key first; of equal ones any. Does not allocate.
class unique_queue {
public:
  explicit unique_queue(std::size_t size) : is_in_(size, 0) { heap_.resize(size + 1); }

  bool empty() const { return size_ == 0; }
  void add(std::uint32_t i, double key) {
    if (!is_in_[i]) {
      is_in_[i] = 1;
      operations.push(heap_.data(), size_++, {key, i});
    }
  }
  std::uint32_t pop() {
    const std::uint32_t i = heap_[0].number;
    operations.pop(heap_.data(), size_--);
    is_in_[i] = 0;
    return i;
  }
  /// Empties it, with f(item) for each.
  template <class F>
  void clear(F f) {
    for (; size_ > 0; --size_) {
      const std::uint32_t i = heap_[size_ - 1].number;
      is_in_[i] = 0;
      f(i);
    }
  }

private:
  struct lower {
    constexpr bool operator()(const keyed_number& a, const keyed_number& b) const { return a.key < b.key; }
  };
  static constexpr heap_operations<keyed_number, lower> operations{};

  buffer<keyed_number> heap_;
  std::size_t size_ = 0;
  std::vector<std::uint8_t> is_in_;
};

} // namespace weft
