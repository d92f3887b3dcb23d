// SPDX-License-Identifier: BSL-1.0
/// Shapes of ops that move, reduce, quantise and generate tensors, of signals, of classical models and of training.
#pragma once

#include "weft/interop/onnx/shape_rules_layers.hpp"

namespace weft::onnx::detail::shapes {

/// Axes as an attribute, or as an input, as they are from operator set 18 on (13 for ReduceSum).
inline void reduction(shape_call& c) {
  const numbers* dims = c.dims(0);
  if (dims == nullptr || (c.has(1) && c.integers(1) == nullptr && !c.o.type.starts_with("com."))) {
    return;
  }
  const auto* given = c.o.type.starts_with("com.") ? c.list("axes") : c.list("axes", 1);
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

/// A number of parts, as from operator set 18 on; the last is smaller if they cannot be equal.
inline void split(shape_call& c) {
  const numbers* dims = c.dims(0);
  const auto parts = static_cast<std::int64_t>(c.num_outputs());
  const auto at = dims == nullptr ? std::nullopt : shape_call::position(c.o.number("axis", 0), dims->size());
  if (!at || c.o.number("num_outputs", 0) != parts) {
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
  c.like(1, 0, ::onnx::TensorProto::BOOL); // the mask, which older schemas leave open
}

/// The shape as an attribute, as before operator set 5: 0 keeps an extent, -1 takes what is left.
inline void reshape(shape_call& c) {
  const numbers* from = c.dims(0);
  const auto* to = c.list("shape", 1);
  if (from == nullptr || to == nullptr) {
    return;
  }
  std::int64_t all = 1;
  for (const auto d : *from) {
    all = times(all, d);
  }
  auto dims = *to;
  std::int64_t named = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims[i] = dims[i] == 0 && c.o.number("allowzero", 0) == 0 && i < from->size() ? (*from)[i] : dims[i];
    named = dims[i] < 0 ? named : times(named, dims[i]);
  }
  if (const auto open = std::find(dims.begin(), dims.end(), -1); open != dims.end() && named > 0) {
    *open = all / named;
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
  if (dims == nullptr || !depth || depth->size() != 1 || !(depth->front() >= 0 && depth->front() < 1e15)) {
    return;
  }
  if (const auto at = shape_call::position(c.o.number("axis", -1), dims->size() + 1)) {
    auto result = *dims;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(*at), static_cast<std::int64_t>(depth->front()));
    c.set(0, result, c.element(2));
  }
}

/// Operands at these inputs, and the type of the result.
template <std::int32_t Element, std::size_t... Operand>
void elementwise(shape_call& c) {
  if (const auto dims = broadcast({c.dims(Operand)...})) {
    c.set(0, *dims, Element);
  }
}
template <std::int32_t Element>
void pairwise(shape_call& c) {
  if (c.o.numbers.contains("broadcast")) { // before operator set 7 the second stretches to the first
    c.like(0, 0, Element);
  } else {
    elementwise<Element, 0, 1>(c);
  }
}
inline void any_number(shape_call& c) {
  numbers none;
  std::optional<numbers> dims{none};
  for (std::size_t i = 0; i < c.num_inputs() && dims; ++i) {
    dims = broadcast({&*dims, c.dims(i)});
  }
  if (dims) {
    c.set(0, *dims);
  }
}
template <std::int32_t Element>
void like_first_of(shape_call& c) {
  c.like(0, 0, Element);
}
inline void cast(shape_call& c) { c.like(0, 0, static_cast<std::int32_t>(c.o.number("to", 0))); }
inline void bit_cast(shape_call& c) { // BitCast: elements of another size change the innermost extent
  const auto to = static_cast<std::int32_t>(c.o.number("to", 0));
  const auto from_bits = element_bits(c.element(0));
  const auto to_bits = element_bits(to);
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
inline void with_columns(shape_call& c, std::size_t output, std::int64_t columns, std::int32_t element) {
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
    c.set(0, {x->size() == 1 ? 1 : x->front()}, texts ? ::onnx::TensorProto::STRING : int64);
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

inline constexpr std::int32_t boolean = ::onnx::TensorProto::BOOL;
inline constexpr auto last = shape_row::last;
inline constexpr shape_row of_tensors[] = {
  {"ReduceL1", reduction, 18},
  {"ReduceL2", reduction, 18},
  {"ReduceLogSum", reduction, 18},
  {"ReduceLogSumExp", reduction, 18},
  {"ReduceMax", reduction, 18},
  {"ReduceMean", reduction, 18},
  {"ReduceMin", reduction, 18},
  {"ReduceProd", reduction, 18},
  {"ReduceSum", reduction, 13},
  {"ReduceSumSquare", reduction, 18},
  {"com.microsoft.QLinearReduceMean", reduction},
  {"Split", split, last},
  {"Dropout", dropout, last},
  {"Reshape", reshape, last},
  {"Pad", pad, 18},
  {"com.microsoft.Pad", pad},
  {"OneHot", one_hot},
  {"Concat", concat, last},
  {"com.microsoft.QLinearConcat", quantised_concat},
  {"Cast", cast, last},
  {"BitCast", bit_cast},
  {"TensorScatter", like_first},
  {"CumProd", like_first},
  {"SwiGLU", like_first},
  {"Gelu", like_first},
  {"Mish", like_first},
  {"Swish", like_first},
  {"BitwiseNot", like_first},
  {"BitwiseAnd", pairwise<0>},
  {"BitwiseOr", pairwise<0>},
  {"BitwiseXor", pairwise<0>},
  {"GroupNormalization", like_first},
  {"RMSNormalization", like_first},
  {"SimplifiedLayerNormalization", like_first},
  {"LayerNormalization", like_first, last},
  {"BatchNormalization", like_first, last},
  {"InstanceNormalization", like_first, last},
  {"MeanVarianceNormalization", like_first, last},
  {"Abs", like_first, last},
  {"Ceil", like_first, last},
  {"Clip", like_first, last},
  {"Elu", like_first, last},
  {"Exp", like_first, last},
  {"Floor", like_first, last},
  {"HardSigmoid", like_first, last},
  {"HardSwish", like_first, last},
  {"LeakyRelu", like_first, last},
  {"Log", like_first, last},
  {"LogSoftmax", like_first, last},
  {"Neg", like_first, last},
  {"PRelu", like_first, last},
  {"Reciprocal", like_first, last},
  {"Relu", like_first, last},
  {"Selu", like_first, last},
  {"Sigmoid", like_first, last},
  {"Softmax", like_first, last},
  {"Sqrt", like_first, last},
  {"Tanh", like_first, last},
  {"Add", pairwise<0>, last},
  {"Sub", pairwise<0>, last},
  {"Mul", pairwise<0>, last},
  {"Div", pairwise<0>, last},
  {"Pow", pairwise<0>, last},
  {"And", pairwise<boolean>, last},
  {"Or", pairwise<boolean>, last},
  {"Xor", pairwise<boolean>, last},
  {"Equal", pairwise<boolean>, last},
  {"Less", pairwise<boolean>, last},
  {"LessOrEqual", pairwise<boolean>, last},
  {"Greater", pairwise<boolean>, last},
  {"GreaterOrEqual", pairwise<boolean>, last},
  {"Sum", any_number, last},
  {"Max", any_number, last},
  {"Min", any_number, last},
  {"Mean", any_number, last},
  {"QuantizeLinear", quantise},
  {"DequantizeLinear", dequantise},
  {"com.microsoft.QuantizeLinear", quantise},
  {"com.microsoft.DequantizeLinear", dequantise},
  {"com.microsoft.GatherBlockQuantized", gather_quantised},
  {"com.microsoft.QLinearAdd", elementwise<0, 0, 3>},
  {"com.microsoft.QLinearMul", elementwise<0, 0, 3>},
  {"com.microsoft.QLinearWhere", elementwise<uint8, 0, 1, 4>},
  {"com.microsoft.QLinearSigmoid", like_first},
  {"com.microsoft.QLinearLeakyRelu", like_first},
  {"com.microsoft.QLinearSoftmax", like_first},
  {"com.microsoft.MulInteger", elementwise<::onnx::TensorProto::INT32, 0, 2>},
  {"com.microsoft.Gelu", like_first},
  {"com.microsoft.FastGelu", like_first},
  {"com.microsoft.BiasGelu", like_first},
  {"com.microsoft.QuickGelu", like_first},
  {"com.microsoft.BiasAdd", like_first},
  {"com.microsoft.BiasSoftmax", like_first},
  {"com.microsoft.BiasDropout", dropout},
  {"com.microsoft.GroupNorm", like_first},
  {"com.microsoft.SkipGroupNorm", all_like_first},
  {"com.microsoft.LayerNormalization", like_first},
  {"com.microsoft.SimplifiedLayerNormalization", like_first},
  {"com.microsoft.Inverse", like_first},
  {"com.microsoft.Trilu", like_first},
  {"com.microsoft.ComplexMul", pairwise<0>},
  {"com.microsoft.ComplexMulConj", pairwise<0>},
  {"DFT", fourier},
  {"STFT", short_time_fourier},
  {"HannWindow", window},
  {"HammingWindow", window},
  {"BlackmanWindow", window},
  {"MelWeightMatrix", mel_weights},
  {"RegexFullMatch", like_first_of<boolean>},
  {"StringConcat", pairwise<0>},
  {"StringSplit", strings_apart},
  {"ai.onnx.ml.ArrayFeatureExtractor", picked_columns},
  {"ai.onnx.ml.Binarizer", like_first},
  {"ai.onnx.ml.FeatureVectorizer", features},
  {"ai.onnx.ml.Imputer", like_first},
  {"ai.onnx.ml.LinearRegressor", regression},
  {"ai.onnx.ml.LinearClassifier", classification},
  {"ai.onnx.ml.Normalizer", like_first_of<float32>},
  {"ai.onnx.ml.OneHotEncoder", categories},
  {"ai.onnx.ml.SVMRegressor", vector_regression},
  {"ai.onnx.ml.SVMClassifier", classification},
  {"ai.onnx.ml.Scaler", like_first_of<float32>},
  {"ai.onnx.ml.TreeEnsemble", regression},
  {"ai.onnx.ml.TreeEnsembleRegressor", regression},
  {"ai.onnx.ml.TreeEnsembleClassifier", classification},
  {"ai.onnx.preview.training.Adagrad", optimiser<3, 2>},
  {"ai.onnx.preview.training.Adam", optimiser<4, 3>},
  {"ai.onnx.preview.training.Momentum", optimiser<3, 2>},
  {"ai.onnx.preview.training.Gradient", gradient},
};

} // namespace weft::onnx::detail::shapes
