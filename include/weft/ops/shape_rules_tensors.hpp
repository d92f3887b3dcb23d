// SPDX-License-Identifier: BSL-1.0
/// Shapes of ops that move, reduce, quantise and generate tensors, of signals, of classical models and of training.
#pragma once

#include "weft/ops/shape_rules_layers.hpp"
#include "weft/ops/strided_slice.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::ops::shape_rules {

/// Axes as an attribute or, as in ONNX from operator set 18 on (13 for ReduceSum), as an input.
template <bool AxesMayBeInput = true>
void reduction(shape_call& c) {
  const numbers* dims = c.dims(0);
  const auto* given = AxesMayBeInput ? c.list("axes", 1) : c.list("axes");
  if (dims == nullptr || (AxesMayBeInput && c.has(1) && given == nullptr)) {
    return;
  }
  const auto axes = given == nullptr ? numbers{} : *given;
  if (axes.empty() && c.o.number("noop_with_empty_axes", 0) != 0) {
    c.like(0, 0);
    return;
  }
  std::vector<bool> gone(dims->size(), axes.empty());
  for (const auto axis : axes) {
    const auto at = shape_call::position(axis, dims->size());
    if (!at) {
      return;
    }
    gone[*at] = true;
  }
  const bool keep = c.o.number("keepdims", 1) != 0;
  numbers result;
  for (std::size_t i = 0; i < dims->size(); ++i) {
    if (!gone[i] || keep) {
      result.push_back(gone[i] ? 1 : (*dims)[i]);
    }
  }
  c.set(0, result);
}

/// Parts of these sizes or, as in ONNX from operator set 18 on, so many: the last is smaller if they cannot be equal.
inline void split(shape_call& c) {
  const numbers* dims = c.dims(0);
  const auto parts = static_cast<std::int64_t>(c.num_outputs());
  const auto at = dims == nullptr ? std::nullopt : shape_call::position(c.o.number("axis", 0), dims->size());
  const auto* sizes = c.list("split", 1);
  if (!at || (sizes == nullptr && c.o.number("num_outputs", 0) != parts)) {
    return;
  }
  for (const auto i : sizes != nullptr ? c.outputs() : std::span<const std::uint32_t>{}) {
    if (auto shape = *dims; i < sizes->size()) {
      shape[*at] = (*sizes)[i];
      c.set(i, shape);
    }
  }
  if (sizes != nullptr) {
    return;
  }
  const auto whole = (*dims)[*at];
  const auto part = whole / parts + (whole % parts != 0 ? 1 : 0);
  for (std::int64_t i = 0; i < parts; ++i) {
    auto shape = *dims;
    shape[*at] = std::clamp<std::int64_t>(whole - std::min(whole, times(i, part)), 0, part);
    c.set(static_cast<std::size_t>(i), shape);
  }
}

inline void dropout(shape_call& c) {
  c.like(0, 0);
  c.like(1, 0, boolean); // the mask, which older schemas leave open
}

/// The shape as an attribute, as in ONNX before operator set 5, or as an input: 0 keeps an extent, -1 takes what is
/// left. Where only the rank of the result is known, its extents are open.
inline void reshape(shape_call& c) {
  const numbers* from = c.dims(0);
  const auto* to = c.list("shape", 1);
  if (to == nullptr) {
    if (const numbers* sizes = c.dims(1); sizes != nullptr && sizes->size() == 1 && sizes->front() <= max_axes) {
      c.set(0, numbers(static_cast<std::size_t>(sizes->front()), -1));
    }
    return;
  }
  auto dims = *to;
  std::int64_t named = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool keeps = dims[i] == 0 && c.o.number("allowzero", 0) == 0;
    dims[i] = !keeps ? dims[i] : from == nullptr ? -1 : i < from->size() ? (*from)[i] : 0;
    named = dims[i] < 0 ? named : times(named, std::max<std::int64_t>(dims[i], keeps ? 0 : 1));
  }
  if (const auto open = std::find(dims.begin(), dims.end(), -1); open != dims.end() && from != nullptr && named > 0) {
    *open = std::accumulate(from->begin(), from->end(), std::int64_t{1}, times) / named;
  }
  c.set(0, dims);
}

/// Elements as numbers before the tensor begins and after it ends; some axes only from operator set 18 on.
inline void pad(shape_call& c) {
  const numbers* dims = c.dims(0);
  const auto* pads = c.has(1) ? c.integers(1) : c.list("pads") != nullptr ? c.list("pads") : c.list("paddings");
  if (dims == nullptr || pads == nullptr || (c.has(3) && c.integers(3) == nullptr)) {
    return;
  }
  const auto* axes = c.integers(3);
  const auto count = axes != nullptr ? axes->size() : dims->size();
  if (pads->size() != 2 * count) {
    return;
  }
  auto result = *dims;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = shape_call::position(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), dims->size());
    constexpr std::int64_t large = std::int64_t{1} << 40;
    const auto before = (*pads)[i];
    const auto after = (*pads)[i + count];
    if (!at || before < -large || before > large || after < -large || after > large) {
      return;
    }
    result[*at] = std::min(result[*at], large) + before + after;
  }
  c.set(0, result);
}

/// An axis of as many elements as input 1 says, with the type of the values in input 2.
inline void one_hot(shape_call& c) {
  const numbers* dims = c.dims(0);
  const auto depth = c.reals(1);
  const bool is_known = depth && depth->size() == 1 && depth->front() >= 0 && depth->front() < 1e15;
  const auto at = dims == nullptr ? std::nullopt : shape_call::position(c.o.number("axis", -1), dims->size() + 1);
  if (at) {
    auto result = *dims;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(*at),
                  is_known ? static_cast<std::int64_t>(depth->front()) : -1);
    c.set(0, result, c.element(2));
  }
}

/// Output 0 is these inputs, stretched to each other.
inline void stretch(shape_call& c, std::span<const std::size_t> inputs, element_type element) {
  numbers dims;
  for (const std::size_t i : inputs) {
    if (c.dims(i) == nullptr) {
      return;
    }
    auto both = known::broadcast(dims, *c.dims(i));
    if (!both) {
      return;
    }
    dims = std::move(*both);
  }
  c.set(0, dims, element);
}
/// Operands at these inputs, and the type of the result.
template <element_type Element, std::size_t... Operand>
void elementwise(shape_call& c) {
  constexpr std::size_t operands[] = {Operand...};
  stretch(c, operands, Element);
}
/// All inputs, stretched to each other; before ONNX's operator set 7 to the first.
template <element_type Element>
void stretched(shape_call& c) {
  std::vector<std::size_t> inputs(c.o.numbers.contains("broadcast") ? 1 : c.num_inputs());
  std::iota(inputs.begin(), inputs.end(), std::size_t{0});
  if (!inputs.empty()) {
    stretch(c, inputs, Element);
  }
}
inline void broadcast(shape_call& c) { stretched<elements::unknown>(c); }
inline void compare(shape_call& c) { stretched<boolean>(c); }
template <element_type Element>
void like_first_of(shape_call& c) {
  c.like(0, 0, Element);
}
inline void cast(shape_call& c) { c.like(0, 0, static_cast<std::int32_t>(c.o.number("to", 0))); }
inline void bit_cast(shape_call& c) { // elements of another size change the innermost extent
  const auto to = static_cast<std::int32_t>(c.o.number("to", 0));
  const auto from_bits = elements::bits(c.element(0));
  const auto to_bits = elements::bits(to);
  if (from_bits && to_bits && *from_bits == *to_bits) {
    c.like(0, 0, to);
  } else if (const numbers* d = c.dims(0); from_bits && to_bits && d != nullptr && !d->empty()) {
    with_last(c, 0, times(d->back(), *from_bits) / *to_bits, to);
  }
}
inline void concat_along(shape_call& c, std::size_t first, std::size_t step) {
  const numbers* dims = c.dims(first);
  const auto at = dims == nullptr ? std::nullopt : shape_call::position(c.o.number("axis", 1), dims->size());
  if (!at) {
    return;
  }
  auto result = *dims;
  for (auto i = first + step; i < c.num_inputs(); i += step) {
    if (c.dims(i) == nullptr || c.dims(i)->size() != dims->size()) {
      return;
    }
    result[*at] = plus(result[*at], (*c.dims(i))[*at]);
  }
  c.set(0, result, c.element(first));
}
inline void concat(shape_call& c) { concat_along(c, 0, 1); }
inline void quantised_concat(shape_call& c) { concat_along(c, 2, 3); } // scale, zero, then tensors with theirs

/// The type is named, or that of the zero point.
inline void quantise(shape_call& c) {
  const auto named = static_cast<std::int32_t>(c.o.number("output_dtype", 0));
  c.like(0, 0, named != 0 ? named : c.has(2) && c.element(2) != 0 ? c.element(2) : uint8);
}
/// The type is named, or that of the scale.
inline void dequantise(shape_call& c) {
  const auto named = static_cast<std::int32_t>(c.o.number("output_dtype", 0));
  c.like(0, 0, named != 0 ? named : c.element(1) != 0 ? c.element(1) : float32);
}

/// Rows of a quantised table; a byte holds two elements of 4 bits.
inline void gather_quantised(shape_call& c) {
  const numbers* data = c.dims(0);
  const numbers* at = c.dims(1);
  if (data == nullptr || at == nullptr) {
    return;
  }
  const auto axis = shape_call::position(c.o.number("gather_axis", 0), data->size());
  const auto packed = shape_call::position(c.o.number("quantize_axis", 1), data->size());
  if (!axis || !packed) {
    return;
  }
  auto dims = *data;
  if (const auto bits = c.o.number("bits", 4); c.element(0) == uint8 && bits > 0 && bits < 8) {
    dims[*packed] = times(dims[*packed], 8 / bits);
  }
  const auto from = dims.begin() + static_cast<std::ptrdiff_t>(*axis);
  dims.insert(dims.erase(from), at->begin(), at->end());
  c.set(0, dims, c.element(2));
}

/// The axis is an attribute before operator set 20 and an input after; complex numbers are pairs in the innermost
/// extent. Of a real signal half the spectrum may do, and back.
inline void fourier(shape_call& c) {
  const numbers* x = c.dims(0);
  if (x == nullptr || x->empty() || (c.has(1) && c.integers(1) == nullptr) || (c.has(2) && c.integers(2) == nullptr)) {
    return;
  }
  const auto axis = c.o.version >= 20 ? c.o.value(2).value_or(-2) : c.o.number("axis", 1);
  const auto at = shape_call::position(axis, x->size());
  if (!at) {
    return;
  }
  auto dims = *x;
  const bool half = c.o.number("onesided", 0) != 0;
  const bool back = c.o.number("inverse", 0) != 0;
  const auto given = c.o.value(1);
  const auto length = given ? *given : half && back ? 2 * (std::min((*x)[*at], std::int64_t{1} << 40) - 1) : (*x)[*at];
  dims[*at] = half && !back ? length / 2 + 1 : length;
  dims.back() = half && back ? 1 : 2;
  c.set(0, dims);
}

/// Signal (batch × length × 1 or 2), step, window, length of a frame.
inline void short_time_fourier(shape_call& c) {
  const numbers* x = c.dims(0);
  const auto step = c.o.value(1).value_or(0);
  const bool has_window = c.dims(2) != nullptr && c.dims(2)->size() == 1;
  const auto frame = c.o.value(3).value_or(has_window ? c.dims(2)->front() : 0);
  if (x != nullptr && x->size() >= 2 && step > 0 && frame > 0 && frame <= (*x)[1]) {
    c.set(0, {x->front(), ((*x)[1] - frame) / step + 1, c.o.number("onesided", 1) != 0 ? frame / 2 + 1 : frame, 2});
  }
}
inline void window(shape_call& c) { // of a size that the input holds
  if (const auto size = c.o.value(0)) {
    c.set(0, {*size}, static_cast<std::int32_t>(c.o.number("output_datatype", float32)));
  }
}
inline void mel_weights(shape_call& c) { // number of bands, length of a transform, …: half a spectrum × bands
  if (const auto bands = c.o.value(0), length = c.o.value(1); bands && length) {
    c.set(0, {*length / 2 + 1, *bands}, static_cast<std::int32_t>(c.o.number("output_datatype", float32)));
  }
}

inline void strings_apart(shape_call& c) { // StringSplit: how many parts there are is in the data
  c.like(1, 0, int64);
}

/// Columns of an input of examples × features are replaced by these.
inline void with_columns(shape_call& c, std::size_t output, std::int64_t columns, element_type element) {
  if (const numbers* x = c.dims(0); x != nullptr && !x->empty() && columns > 0) {
    c.set(output, {x->size() == 1 ? 1 : x->front(), columns}, element);
  }
}
inline void regression(shape_call& c) {
  with_columns(c, 0, c.o.number(c.o.type.ends_with("LinearRegressor") ? "targets" : "n_targets", 1), float32);
}
inline void vector_regression(shape_call& c) { with_columns(c, 0, 1, float32); }
/// A label and a score per class.
inline void classification(shape_call& c) {
  std::size_t classes = 0;
  for (const auto* name : {"classlabels_strings", "classlabels_ints", "classlabels_int64s"}) {
    classes = std::max(classes, c.o.length(name));
  }
  if (const numbers* x = c.dims(0); x != nullptr && !x->empty()) {
    const bool texts = c.o.length("classlabels_strings") != 0;
    c.set(0, {x->size() == 1 ? 1 : x->front()}, texts ? elements::text : int64);
  }
  with_columns(c, 1, static_cast<std::int64_t>(classes), float32);
}
inline void categories(shape_call& c) { // OneHotEncoder: an axis more
  if (const numbers* x = c.dims(0)) {
    auto dims = *x;
    dims.push_back(static_cast<std::int64_t>(std::max(c.o.length("cats_int64s"), c.o.length("cats_strings"))));
    c.set(0, dims, float32);
  }
}
inline void features(shape_call& c) { // FeatureVectorizer
  std::int64_t columns = 0;
  if (const auto* widths = c.list("inputdimensions")) {
    for (const auto d : *widths) {
      columns = plus(columns, d);
    }
  }
  with_columns(c, 0, columns, float32);
}
inline void picked_columns(shape_call& c) { // ArrayFeatureExtractor
  if (const numbers* at = c.dims(1); at != nullptr && !at->empty()) {
    with_last(c, 0, at->back());
  }
}

/// Of n tensors: their number times `Kinds` are inputs after the rate and the step, `Results` times are outputs: the
/// tensors themselves and the state that the optimiser keeps (from kind 2 on, after gradients).
template <std::size_t Kinds, std::size_t Results>
void optimiser(shape_call& c) {
  if (c.num_inputs() < 2 || (c.num_inputs() - 2) % Kinds != 0) {
    return;
  }
  const auto n = (c.num_inputs() - 2) / Kinds;
  for (std::size_t i = 0; i < Results * n && i < c.num_outputs(); ++i) {
    c.like(i, 2 + i % n + (i < n ? 0 : (i / n + 1) * n));
  }
}
inline void gradient(shape_call& c) { // one for each input
  for (std::size_t i = 0; i < c.num_outputs(); ++i) {
    c.like(i, i);
  }
}

// Outputs that are described by elements of inputs, and what moves elements.

/// As the elements of one input say, else like another one if that has more than one extent. Where only their number is
/// known, extents are open.
template <std::size_t Input, std::size_t Otherwise>
void as_elements(shape_call& c) {
  const numbers *list = c.dims(Input), *like = c.dims(Otherwise);
  if (const auto* dims = c.integers(Input)) {
    c.set_all(*dims);
  } else if (like != nullptr && like->size() > 1) {
    c.set_all(*like);
  } else if (list != nullptr && list->size() == 1 && list->front() <= max_axes) {
    c.set_all(numbers(static_cast<std::size_t>(list->front()), -1));
  }
}
inline void scalar(shape_call& c) { c.set_all({}); }
inline void list(shape_call& c) { c.set_all({-1}); }
inline void each(shape_call& c) { // output i is input i
  for (const auto i : c.outputs()) {
    c.like(i, i);
  }
}
inline void shape(shape_call& c) { // of each input, for ShapeN
  for (const auto i : c.outputs()) {
    c.dims(i) != nullptr ? c.set(i, {static_cast<std::int64_t>(c.dims(i)->size())}) : void();
  }
}
/// Output 0 is like the first input that is known, and a number tells which one it was.
inline void merge(shape_call& c) {
  for (auto i = c.num_inputs(); i-- > 0;) {
    c.like(0, i);
  }
  c.set(1, {});
}
/// Start, end, step.
inline void range(shape_call& c) {
  const auto start = c.reals(0), end = c.reals(1), step = c.reals(2);
  double count = -1;
  if (start && end && step && start->size() == 1 && end->size() == 1 && step->size() == 1 && step->front() != 0) {
    count = std::max(0.0, std::ceil((end->front() - start->front()) / step->front()));
  }
  c.set(0, {count < 1e15 ? static_cast<std::int64_t>(count) : -1});
}

/// Without one of the axes of the first input.
inline void without(shape_call& c, std::int64_t axis) {
  const numbers* x = c.dims(0);
  if (const auto at = x == nullptr ? std::nullopt : shape_call::position(axis, x->size())) {
    auto dims = *x;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*at));
    c.set_all(dims);
  }
}
inline void without_axis(shape_call& c) { without(c, c.o.number("axis", 0)); }
inline void without_last(shape_call& c) { without(c, -1); }
/// Along an axis that the inputs do not have.
inline void pack(shape_call& c) {
  const numbers* x = c.dims(0);
  if (const auto at = x == nullptr ? std::nullopt : shape_call::position(c.o.number("axis", 0), x->size() + 1)) {
    auto dims = *x;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*at), static_cast<std::int64_t>(c.num_inputs()));
    c.set(0, dims);
  }
}
/// As many of each row as input 1 or `k` says.
inline void top_k(shape_call& c) {
  if (const numbers* x = c.dims(0); x != nullptr && !x->empty()) {
    auto dims = *x;
    dims.back() = c.o.value(1).value_or(c.o.number("k", -1));
    c.set_all(dims);
  }
}
inline void transpose(shape_call& c) {
  const numbers *x = c.dims(0), *order = c.list("perm");
  if (x == nullptr) {
    return;
  }
  numbers dims(x->rbegin(), x->rend());
  for (std::size_t i = 0; i < dims.size() && (order != nullptr || c.has(1)); ++i) {
    const bool named = order != nullptr && i < order->size();
    const auto at = named ? shape_call::position((*order)[i], dims.size()) : std::nullopt;
    dims[i] = at ? (*x)[*at] : -1;
  }
  c.set(0, dims);
}
inline void gather(shape_call& c) {
  const numbers *x = c.dims(0), *positions = c.dims(1);
  const auto at = x == nullptr ? std::nullopt : shape_call::position(c.o.number("axis", 0), x->size());
  if (at && positions != nullptr) {
    auto dims = *x; // the first axes of the positions may be those of x
    const auto shared = std::clamp<std::int64_t>(c.o.number("batch_dims", 0), 0, std::ssize(*positions));
    dims.insert(dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*at)), positions->begin() + shared,
                positions->end());
    c.set(0, dims);
  }
}
inline void gather_nd(shape_call& c) {
  const numbers *x = c.dims(0), *positions = c.dims(1);
  if (x != nullptr && positions != nullptr && !positions->empty() && positions->back() >= 0 &&
      positions->back() <= std::ssize(*x)) {
    numbers dims(positions->begin(), positions->end() - 1);
    dims.insert(dims.end(), x->begin() + positions->back(), x->end());
    c.set(0, dims);
  }
}
inline void tile(shape_call& c) {
  const numbers *x = c.dims(0), *repeats = c.integers(1);
  if (x != nullptr && repeats != nullptr && repeats->size() == x->size()) {
    numbers dims;
    std::transform(x->begin(), x->end(), repeats->begin(), std::back_inserter(dims), times);
    c.set(0, dims);
  }
}
inline void unsqueeze(shape_call& c) {
  const numbers *x = c.dims(0), *axes = c.list("axes", 1);
  if (x == nullptr || axes == nullptr || axes->size() > max_axes) {
    return;
  }
  numbers dims(x->size() + axes->size(), 0);
  for (const auto axis : *axes) {
    const auto at = shape_call::position(axis, dims.size());
    if (!at || dims[*at] == 1) {
      return;
    }
    dims[*at] = 1;
  }
  auto next = x->begin();
  for (auto& d : dims) {
    d = d == 1 ? 1 : *next++;
  }
  c.set(0, dims);
}
inline void squeeze(shape_call& c) {
  const numbers *x = c.dims(0), *axes = c.list("axes", 1);
  if (x == nullptr || (c.has(1) && axes == nullptr)) {
    return;
  }
  std::vector<bool> gone(x->size(), axes == nullptr);
  for (const auto axis : axes != nullptr ? *axes : numbers{}) {
    const auto at = shape_call::position(axis, x->size());
    at ? void(gone[*at] = true) : void();
  }
  numbers dims;
  for (std::size_t i = 0; i < x->size(); ++i) {
    gone[i] && (*x)[i] == 1 ? void() : dims.push_back((*x)[i]);
  }
  c.set(0, dims);
}
/// x, where the part begins, how large it is; -1: up to the end. Without these it is at most as large as x.
inline void sized_slice(shape_call& c) {
  const numbers *x = c.dims(0), *begin = c.integers(1), *size = c.integers(2);
  if (x == nullptr || size == nullptr || size->size() != x->size()) {
    x != nullptr ? c.set(0, *x) : size != nullptr ? c.set(0, *size) : void();
    return;
  }
  auto dims = *x;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool placed = begin != nullptr && begin->size() == dims.size();
    const auto left = dims[i] - (placed ? std::clamp<std::int64_t>((*begin)[i], 0, dims[i]) : 0);
    dims[i] = (*size)[i] >= 0 ? std::min((*size)[i], left) : left;
  }
  c.set(0, dims);
}
inline void strided_slice(shape_call& c) {
  const numbers *x = c.dims(0), *begin = c.integers(1), *end = c.integers(2), *step = c.integers(3);
  if (x != nullptr && begin != nullptr && end != nullptr) {
    if (auto s = strided_slice_of(c.o, *x, *begin, *end, step != nullptr ? *step : numbers{})) {
      c.set(0, std::move(s->dims));
    }
  }
}

/// Rows that are summed by the number that each has (input 1), which may be of several axes; input 2 says how many.
inline void numbered_sums(shape_call& c) {
  const numbers *x = c.dims(0), *ids = c.dims(1);
  if (x != nullptr && ids != nullptr && ids->size() <= x->size()) {
    numbers dims(x->begin() + std::ssize(*ids), x->end());
    dims.insert(dims.begin(), c.o.value(2).value_or(-1));
    c.set(0, dims);
  }
}
/// The numbers are input `Ids` and ascend, so that the last one tells how many sums there are, unless an input after
/// them does.
template <std::size_t Ids>
void sums(shape_call& c) {
  const numbers *x = c.dims(0), *ids = c.dims(Ids);
  if (x == nullptr || x->empty() || ids == nullptr || ids->size() != 1) {
    return;
  }
  auto dims = *x;
  if (c.has(Ids + 1)) {
    dims.front() = c.o.value(Ids + 1).value_or(-1);
  } else if (const auto last = c.last(Ids)) {
    dims.front() = plus(*last, 1);
  } else {
    dims.front() = ids->front();
    c.say_at_most();
  }
  c.set(0, dims);
}
/// As many rows as there are elements that are true or differ, of the places of elements or of one number each.
template <bool Places>
void chosen(shape_call& c) {
  if (const numbers* x = c.dims(0)) {
    const auto rows = std::accumulate(x->begin(), x->end(), std::int64_t{1}, times);
    c.set_all(*x);
    c.set(0, Places ? numbers{rows, std::ssize(*x)} : numbers{rows});
    c.say_at_most();
  }
}

/// A list of tensors is known by what all its tensors would be as one, the number first: of elements as input 0 says,
/// as many as input 1 does.
inline void list_of_tensors(shape_call& c) {
  if (const numbers* element = c.integers(0)) {
    auto dims = *element;
    dims.insert(dims.begin(), c.o.value(1).value_or(-1));
    c.set(0, dims);
  }
}
/// One tensor of a list, or all as one, of the shape that an input says as far as it does.
template <std::size_t Element, bool All>
void tensor_of_list(shape_call& c) {
  const numbers *x = c.dims(0), *element = c.integers(Element);
  if (x == nullptr || x->empty()) {
    element != nullptr && !All ? c.set(0, *element) : void();
    return;
  }
  numbers dims(x->begin() + 1, x->end());
  for (std::size_t i = 0; element != nullptr && element->size() == dims.size() && i < dims.size(); ++i) {
    dims[i] = (*element)[i] >= 0 ? (*element)[i] : dims[i];
  }
  if (All) {
    const auto told = c.o.number("num_elements", -1);
    dims.insert(dims.begin(), told >= 0 ? told : x->front());
  }
  c.set(0, dims);
}

} // namespace weft::ops::shape_rules
