// SPDX-License-Identifier: BSL-1.0
/// Arithmetic of small tensors whose elements are known before a model runs.
#pragma once

#include "weft/ops/known_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weft::ops::known {

namespace detail {

template <class F, class... Others>
maybe map_alike(const F& f, const known_tensor& x, const Others&... others) {
  known_tensor made{.dims = x.dims, .is = x.is};
  const bool is_known = std::visit(
    [&](const auto& first) {
      using list = std::decay_t<decltype(first)>;
      using number = typename list::value_type;
      using result = typename decltype(f(number{}, std::get<list>(others.elements)[0]...))::value_type;
      std::vector<result> all;
      for (std::size_t i = 0; i < first.size(); ++i) {
        const std::optional<result> y = f(first[i], std::get<list>(others.elements)[i]...);
        if (!y) {
          return false;
        }
        if constexpr (std::is_same_v<result, double>) {
          all.push_back(rounded(*y, x.is));
        } else {
          all.push_back(*y);
        }
      }
      made.is = std::is_same_v<result, number> ? x.is : known_tensor::format::truth;
      made.elements = std::move(all);
      return true;
    },
    x.elements);
  return is_known ? maybe{std::move(made)} : std::nullopt;
}

} // namespace detail

/// f of the elements of one or more tensors of the same format, which are stretched to each other. f takes numbers of
/// either type, and returns one, or nothing. Results of another type than the elements are truth values.
template <class F, class... Others>
maybe map(const F& f, const known_tensor& x, const Others&... others) {
  std::optional<extents> dims = x.dims;
  bool alike = true;
  ((dims = dims ? broadcast(*dims, others.dims) : dims, alike = alike && others.is == x.is), ...);
  if (!dims || !alike || !size_of(*dims)) {
    return std::nullopt;
  }
  const auto fitted = [&](const known_tensor& t) { return t.dims == *dims ? t : *expand(t, *dims); };
  return detail::map_alike(f, fitted(x), fitted(others)...);
}

/// Operations on one element, or on two.
enum class change : std::uint8_t { absolute, ceil, floor, negate, reciprocal, round, sign, square_root };
enum class combination : std::uint8_t { add, subtract, multiply, divide, divide_down, remainder, truncated_remainder,
                                        power, least, greatest };
enum class comparison : std::uint8_t { equal, less, less_or_equal, both, either, one };

namespace detail {

inline std::optional<double> changed(change what, double x) {
  switch (what) {
  case change::absolute: return std::abs(x);
  case change::ceil: return std::ceil(x);
  case change::floor: return std::floor(x);
  case change::negate: return -x;
  case change::reciprocal: return 1 / x;
  case change::round: return std::nearbyint(x); // halves to even numbers
  case change::sign: return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
  case change::square_root: return std::sqrt(x);
  }
  return std::nullopt;
}
inline std::optional<std::int64_t> changed(change what, std::int64_t x) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(); // stays what it is
  switch (what) {
  case change::absolute: return x == least || x >= 0 ? x : -x;
  case change::negate: return x == least ? x : -x;
  case change::sign: return x > 0 ? 1 : x < 0 ? -1 : 0;
  case change::reciprocal:
  case change::square_root: return std::nullopt;
  default: return x;
  }
}

inline std::optional<double> combined(combination what, double a, double b) {
  using enum combination;
  switch (what) {
  case add: return a + b;
  case subtract: return a - b;
  case multiply: return a * b;
  case divide: return a / b;
  case divide_down: return std::floor(a / b);
  case remainder: return a - std::floor(a / b) * b;
  case truncated_remainder: return std::fmod(a, b);
  case power: return std::pow(a, b);
  case least: return std::min(a, b);
  case greatest: return std::max(a, b);
  }
  return std::nullopt;
}
inline std::optional<std::int64_t> combined(combination what, std::int64_t a, std::int64_t b) {
  using enum combination;
  if (what == least || what == greatest) {
    return what == least ? std::min(a, b) : std::max(a, b);
  }
  if (!in_range(a) || !in_range(b)) {
    return std::nullopt;
  }
  const auto product = [](std::int64_t x, std::int64_t y) {
    const auto most = y == 0 ? limit : limit / (y < 0 ? -y : y);
    return x > most || x < -most ? std::nullopt : std::optional{x * y};
  };
  const bool divides = what == divide || what == divide_down || what == remainder || what == truncated_remainder;
  if (divides && b == 0) {
    return std::nullopt;
  }
  std::optional<std::int64_t> result;
  switch (what) {
  case add: result = a + b; break;
  case subtract: result = a - b; break;
  case multiply: result = product(a, b); break;
  case divide: result = a / b; break;
  case divide_down: result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); break;
  case remainder: result = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); break;
  case truncated_remainder: result = a % b; break;
  case power:
    result = b < 0 ? std::nullopt : std::optional<std::int64_t>{1};
    for (; result && b > 0; b /= 2) {
      result = b % 2 != 0 ? product(*result, a) : result;
      if (b > 1) {
        const auto square = product(a, a);
        result = square ? result : std::nullopt;
        a = square.value_or(0);
      }
    }
    break;
  default: break;
  }
  return result && in_range(*result) ? result : std::nullopt;
}

} // namespace detail

inline maybe apply(change what, const known_tensor& x) {
  return map([what](auto e) { return detail::changed(what, e); }, x);
}
inline maybe apply(combination what, const known_tensor& a, const known_tensor& b) {
  return map([what](auto x, auto y) { return detail::combined(what, x, y); }, a, b);
}
/// Truth values.
inline maybe apply(comparison what, const known_tensor& a, const known_tensor& b) {
  using enum comparison;
  auto made = map(
    [what](auto x, auto y) -> std::optional<std::int64_t> {
      switch (what) {
      case equal: return x == y;
      case less: return x < y;
      case less_or_equal: return x <= y;
      case both: return x != 0 && y != 0;
      case either: return x != 0 || y != 0;
      case one: return (x != 0) != (y != 0);
      }
      return std::nullopt;
    },
    a, b);
  if (made) {
    made->is = known_tensor::format::truth;
  }
  return made;
}
inline maybe negation(const known_tensor& x) {
  return apply(comparison::equal, x, known_tensor{.elements = known_tensor::integers{0}, .is = x.is});
}

/// Elements of a where the condition holds, else of b.
inline maybe where(const known_tensor& condition, const known_tensor& a, const known_tensor& b) {
  const auto dims = broadcast(a.dims, b.dims);
  const auto all = dims ? broadcast(*dims, condition.dims) : std::nullopt;
  const auto chosen = all && condition.whole() ? expand(condition, *all) : std::nullopt;
  if (!chosen) {
    return std::nullopt;
  }
  std::size_t i = 0;
  const auto& truths = *chosen->whole();
  const auto x = expand(a, *all); // so that all elements are visited
  return x ? map([&](auto p, auto q) { return std::optional{truths[i++] != 0 ? p : q}; }, *x, b) : std::nullopt;
}

/// The elements along these axes combined, from the first on; no axes: along none.
inline maybe reduce(combination what, const known_tensor& x, const extents& axes, bool keep) {
  std::vector<bool> gone(x.dims.size(), false);
  for (const auto axis : axes) {
    const auto at = axis_of(axis, x.dims.size());
    if (!at) {
      return std::nullopt;
    }
    gone[*at] = true;
  }
  maybe made = x;
  for (std::size_t i = 0; i < gone.size() && made; ++i) {
    if (gone[i]) {
      const auto parts = split(*made, static_cast<std::int64_t>(i), extents(static_cast<std::size_t>(x.dims[i]), 1));
      made = parts.empty() ? std::nullopt : parts.front();
      for (std::size_t k = 1; k < parts.size() && made; ++k) {
        made = apply(what, *made, *parts[k]);
      }
    }
  }
  if (made && !keep) {
    extents left;
    for (std::size_t i = 0; i < gone.size(); ++i) {
      gone[i] ? void() : left.push_back(made->dims[i]);
    }
    made->dims = std::move(left);
  }
  return made;
}

/// The positions of elements that are not 0, a column for each.
inline maybe non_zero(const known_tensor& x) {
  const auto strides = detail::strides_of(x.dims);
  const auto truths = cast(x, known_tensor::format::truth);
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < truths->size(); ++i) {
    if ((*truths->whole())[i] != 0) {
      found.push_back(static_cast<std::int64_t>(i));
    }
  }
  known_tensor::integers all;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    for (const auto i : found) {
      all.push_back(i / strides[axis] % x.dims[axis]);
    }
  }
  return reshape(known_tensor::of(std::move(all)), {static_cast<std::int64_t>(strides.size()),
                                                    static_cast<std::int64_t>(found.size())});
}

/// Sums of all elements along an axis up to each.
inline maybe running_sum(const known_tensor& x, std::int64_t axis) {
  const auto at = axis_of(axis, x.dims.size());
  if (!at || x.size() == 0) {
    return at ? maybe{x} : std::nullopt;
  }
  auto parts = split(x, axis, extents(static_cast<std::size_t>(x.dims[*at]), 1));
  std::vector<const known_tensor*> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = i == 0 ? parts[i] : apply(combination::add, *parts[i - 1], *parts[i]);
    if (!parts[i]) {
      return std::nullopt;
    }
    all.push_back(&*parts[i]);
  }
  return concat(all, axis);
}

} // namespace weft::ops::known
