// SPDX-License-Identifier: BSL-1.0
/// Small tensors whose elements are known before a model runs, such as the shapes that it computes.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weft::ops {

/// A tensor with its elements. What is larger than a few thousand elements is no shape, and not kept.
struct known_tensor {
  using extents = std::vector<std::int64_t>;
  using integers = std::vector<std::int64_t>; ///< and truth values, as 0 and 1
  using reals = std::vector<double>;
  using either = std::variant<integers, reals>;
  enum class format : std::uint8_t { truth, integer, single_precision, double_precision };
  static constexpr std::int64_t max_elements = 4096;

  extents dims = {};
  either elements = {};
  format is = format::integer;

  /// A list, or a number with `dims` of none.
  static known_tensor of(integers list) {
    const auto size = static_cast<std::int64_t>(list.size());
    return {.dims = {size}, .elements = std::move(list)};
  }
  static known_tensor number(std::int64_t x) { return {.elements = integers{x}}; }
  /// Rounded to single precision if that is its format.
  static known_tensor number(double x, format f = format::single_precision) {
    return {.elements = reals{f == format::single_precision ? static_cast<double>(static_cast<float>(x)) : x}, .is = f};
  }

  bool has_reals() const { return elements.index() == 1; }
  /// Whole numbers, or null if there are others.
  const integers* whole() const { return std::get_if<integers>(&elements); }
  std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, elements);
  }
  reals as_reals() const {
    return std::visit([](const auto& list) { return reals(list.begin(), list.end()); }, elements);
  }
  friend bool operator==(const known_tensor&, const known_tensor&) = default;
};

/// A tensor of which some elements are not known.
struct partly_known_tensor {
  known_tensor elements; ///< any ones where they are not known
  known_tensor open;     ///< 1 there, else 0
};

/// A format of elements, and the range of those that are whole numbers.
struct element_format {
  known_tensor::format is = known_tensor::format::integer;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

  bool is_real() const {
    return is == known_tensor::format::single_precision || is == known_tensor::format::double_precision;
  }
  /// A tensor without elements yet.
  known_tensor empty(known_tensor::extents dims) const {
    known_tensor x{.dims = std::move(dims), .is = is};
    is_real() ? void(x.elements.emplace<1>()) : void();
    return x;
  }
  /// True if elements have this format, and none of them leaves the range.
  bool holds(const known_tensor& x) const {
    const auto* whole = x.whole();
    return x.is == is && (whole == nullptr || std::all_of(whole->begin(), whole->end(), [&](std::int64_t i) {
             return i >= least && i <= greatest;
           }));
  }
};

/// Adds an element of so many bytes, of which these are the bits, to a tensor of a format; negative numbers of few
/// bytes have their sign in the last of them.
inline void add_element(known_tensor& x, const element_format& format, std::uint64_t bits, std::size_t bytes) {
  if (auto* const reals = std::get_if<known_tensor::reals>(&x.elements)) {
    reals->push_back(bytes == 8 ? std::bit_cast<double>(bits)
                                : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  } else {
    const auto unused = 64 - 8 * bytes;
    std::get<known_tensor::integers>(x.elements)
      .push_back(format.least < 0 ? static_cast<std::int64_t>(bits << unused) >> unused
                                  : static_cast<std::int64_t>(bits));
  }
}

/// Operations on known tensors, which return nothing where the arguments are none that the op takes, where a whole
/// number would leave the range of 62 bits, and where the result is too large to be kept. Negative axes count from the
/// last one. Complexity: O(elements · axes) each.
namespace known {

using extents = known_tensor::extents;
using maybe = std::optional<known_tensor>;

/// The number of elements, if they are few enough, also without extents of 0.
inline std::optional<std::size_t> size_of(const extents& dims) {
  std::int64_t count = 1;
  for (const auto d : dims) {
    if (d < 0 || d > known_tensor::max_elements / count) {
      return std::nullopt;
    }
    count *= std::max<std::int64_t>(d, 1);
  }
  const bool is_empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return is_empty ? 0 : static_cast<std::size_t>(count);
}

/// An axis of so many; nothing if there is no such.
inline std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  return axis < -r || axis >= r ? std::nullopt : std::optional{static_cast<std::size_t>(axis < 0 ? axis + r : axis)};
}

namespace detail {

inline extents strides_of(const extents& dims) {
  extents strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * dims[i];
  }
  return strides;
}

/// Calls visit(position) for each element of a tensor of these extents, in order.
template <class Visit>
void each_position(const extents& dims, std::size_t count, const Visit& visit) {
  extents at(dims.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    visit(std::as_const(at));
    for (std::size_t i = at.size(); i-- > 0 && ++at[i] == dims[i];) {
      at[i] = 0;
    }
  }
}

/// A tensor of elements of another one: `source(position)` is the number of the element.
template <class Source>
maybe picked(const known_tensor& x, extents dims, const Source& source) {
  const auto count = size_of(dims);
  if (!count) {
    return std::nullopt;
  }
  known_tensor made{.dims = std::move(dims), .is = x.is};
  made.elements = std::visit(
    [&](const auto& from) -> known_tensor::either {
      std::decay_t<decltype(from)> to;
      to.reserve(*count);
      each_position(made.dims, *count,
                    [&](const extents& at) { to.push_back(from[static_cast<std::size_t>(source(at))]); });
      return to;
    },
    x.elements);
  return made;
}

inline std::int64_t dot(const extents& a, const extents& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), std::int64_t{0});
}

/// Of a position in a larger tensor: which element of a smaller one, that is stretched to it, is there.
inline auto stretched(const extents& small) {
  return [&small, strides = strides_of(small)](const extents& at) {
    std::int64_t source = 0;
    for (std::size_t i = 0; i < small.size(); ++i) {
      source += small[i] == 1 ? 0 : at[at.size() - small.size() + i] * strides[i];
    }
    return source;
  };
}

inline double rounded(double x, known_tensor::format f) {
  return f == known_tensor::format::single_precision ? static_cast<double>(static_cast<float>(x)) : x;
}

constexpr std::int64_t limit = std::int64_t{1} << 62;
constexpr bool in_range(std::int64_t x) { return x >= -limit && x <= limit; }

} // namespace detail

/// The extents that tensors have together, as in NumPy.
inline std::optional<extents> broadcast(const extents& a, const extents& b) {
  extents dims = a.size() >= b.size() ? a : b;
  const auto& small = a.size() >= b.size() ? b : a;
  for (std::size_t i = 1; i <= small.size(); ++i) {
    auto& d = dims[dims.size() - i];
    const auto other = small[small.size() - i];
    if (d != other && d != 1 && other != 1) {
      return std::nullopt;
    }
    d = d == 1 ? other : d;
  }
  return dims;
}

/// The same elements in other extents, of which one may be -1: what is left.
inline maybe reshape(known_tensor x, extents dims) {
  std::int64_t rest = static_cast<std::int64_t>(x.size());
  const auto open = std::find(dims.begin(), dims.end(), -1);
  for (const auto d : dims) {
    rest = d > 0 ? rest / d : rest;
  }
  if (open != dims.end()) {
    *open = rest;
  }
  const auto count = size_of(dims);
  if (!count || *count != x.size()) {
    return std::nullopt;
  }
  x.dims = std::move(dims);
  return x;
}

inline maybe expand(const known_tensor& x, const extents& to) {
  const auto dims = broadcast(x.dims, to);
  return dims ? detail::picked(x, *dims, detail::stretched(x.dims)) : std::nullopt;
}

inline maybe tile(const known_tensor& x, const extents& repeats) {
  if (repeats.size() != x.dims.size()) {
    return std::nullopt;
  }
  extents dims;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || repeats[i] > known_tensor::max_elements) {
      return std::nullopt;
    }
    dims.push_back(x.dims[i] * repeats[i]);
  }
  return detail::picked(x, dims, [&, strides = detail::strides_of(x.dims)](const extents& at) {
    std::int64_t source = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      source += at[i] % x.dims[i] * strides[i];
    }
    return source;
  });
}

/// Axis i of the result is axis `order[i]`.
inline maybe transpose(const known_tensor& x, const extents& order) {
  const auto strides = detail::strides_of(x.dims);
  extents dims, steps;
  std::vector<bool> seen(x.dims.size(), false);
  for (const auto axis : order) {
    const auto at = axis_of(axis, x.dims.size());
    if (!at || seen[*at]) {
      return std::nullopt;
    }
    seen[*at] = true;
    dims.push_back(x.dims[*at]);
    steps.push_back(strides[*at]);
  }
  if (order.size() != x.dims.size()) {
    return std::nullopt;
  }
  return detail::picked(x, dims, [&](const extents& at) { return detail::dot(at, steps); });
}

/// The places of a slice: its extents and, along each axis of the tensor, the first index and the step.
struct slice_places {
  extents dims, first, step;
};

/// Every `steps[i]`-th place from `starts[i]` up to, and without, `ends[i]` along `axes[i]`; backwards where a step is
/// negative. What lies outside counts up to the edge.
inline std::optional<slice_places> places_of_slice(extents dims, const extents& starts, const extents& ends,
                                                   const extents& axes, const extents& steps) {
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size()) {
    return std::nullopt;
  }
  slice_places made{.dims = dims, .first = extents(dims.size(), 0), .step = extents(dims.size(), 1)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto at = axis_of(axes[i], dims.size());
    if (!at || steps[i] == 0 || steps[i] < -detail::limit) {
      return std::nullopt;
    }
    const auto size = dims[*at];
    const bool back = steps[i] < 0;
    const auto edge = [&](std::int64_t k) {
      return std::clamp<std::int64_t>(k < 0 ? std::max(k, -size - 1) + size : k, back ? -1 : 0, back ? size - 1 : size);
    };
    const auto from = std::max<std::int64_t>(edge(starts[i]), 0), to = edge(ends[i]); // backwards, too: not before 0
    const auto length = size == 0 ? 0 : back ? from - to : to - from;
    const auto stride = back ? -steps[i] : steps[i];
    made.dims[*at] = length <= 0 ? 0 : (length - 1) / stride + 1;
    made.first[*at] = from;
    made.step[*at] = made.dims[*at] > 1 ? steps[i] : 1;
  }
  return made;
}

inline maybe slice(const known_tensor& x, const extents& starts, const extents& ends, const extents& axes,
                   const extents& steps) {
  const auto places = places_of_slice(x.dims, starts, ends, axes, steps);
  if (!places) {
    return std::nullopt;
  }
  return detail::picked(x, places->dims, [&, strides = detail::strides_of(x.dims)](const extents& at) {
    std::int64_t source = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      source += (places->first[i] + at[i] * places->step[i]) * strides[i];
    }
    return source;
  });
}

/// Elements of each of `counts` along an axis, one part after the other.
inline std::vector<maybe> split(const known_tensor& x, std::int64_t axis, const extents& counts) {
  std::vector<maybe> parts;
  std::int64_t from = 0;
  for (const auto count : counts) {
    const bool fits = count >= 0 && count <= known_tensor::max_elements;
    parts.push_back(fits ? slice(x, {from}, {from + count}, {axis}, {1}) : std::nullopt);
    from += fits ? count : 0;
  }
  return parts;
}

/// Elements at these positions along an axis, whose place in the extents those of the positions take.
inline maybe gather(const known_tensor& x, const known_tensor& positions, std::int64_t axis) {
  const auto at = axis_of(axis, x.dims.size());
  const auto* from = positions.whole();
  if (!at || from == nullptr) {
    return std::nullopt;
  }
  const auto size = x.dims[*at];
  if (std::any_of(from->begin(), from->end(), [&](std::int64_t i) { return i < -size || i >= size; })) {
    return std::nullopt;
  }
  auto dims = x.dims;
  const auto place = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*at));
  dims.insert(place, positions.dims.begin(), positions.dims.end());
  const auto rank = positions.dims.size();
  return detail::picked(x, dims, [&, strides = detail::strides_of(x.dims),
                                  steps = detail::strides_of(positions.dims)](const extents& to) {
    std::int64_t which = 0, source = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      which += to[*at + i] * steps[i];
    }
    const auto position = (*from)[static_cast<std::size_t>(which)];
    for (std::size_t i = 0; i < strides.size(); ++i) {
      source += (i == *at ? (position < 0 ? position + size : position) : to[i < *at ? i : i + rank - 1]) * strides[i];
    }
    return source;
  });
}

/// Tensors, none of them null, one after the other along an axis.
inline maybe concat(std::span<const known_tensor* const> all, std::int64_t axis) {
  if (all.empty()) {
    return std::nullopt;
  }
  const auto at = axis_of(axis, all[0]->dims.size());
  if (!at) {
    return std::nullopt;
  }
  auto dims = all[0]->dims;
  dims[*at] = 0;
  for (const auto* x : all) {
    auto like = x->dims;
    if (like.size() != dims.size() || x->is != all[0]->is) {
      return std::nullopt;
    }
    like[*at] = dims[*at];
    if (like != dims) {
      return std::nullopt;
    }
    dims[*at] += x->dims[*at];
  }
  const auto count = size_of(dims);
  if (!count) {
    return std::nullopt;
  }
  known_tensor made{.dims = dims, .is = all[0]->is};
  made.elements = std::visit(
    [&](auto to) -> known_tensor::either {
      using list = decltype(to);
      to.clear();
      detail::each_position(dims, *count, [&](extents from) {
        std::size_t i = 0;
        for (; from[*at] >= all[i]->dims[*at]; ++i) {
          from[*at] -= all[i]->dims[*at];
        }
        const auto source = detail::dot(from, detail::strides_of(all[i]->dims));
        to.push_back(std::get<list>(all[i]->elements)[static_cast<std::size_t>(source)]);
      });
      return to;
    },
    all[0]->elements);
  return made;
}

/// The tensor with elements replaced: the last extent of `positions` are positions along the first axes, and `updates`
/// what is there then.
inline maybe scatter(known_tensor x, const known_tensor& positions, const known_tensor& updates) {
  const auto* at = positions.whole();
  if (at == nullptr || positions.dims.empty() || positions.dims.back() < 1 || updates.is != x.is) {
    return std::nullopt;
  }
  const auto depth = static_cast<std::size_t>(positions.dims.back());
  extents wanted(positions.dims.begin(), positions.dims.end() - 1);
  if (depth > x.dims.size()) {
    return std::nullopt;
  }
  wanted.insert(wanted.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(depth), x.dims.end());
  if (wanted != updates.dims) {
    return std::nullopt;
  }
  const auto strides = detail::strides_of(x.dims);
  const auto length = depth == 0 ? 1 : static_cast<std::size_t>(strides[depth - 1]); // of what is replaced at once
  for (std::size_t i = 0; i < at->size() / depth; ++i) {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      const auto p = (*at)[i * depth + k];
      if (p < -x.dims[k] || p >= x.dims[k]) {
        return std::nullopt;
      }
      first += (p < 0 ? p + x.dims[k] : p) * strides[k];
    }
    std::visit(
      [&](auto& to) {
        const auto& from = std::get<std::decay_t<decltype(to)>>(updates.elements);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * length), length, to.begin() + first);
      },
      x.elements);
  }
  return x;
}

/// A tensor of these extents that has one number everywhere.
inline maybe filled(extents dims, const known_tensor& number) {
  return number.size() == 1 ? detail::picked(number, std::move(dims), [](const extents&) { return 0; }) : std::nullopt;
}

/// `start`, `start` + `step` … before `end`.
inline maybe range(const known_tensor& start, const known_tensor& end, const known_tensor& step) {
  if (start.size() != 1 || end.size() != 1 || step.size() != 1 || start.is != end.is || start.is != step.is) {
    return std::nullopt;
  }
  return std::visit(
    [&](const auto& from) -> maybe {
      using list = std::decay_t<decltype(from)>;
      const auto first = from[0], last = std::get<list>(end.elements)[0], by = std::get<list>(step.elements)[0];
      const auto far = static_cast<double>(last) - static_cast<double>(first);
      const auto count = std::ceil(far / static_cast<double>(by));
      if (by == 0 || !(count <= static_cast<double>(known_tensor::max_elements))) {
        return std::nullopt;
      }
      list all;
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(std::max(count, 0.0)); ++i) {
        all.push_back(first + static_cast<typename list::value_type>(i) * by);
      }
      const auto size = static_cast<std::int64_t>(all.size());
      return known_tensor{.dims = {size}, .elements = std::move(all), .is = start.is};
    },
    start.elements);
}

/// In another format: reals lose what is behind the point where they become whole numbers; everything but 0 is true.
inline maybe cast(const known_tensor& x, known_tensor::format to) {
  using enum known_tensor::format;
  known_tensor made{.dims = x.dims, .is = to};
  if (to == single_precision || to == double_precision) {
    auto list = x.as_reals();
    std::transform(list.begin(), list.end(), list.begin(), [&](double r) { return detail::rounded(r, to); });
    made.elements = std::move(list);
    return made;
  }
  known_tensor::integers list;
  const bool fits = std::visit(
    [&](const auto& from) {
      for (const auto r : from) {
        if (!(to == truth || (static_cast<double>(r) > -0x1p62 && static_cast<double>(r) < 0x1p62)) &&
            x.has_reals()) {
          return false;
        }
        list.push_back(to == truth ? std::int64_t{r != 0} : static_cast<std::int64_t>(r));
      }
      return true;
    },
    x.elements);
  made.elements = std::move(list);
  return fits ? maybe{std::move(made)} : std::nullopt;
}

} // namespace known
} // namespace weft::ops
