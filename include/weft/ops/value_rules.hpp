// SPDX-License-Identifier: BSL-1.0
/// The elements that ops make of inputs whose elements are known before a model runs.
#pragma once

#include "weft/ops/known_numbers.hpp"
#include "weft/ops/call.hpp"
#include "weft/ops/shape_rules_tensors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::ops {

/// A call whose inputs are known, or their shapes where the op takes these alone (`value_rule_of`). Ops are called as
/// ONNX calls them, or, where it has none, as TensorFlow does, and so are their attributes; a ConstantOfShape has the
/// number to fill with as a second input.
struct value_call {
  const call& op;
  std::span<const known_tensor* const> inputs;               ///< null: absent
  known_tensor::format made = known_tensor::format::integer; ///< of the first output
  std::size_t num_outputs = 1;

  /// An input that the rule needs, so that it is there.
  const known_tensor& in(std::size_t i) const {
    WEFT_ASSERT(if_given(i) != nullptr);
    return *inputs[i];
  }
  /// An input that may be left out: null then.
  const known_tensor* if_given(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  /// Whole numbers in an input, or in an attribute; nothing if there are none.
  std::optional<known::extents> list(std::size_t input, std::string_view attribute) const {
    if (const auto* x = if_given(input)) {
      return x->whole() ? std::optional{*x->whole()} : std::nullopt;
    }
    const auto found = op.numbers.find(attribute);
    return found == op.numbers.end() ? std::nullopt : std::optional{found->second};
  }
};

namespace detail::value_rules {

using result = std::vector<known::maybe>;
using known::extents;
using known::maybe;

/// The result of an op with one output.
template <maybe (*Make)(const value_call&)>
result one(const value_call& c) {
  return {Make(c)};
}

inline maybe same(const value_call& c) { return c.in(0); }
inline maybe cast(const value_call& c) { return known::cast(c.in(0), c.made); }

/// From extent `start` to `end`, which need not be known as elements.
inline maybe shape(const value_call& c) {
  if (!c.op.has_input(0)) {
    return std::nullopt;
  }
  const auto& dims = *c.op.inputs[0];
  const auto rank = static_cast<std::int64_t>(dims.size());
  return known::slice(known_tensor::of(dims), {c.op.number("start", 0)}, {c.op.number("end", rank)}, {0}, {1});
}
inline maybe size(const value_call& c) {
  if (!c.op.has_input(0)) {
    return std::nullopt;
  }
  auto all = known_tensor::of(*c.op.inputs[0]);
  return all.size() == 0 ? known_tensor::number(std::int64_t{1})
                         : known::reduce(known::combination::multiply, all, {0}, false);
}

inline maybe rank(const value_call& c) {
  return c.op.has_input(0) ? maybe{known_tensor::number(static_cast<std::int64_t>(c.op.rank(0)))} : std::nullopt;
}
inline result shapes(const value_call& c) { // of each input
  result all;
  for (const auto& dims : c.op.inputs) {
    all.push_back(dims ? maybe{known_tensor::of(*dims)} : std::nullopt);
  }
  return all;
}

/// The same elements in the extents that a rule for shapes tells.
template <void (*Rule)(shape_call&)>
maybe reshaped(const value_call& c) {
  call o = c.op;
  o.inputs.clear();
  o.values.clear();
  std::vector<shape_input> inputs;
  for (const auto* x : c.inputs) {
    inputs.push_back({.is_there = x != nullptr});
    o.inputs.push_back(x != nullptr ? std::optional{x->dims} : std::nullopt);
    o.values.push_back(x != nullptr && x->whole() != nullptr ? std::optional{*x->whole()} : std::nullopt);
  }
  constexpr std::uint32_t first[] = {0};
  shape_call shapes{o, inputs, [&c](std::size_t i) { return c.if_given(i); }, first};
  Rule(shapes);
  const auto made = std::move(shapes).take();
  return made[0].dims ? known::reshape(c.in(0), *made[0].dims) : std::nullopt;
}
inline maybe flatten(const value_call& c) {
  const auto& dims = c.in(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  auto axis = c.op.number("axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis > rank) {
    return std::nullopt;
  }
  const auto rows =
    std::accumulate(dims.begin(), dims.begin() + axis, std::int64_t{1}, [](auto a, auto b) { return a * b; });
  const auto columns =
    std::accumulate(dims.begin() + axis, dims.end(), std::int64_t{1}, [](auto a, auto b) { return a * b; });
  return known::reshape(c.in(0), {rows, columns});
}
inline maybe transpose(const value_call& c) {
  const auto found = c.op.numbers.find("perm");
  extents order(c.in(0).dims.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return known::transpose(c.in(0), found == c.op.numbers.end() ? order : found->second);
}
inline maybe expand(const value_call& c) {
  const auto dims = c.list(1, "");
  return dims ? known::expand(c.in(0), *dims) : std::nullopt;
}
inline maybe tile(const value_call& c) {
  const auto repeats = c.list(1, "");
  return repeats ? known::tile(c.in(0), *repeats) : std::nullopt;
}
inline maybe slice(const value_call& c) {
  const auto starts = c.list(1, "starts"), ends = c.list(2, "ends");
  if (!starts || !ends) {
    return std::nullopt;
  }
  extents axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  return known::slice(c.in(0), *starts, *ends, c.list(3, "axes").value_or(axes),
                      c.list(4, "").value_or(extents(starts->size(), 1)));
}
inline maybe sized_slice(const value_call& c) { // x, where the part begins, how large it is; -1: up to the end
  const auto begin = c.list(1, ""), size = c.list(2, "");
  const auto& dims = c.in(0).dims;
  if (!begin || !size || begin->size() != dims.size() || size->size() != dims.size()) {
    return std::nullopt;
  }
  extents ends = dims, axes(dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto first = std::clamp<std::int64_t>((*begin)[i], 0, ends[i]);
    ends[i] = (*size)[i] < 0 ? ends[i] : first + std::min((*size)[i], ends[i]);
  }
  return known::slice(c.in(0), *begin, ends, axes, extents(dims.size(), 1));
}
inline maybe strided_slice(const value_call& c) {
  const auto begin = c.list(1, ""), end = c.list(2, ""), step = c.list(3, "");
  const auto s = begin && end && step ? strided_slice_of(c.op, c.in(0).dims, *begin, *end, *step) : std::nullopt;
  auto part = s ? known::slice(c.in(0), s->starts, s->ends, s->axes, s->steps) : std::nullopt;
  return part ? known::reshape(std::move(*part), s->dims) : std::nullopt;
}
inline maybe gather(const value_call& c) {
  const bool is_plain = c.op.number("batch_dims", 0) == 0;
  return is_plain ? known::gather(c.in(0), c.in(1), c.op.number("axis", 0)) : std::nullopt;
}
inline maybe scatter(const value_call& c) {
  const bool replaces = c.op.text("reduction", "none") == "none";
  return replaces ? known::scatter(c.in(0), c.in(1), c.in(2)) : std::nullopt;
}
inline maybe concat(const value_call& c) { return known::concat(c.inputs, c.op.number("axis", 1)); }
inline maybe pack(const value_call& c) { // along an axis that they do not have yet
  std::vector<known_tensor> parts;
  const auto at = known::axis_of(c.op.number("axis", 0), c.in(0).dims.size() + 1);
  for (const auto* x : c.inputs) {
    if (!at || x->dims != c.in(0).dims) {
      return std::nullopt;
    }
    parts.push_back(*x);
    parts.back().dims.insert(parts.back().dims.begin() + static_cast<std::ptrdiff_t>(*at), 1);
  }
  std::vector<const known_tensor*> all;
  std::transform(parts.begin(), parts.end(), std::back_inserter(all), [](const known_tensor& x) { return &x; });
  return known::concat(all, static_cast<std::int64_t>(*at));
}
inline maybe where(const value_call& c) { return known::where(c.in(0), c.in(1), c.in(2)); }
inline maybe range(const value_call& c) { return known::range(c.in(0), c.in(1), c.in(2)); }
inline maybe filled(const value_call& c) {
  const auto dims = c.list(0, "");
  return dims ? known::filled(*dims, c.in(1)) : std::nullopt;
}
inline maybe non_zero(const value_call& c) { return known::non_zero(c.in(0)); }
inline maybe negation(const value_call& c) { return known::negation(c.in(0)); }
inline maybe running_sum(const value_call& c) {
  const auto axis = c.list(1, "axis");
  const bool is_plain = c.op.number("exclusive", 0) == 0 && c.op.number("reverse", 0) == 0;
  return is_plain && axis && axis->size() == 1 ? known::running_sum(c.in(0), axis->front()) : std::nullopt;
}

/// Parts of sizes in input 1 or `split`, or else of equal ones, of which the last may be smaller.
inline result split(const value_call& c) {
  const auto axis = c.op.number("axis", 0);
  const auto at = known::axis_of(axis, c.in(0).dims.size());
  auto sizes = c.list(1, "split");
  if (!at || c.num_outputs == 0) {
    return {};
  }
  if (!sizes) {
    const auto whole = c.in(0).dims[*at], parts = static_cast<std::int64_t>(c.num_outputs);
    const auto part = (whole + parts - 1) / parts;
    sizes.emplace();
    for (std::int64_t i = 0; i < parts; ++i) {
      sizes->push_back(std::clamp<std::int64_t>(whole - i * part, 0, part));
    }
  }
  return known::split(c.in(0), axis, *sizes);
}

/// Parts of one element of an axis each, which vanishes.
inline result unpack(const value_call& c) {
  const auto at = known::axis_of(c.op.number("axis", 0), c.in(0).dims.size());
  if (!at) {
    return {};
  }
  auto parts = known::split(c.in(0), static_cast<std::int64_t>(*at),
                            extents(static_cast<std::size_t>(c.in(0).dims[*at]), 1));
  for (auto& part : parts) {
    part ? void(part->dims.erase(part->dims.begin() + static_cast<std::ptrdiff_t>(*at))) : void();
  }
  return parts;
}
/// The axes along which broadcasting repeats a tensor of the extents in input 0, and those of one of input 1; an axis
/// on which both are 1 is one of both: a sum over it changes nothing.
inline result repeated_axes(const value_call& c) {
  const auto a = c.list(0, ""), b = c.list(1, "");
  if (!a || !b) {
    return {};
  }
  const auto rank = std::max(a->size(), b->size());
  const auto of = [&](const extents& dims) {
    known_tensor::integers axes;
    for (std::size_t i = 0; i < rank; ++i) {
      if (i + dims.size() < rank || dims[i + dims.size() - rank] == 1) {
        axes.push_back(static_cast<std::int64_t>(i));
      }
    }
    return known_tensor::of(std::move(axes));
  };
  return {of(*a), of(*b)};
}

template <known::change What>
result change(const value_call& c) {
  return {known::apply(What, c.in(0))};
}
template <auto What> // a combination or comparison
result pair(const value_call& c) {
  const bool is_old = c.op.numbers.contains("broadcast"); // the second is stretched to axes in the middle of the first
  return {!is_old ? known::apply(What, c.in(0), c.in(1)) : std::nullopt};
}
template <known::comparison What> // the other way round
result reversed(const value_call& c) {
  return {known::apply(What, c.in(1), c.in(0))};
}
template <known::combination What> // of any number of inputs
result all(const value_call& c) {
  maybe sum = c.in(0);
  for (std::size_t i = 1; i < c.inputs.size() && sum; ++i) {
    sum = known::apply(What, *sum, c.in(i));
  }
  return {sum};
}
template <known::combination What>
result reduction(const value_call& c) {
  const auto axes = c.list(1, "axes").value_or(extents{});
  if (axes.empty() && c.op.number("noop_with_empty_axes", 0) != 0) {
    return {c.in(0)};
  }
  extents every(c.in(0).dims.size());
  std::iota(every.begin(), every.end(), 0);
  return {known::reduce(What, c.in(0), axes.empty() ? every : axes, c.op.number("keepdims", 1) != 0)};
}
inline result remainder(const value_call& c) { // fmod: with the sign of the dividend
  return c.op.number("fmod", 0) != 0 ? pair<known::combination::truncated_remainder>(c)
                                     : pair<known::combination::remainder>(c);
}
inline result clip(const value_call& c) {
  if (c.op.version < 11) { // the limits are attributes
    return {};
  }
  maybe x = c.in(0);
  const auto *least = c.if_given(1), *greatest = c.if_given(2);
  x = least != nullptr ? known::apply(known::combination::greatest, *x, *least) : x;
  x = x && greatest != nullptr ? known::apply(known::combination::least, *x, *greatest) : x;
  return {x};
}

constexpr std::size_t every_input = std::numeric_limits<std::size_t>::max(); ///< however many, and at least one

/// A rule sees a call only if the inputs that it needs are there; it has to ask for others (`value_call::if_given`).
struct row {
  std::string_view type;
  std::size_t needs; ///< so many of the first inputs; 0: shapes alone, the elements of its inputs do not count
  result (*make)(const value_call&);
  std::size_t moves = 0; ///< what it makes are elements of so many of the first inputs in other places; 0: others
};

inline constexpr row rows[] = {
  {"Abs", 1, change<known::change::absolute>},
  {"Add", 2, pair<known::combination::add>},
  {"And", 2, pair<known::comparison::both>},
  {"BroadcastGradientArgs", 2, repeated_axes},
  {"Cast", 1, one<cast>, 1},
  {"CastLike", 1, one<cast>},
  {"Ceil", 1, change<known::change::ceil>},
  {"Clip", 1, clip},
  {"Concat", every_input, one<concat>, every_input},
  {"ConstantOfShape", 2, one<filled>},
  {"CumSum", 1, one<running_sum>},
  {"Div", 2, pair<known::combination::divide>},
  {"Equal", 2, pair<known::comparison::equal>},
  {"Expand", 2, one<expand>, 1},
  {"Flatten", 1, one<flatten>, 1},
  {"Floor", 1, change<known::change::floor>},
  {"FloorDiv", 2, pair<known::combination::divide_down>},
  {"Gather", 2, one<gather>, 1},
  {"Greater", 2, reversed<known::comparison::less>},
  {"GreaterOrEqual", 2, reversed<known::comparison::less_or_equal>},
  {"Identity", 1, one<same>, 1},
  {"Less", 2, pair<known::comparison::less>},
  {"LessOrEqual", 2, pair<known::comparison::less_or_equal>},
  {"Max", every_input, all<known::combination::greatest>},
  {"Min", every_input, all<known::combination::least>},
  {"Mod", 2, remainder},
  {"Mul", 2, pair<known::combination::multiply>},
  {"Neg", 1, change<known::change::negate>},
  {"NonZero", 1, one<non_zero>},
  {"Not", 1, one<negation>},
  {"Or", 2, pair<known::comparison::either>},
  {"Pack", every_input, one<pack>},
  {"Pow", 2, pair<known::combination::power>},
  {"Range", 3, one<range>},
  {"Rank", 0, one<rank>},
  {"Reciprocal", 1, change<known::change::reciprocal>},
  {"ReduceMax", 1, reduction<known::combination::greatest>},
  {"ReduceMin", 1, reduction<known::combination::least>},
  {"ReduceProd", 1, reduction<known::combination::multiply>},
  {"ReduceSum", 1, reduction<known::combination::add>},
  {"Reshape", 1, one<reshaped<shape_rules::reshape>>, 1},
  {"Round", 1, change<known::change::round>},
  {"ScatterND", 3, one<scatter>},
  {"Shape", 0, one<shape>},
  {"ShapeN", 0, shapes},
  {"Sign", 1, change<known::change::sign>},
  {"Size", 0, one<size>},
  {"SizedSlice", 3, one<sized_slice>},
  {"Slice", 1, one<slice>, 1},
  {"Split", 1, split, 1},
  {"Sqrt", 1, change<known::change::square_root>},
  {"Squeeze", 1, one<reshaped<shape_rules::squeeze>>, 1},
  {"StridedSlice", 4, one<strided_slice>},
  {"Sub", 2, pair<known::combination::subtract>},
  {"Sum", every_input, all<known::combination::add>},
  {"Tile", 2, one<tile>, 1},
  {"Transpose", 1, one<transpose>, 1},
  {"Unpack", 1, unpack},
  {"Unsqueeze", 1, one<reshaped<shape_rules::unsqueeze>>, 1},
  {"Where", 3, one<where>},
  {"Xor", 2, pair<known::comparison::one>},
};

inline const row* row_of(std::string_view type) {
  const auto at = std::lower_bound(std::begin(rows), std::end(rows), type,
                                   [](const row& r, std::string_view t) { return r.type < t; });
  return at != std::end(rows) && at->type == type ? at : nullptr;
}

} // namespace detail::value_rules

/// The part of its inputs from which what an op of a type makes follows, if it can be known.
enum class value_rule : std::uint8_t { unknown, of_elements, of_shapes };
inline value_rule value_rule_of(std::string_view type) {
  const auto* row = detail::value_rules::row_of(type);
  return row == nullptr ? value_rule::unknown : row->needs == 0 ? value_rule::of_shapes : value_rule::of_elements;
}

/// So many of the first inputs of an op are of what it makes: their elements in other places, whatever they are.
inline std::size_t num_moved(std::string_view type) {
  const auto* row = detail::value_rules::row_of(type);
  return row == nullptr ? 0 : row->moves;
}

/// The first outputs of a call, as far as they are known; none if an input that the op needs is absent.
/// Complexity: O(elements · axes).
inline std::vector<std::optional<known_tensor>> known_outputs(const value_call& c) {
  const auto* row = detail::value_rules::row_of(c.op.type);
  if (row == nullptr || (row->needs == detail::value_rules::every_input && c.inputs.empty())) {
    return {};
  }
  const auto count = row->needs == detail::value_rules::every_input ? c.inputs.size() : row->needs;
  for (std::size_t i = 0; i < count; ++i) {
    if (c.if_given(i) == nullptr) {
      return {};
    }
  }
  return row->make(c);
}

} // namespace weft::ops
