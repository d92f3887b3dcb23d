// SPDX-License-Identifier: BSL-1.0
/// Sorting of contiguous elements: what std::sort and std::stable_sort do, for a third and less of g++'s work per call
/// site (docs/performance.md), in constant expressions too, and with the same order of ties everywhere.
#pragma once

#include "weft/core/buffer.hpp"

#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft {

namespace detail {

/// Shifts each element of `[from, last)` down to its place among those since `first`, which are in order before `from`.
template <class T, class Before>
constexpr void insert_each(T* first, T* from, T* last, Before& before) {
  for (T* next = from; next < last; ++next) {
    if (!before(*next, next[-1])) {
      continue;
    }
    T moved = std::move(*next);
    T* hole = next;
    do {
      *hole = std::move(hole[-1]);
    } while (--hole != first && before(moved, hole[-1]));
    *hole = std::move(moved);
  }
}

/// The heap sort that ends what quicksort would take n² steps for. It hardly ever runs, so it need not be long code.
template <class T, class Before>
[[gnu::cold, gnu::noinline]] constexpr void heap_sort(T* a, std::size_t n, Before& before) {
  using std::swap; // and those of T's namespace
  for (std::size_t start = n / 2, end = n; end > 1;) {
    if (start > 0) {
      --start;
    } else {
      --end;
      swap(a[0], a[end]);
    }
    T moved = std::move(a[start]);
    std::size_t hole = start;
    for (std::size_t child; (child = 2 * hole + 1) < end; hole = child) {
      child += child + 1 < end && before(a[child], a[child + 1]) ? 1u : 0u;
      if (!before(moved, a[child])) {
        break;
      }
      a[hole] = std::move(a[child]);
    }
    a[hole] = std::move(moved);
  }
}

/// Quicksort by the median of three until pieces have 16 elements.
template <class T, class Before>
constexpr void partition_until_small(T* first, T* last, int depth, Before& before) {
  using std::swap;
  while (last - first > 16) {
    if (depth-- == 0) {
      heap_sort(first, static_cast<std::size_t>(last - first), before);
      return;
    }
    T* a = first + 1;
    T* b = first + (last - first) / 2;
    T* c = last - 1;
    T* median = before(*a, *b) ? (before(*b, *c) ? b : before(*a, *c) ? c : a)
                               : before(*a, *c) ? a : before(*b, *c) ? c : b;
    swap(*first, *median);
    T* low = first + 1;
    T* high = last;
    for (;; ++low) { // the pivot's equals stop both sides, so neither leaves the piece
      while (before(*low, *first)) {
        ++low;
      }
      --high;
      while (before(*first, *high)) {
        --high;
      }
      if (!(low < high)) {
        break;
      }
      swap(*low, *high);
    }
    partition_until_small(low, last, depth, before);
    last = low;
  }
}

/// The order of a type's own `<`.
struct ascending {
  template <class T>
  constexpr bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
struct descending {
  template <class T>
  constexpr bool operator()(const T& a, const T& b) const {
    return b < a;
  }
};

} // namespace detail

inline constexpr detail::ascending ascending{};
inline constexpr detail::descending descending{};

/// Sorts `[first, last)` so that no element is `before` an earlier one; `before` is a strict weak order. The order of
/// equal elements is unspecified, but the same on every platform. Complexity: O(n log n); no allocation.
template <class T, class Before = detail::ascending>
constexpr void sort(T* first, T* last, Before before = {}) {
  if (last - first > 16) {
    const auto logarithm = static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first)));
    detail::partition_until_small(first, last, 2 * logarithm, before);
  }
  if (first != last) {
    detail::insert_each(first, first + 1, last, before);
  }
}

/// A vector, span or array.
template <class Elements, class Before = detail::ascending>
  requires requires(Elements& x) { x.data() + x.size(); }
constexpr void sort(Elements&& x, Before before = {}) {
  weft::sort(x.data(), x.data() + x.size(), std::move(before));
}

/// Sorts a vector and leaves one of equal elements.
template <class Vector>
constexpr void sort_unique(Vector& list) {
  if (list.empty()) {
    return;
  }
  weft::sort(list);
  auto kept = list.begin();
  for (auto next = kept + 1; next != list.end(); ++next) {
    if (!(*kept == *next) && ++kept != next) {
      *kept = std::move(*next);
    }
  }
  list.erase(kept + 1, list.end());
}

/// Sorts as `sort` does, and leaves equal elements in the order in which they were. `buffer` has as many elements.
/// Complexity: O(n log n); no allocation.
template <class T, class Before>
constexpr void stable_sort(T* first, T* last, T* buffer, Before before) {
  constexpr std::ptrdiff_t run = 16;
  const std::ptrdiff_t n = last - first;
  for (std::ptrdiff_t begin = 0; begin < n; begin += run) {
    detail::insert_each(first + begin, first + begin + 1, n - begin < run ? last : first + begin + run, before);
  }
  T* from = first;
  T* into = buffer;
  for (std::ptrdiff_t width = run; width < n; width *= 2) {
    T* out = into;
    for (std::ptrdiff_t begin = 0; begin < n; begin += 2 * width) {
      T* left = from + begin;
      T* const middle = from + (n - begin < width ? n : begin + width);
      T* right = middle;
      T* const end = from + (n - begin < 2 * width ? n : begin + 2 * width);
      while (left != middle || right != end) {
        const bool take_right = left == middle || (right != end && before(*right, *left));
        *out++ = std::move(take_right ? *right++ : *left++);
      }
    }
    std::swap(from, into);
  }
  if (from != first) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      first[i] = std::move(from[i]);
    }
  }
}

/// A vector, span or array, with memory of its own: n elements.
template <class Elements, class Before = detail::ascending>
  requires requires(Elements& x) { x.data() + x.size(); }
constexpr void stable_sort(Elements&& x, Before before = {}) {
  using element = std::remove_reference_t<decltype(*x.data())>;
  buffer<element> merged(x.size() > 16 ? x.size() : 0);
  weft::stable_sort(x.data(), x.data() + x.size(), merged.data(), before);
}

} // namespace weft
