// SPDX-License-Identifier: BSL-1.0
/// The base of all views: views of range-v3 that are views of the standard library as well.
#pragma once

#include "weft/core/ids.hpp"

#include <range/v3/range/concepts.hpp>
#include <range/v3/view/facade.hpp>

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <utility>

// Ranges of ids are views of range-v3, too, and their iterators outlive them.
template <>
inline constexpr bool ranges::enable_view<weft::id_range> = true;
template <>
inline constexpr bool ranges::enable_borrowed_range<weft::id_range> = true;

namespace weft::views {

/// A view whose iterators range-v3 makes from a cursor, and that adaptors of `std::ranges` take for theirs.
template <class Derived, ranges::cardinality Size = ranges::finite>
struct view : ranges::view_facade<Derived, Size>, std::ranges::view_base {};

/// A value computed once, kept for as long as a copy of the view lives. Random access; copies are cheap.
template <class T>
class kept : public view<kept<T>> {
public:
  kept() = default;
  /// A container of elements that lie side by side.
  template <class Elements>
  explicit kept(Elements elements) {
    auto all = std::make_shared<const Elements>(std::move(elements));
    shown_ = {all->data(), all->size()};
    owner_ = std::move(all);
  }
  /// Some of what another one keeps.
  kept(const kept& all, std::size_t first, std::size_t count)
      : owner_{all.owner_}, shown_{all.shown_.subspan(first, count)} {}

private:
  friend ranges::range_access;
  struct cursor {
    const T* at = nullptr;
    const T& read() const { return *at; }
    void next() { ++at; }
    void prev() { --at; }
    void advance(std::ptrdiff_t n) { at += n; }
    bool equal(const cursor& other) const { return at == other.at; }
    std::ptrdiff_t distance_to(const cursor& other) const { return other.at - at; }
  };
  cursor begin_cursor() const { return {shown_.data()}; }
  cursor end_cursor() const { return {shown_.data() + shown_.size()}; }

  std::shared_ptr<const void> owner_;
  std::span<const T> shown_;
};

} // namespace weft::views
