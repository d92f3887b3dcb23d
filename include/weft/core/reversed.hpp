// SPDX-License-Identifier: BSL-1.0
/// Walking over contiguous elements from the last to the first: std::views::reverse for a seventh of g++'s work.
#pragma once

#include "weft/core/config.hpp"

#include <type_traits>

namespace weft {

/// The elements of `[first, last)`, the last one first.
template <class T>
class reversed_elements {
public:
  class iterator {
  public:
    constexpr explicit iterator(T* next) : next_{next} {}
    constexpr T& operator*() const { return next_[-1]; }
    constexpr iterator& operator++() { return --next_, *this; }
    constexpr bool operator!=(const iterator& other) const { return next_ != other.next_; }

  private:
    T* next_; // one behind
  };

  constexpr reversed_elements(T* first, T* last) : first_{first}, last_{last} {}
  constexpr iterator begin() const { return iterator{last_}; }
  constexpr iterator end() const { return iterator{first_}; }

private:
  T* first_;
  T* last_;
};

/// Of a span, or of a vector or array that outlives the loop: no temporary that owns its elements.
/// ```
/// for (const op_id v : reversed(problem.topological_order())) …
/// ```
template <class Elements>
  requires(requires(Elements& x) { x.data() + x.size(); } &&
           (std::is_lvalue_reference_v<Elements> || std::is_trivially_copyable_v<Elements>))
constexpr auto reversed(Elements&& x) {
  return reversed_elements{x.data(), x.data() + x.size()};
}

} // namespace weft
