// SPDX-License-Identifier: BSL-1.0
/// Shape rules of ONNX's ops: a node as a rule sees it, and the table of rules.
#pragma once

#include "weft/interop/onnx/values.hpp"
#include "weft/workload/op_call.hpp"
#include "weft/workload/shape_rules_attention.hpp"
#include "weft/workload/shape_rules_tensors.hpp"
#include "weft/workload/value_rules.hpp"

#include <numeric>
#include <span>
#include <utility>

namespace weft::onnx::detail {

/// A node as rules for costs and shapes see it. `outputs` may be empty.
inline op_call call_of(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                       const std::vector<::onnx::TypeProto>& outputs, std::string_view type, std::int64_t version) {
  op_call call{.type = type, .version = version};
  for (const value* v : inputs) {
    call.inputs.push_back(v == nullptr ? std::nullopt : extents_of(v->type));
    call.values.push_back(v == nullptr ? std::nullopt : v->integers());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    call.outputs.push_back(n.output(static_cast<int>(i)).empty() ? std::nullopt : extents_of(outputs[i]));
  }
  for (const auto& a : n.attribute()) {
    if (a.has_i()) {
      call.numbers[a.name()] = {a.i()};
    } else if (a.ints_size() != 0) {
      call.numbers[a.name()].assign(a.ints().begin(), a.ints().end());
    } else if (a.has_s()) {
      call.texts[a.name()] = a.s();
    }
    if (const auto length = std::max({a.ints_size(), a.floats_size(), a.strings_size()}); length != 0) {
      call.lengths[a.name()] = static_cast<std::size_t>(length);
    }
  }
  return call;
}

/// Outputs of a node of ONNX's own whose elements follow from those of its inputs, or from their shapes. Of `outputs`
/// the types are known. What leaves the range of its type is not followed.
inline std::vector<std::optional<known_tensor>> known_outputs_of(const ::onnx::NodeProto& n,
                                                                 std::span<const value* const> inputs,
                                                                 std::span<const value> outputs, std::int64_t version) {
  std::vector<std::optional<known_tensor>> made;
  const std::string& type = n.op_type();
  if (type == "Constant") { // the elements of its tensor are in the file
    if (const auto* a = attribute(n, "value_int")) {
      made.emplace_back(known_tensor::number(std::int64_t{a->i()}));
    } else if (const auto list = list_attribute(n, "value_ints")) {
      made.emplace_back(known_tensor::of(*list));
    } else if (const auto* real = attribute(n, "value_float")) {
      made.emplace_back(known_tensor::number(static_cast<double>(real->f())));
    } else if (const auto* reals = attribute(n, "value_floats")) {
      made.emplace_back(known_tensor{.dims = {reals->floats_size()},
                                     .elements = known_tensor::reals{reals->floats().begin(), reals->floats().end()},
                                     .is = known_tensor::format::single_precision});
    }
    return made;
  }
  const auto format_of_output = [&](std::size_t i) {
    return i < outputs.size() ? format_of(outputs[i].type.tensor_type().elem_type()) : std::nullopt;
  };
  const auto rule = value_rule_of(type);
  if (rule == value_rule::unknown || !format_of_output(0)) {
    return made;
  }
  std::vector<const known_tensor*> elements;
  for (std::size_t i = 0; i < inputs.size() && rule == value_rule::of_elements; ++i) {
    const bool is_absent = n.input(static_cast<int>(i)).empty();
    elements.push_back(inputs[i] == nullptr ? nullptr : inputs[i]->elements());
    if (elements.back() == nullptr && !is_absent) {
      return made;
    }
  }
  std::optional<known_tensor> fill;
  if (type == "ConstantOfShape") {
    const auto* const a = attribute(n, "value");
    fill = a != nullptr && a->has_t() ? known_of(a->t()) : known_tensor::number(0.0);
    elements.push_back(fill ? &*fill : nullptr);
  }
  const auto call = call_of(n, inputs, {}, type, version);
  const auto first = format_of_output(0)->is;
  made = known_outputs({.op = call, .inputs = elements, .made = first, .num_outputs = outputs.size()});
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto format = format_of_output(i);
    if (made[i] && !(format && format->holds(*made[i]))) {
      made[i].reset();
    }
  }
  return made;
}

/// A row of a table of shape rules.
struct shape_row {
  /// Before any operator set: the rule counts, not the schema.
  static constexpr std::int64_t always = 0;
  /// After any operator set: the rule counts where the schema says nothing.
  static constexpr std::int64_t last = 1'000'000;

  std::string_view types; ///< separated by blanks, with their domain unless that is ONNX's own
  void (*infer)(shape_call&);
  std::int64_t since = always; ///< the operator set from which on the rule counts and not the schema at hand
};

inline void bit_cast(shape_call& c) { // BitCast: elements of another size change the innermost extent
  const auto to = static_cast<std::int32_t>(c.o.number("to", 0));
  const auto from_bits = element_bits(c.element(0));
  const auto to_bits = element_bits(to);
  if (from_bits && to_bits && *from_bits == *to_bits) {
    c.like(0, 0, to);
  } else if (const numbers* d = c.dims(0); from_bits && to_bits && d != nullptr && !d->empty()) {
    weft::shape_rules::with_last(c, 0, times(d->back(), *from_bits) / *to_bits, to);
  }
}

namespace shapes = weft::shape_rules;
inline constexpr auto last = shape_row::last;
inline constexpr shape_row shape_rows[] = {
  {"Gemm", shapes::product<1, 0>, last},
  {"Einsum", shapes::einsum},
  {"com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.FusedMatMulActivation "
   "com.microsoft.TransposeMatMul com.microsoft.GemmFastGelu", shapes::product<1, 0>},
  {"com.microsoft.GemmFloat8", shapes::product_of_eights},
  {"com.microsoft.MatMulInteger16", shapes::product<1, elements::int32>},
  {"com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul", shapes::product<1, elements::float32>},
  {"com.microsoft.QOrderedMatMul", shapes::product<2, 0>},
  {"com.microsoft.QGemm", shapes::quantised_gemm},
  {"com.microsoft.MatMulNBits", shapes::named_columns},
  {"com.microsoft.MatMulNBitsMlp", shapes::named_columns_and_sum},
  {"com.microsoft.MatMulNBitsQkv", shapes::named_columns_of_three},
  {"com.microsoft.MatMulBnb4", shapes::named_rows_or_columns},
  {"com.microsoft.MatMulFpQ4", shapes::last_of_third},
  {"com.microsoft.MatMulBlockQuantizedFp4Weight com.microsoft.MatMulBlockQuantizedFp8Weight", shapes::rows_of_second},
  {"com.microsoft.MoE com.microsoft.QMoE TensorScatter CumProd Mish BitwiseNot GroupNormalization RMSNormalization "
   "SimplifiedLayerNormalization com.microsoft.QLinearSigmoid com.microsoft.QLinearLeakyRelu "
   "com.microsoft.QLinearSoftmax com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.QuickGelu "
   "com.microsoft.BiasAdd com.microsoft.BiasSoftmax com.microsoft.GroupNorm com.microsoft.LayerNormalization "
   "com.microsoft.SimplifiedLayerNormalization com.microsoft.Inverse com.microsoft.Trilu ai.onnx.ml.Binarizer "
   "ai.onnx.ml.Imputer com.microsoft.LongformerAttention", shapes::like_first},
  {"SwiGLU Gelu Swish com.microsoft.Gelu RotaryEmbedding com.microsoft.RotaryEmbedding com.microsoft.MRotaryEmbedding",
   shapes::all_like<0>},
  {"DeformConv com.microsoft.FusedConv", shapes::convolution<1, false>},
  {"com.microsoft.NhwcConv com.microsoft.NhwcFusedConv", shapes::convolution<1, true>},
  {"com.microsoft.QLinearConv", shapes::convolution<3, false, 7>},
  {"MaxPool AveragePool LpPool com.microsoft.MaxpoolWithMask com.microsoft.QLinearAveragePool", shapes::pool<false>},
  {"com.microsoft.NhwcMaxPool", shapes::pool<true>},
  {"GlobalLpPool", shapes::global_pool, last},
  {"com.microsoft.QLinearGlobalAveragePool", shapes::global_pool},
  {"MaxUnpool", shapes::unpooled},
  {"Resize", shapes::resize, 18},
  {"GridSample", shapes::grid_sample, 20},
  {"com.microsoft.GridSample", shapes::grid_sample},
  {"AffineGrid", shapes::affine_grid},
  {"CenterCropPad", shapes::crop_or_pad},
  {"Col2Im", shapes::columns_to_image},
  {"com.microsoft.CropAndResize", shapes::crop_and_resize},
  {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare",
   shapes::reduction<true>, 18},
  {"ReduceSum", shapes::reduction<true>, 13},
  {"com.microsoft.QLinearReduceMean", shapes::reduction<false>},
  {"Split", shapes::split, last},
  {"Dropout", shapes::dropout, last},
  {"Reshape", shapes::reshape, last},
  {"Pad", shapes::pad, 18},
  {"com.microsoft.Pad", shapes::pad},
  {"OneHot", shapes::one_hot},
  {"Concat", shapes::concat, last},
  {"com.microsoft.QLinearConcat", shapes::quantised_concat},
  {"Cast", shapes::cast, last},
  {"BitCast", bit_cast},
  {"BitwiseAnd BitwiseOr BitwiseXor com.microsoft.ComplexMul com.microsoft.ComplexMulConj StringConcat",
   shapes::broadcast},
  {"LayerNormalization BatchNormalization InstanceNormalization MeanVarianceNormalization Clip HardSigmoid HardSwish "
   "PRelu", shapes::like_first, last},
  {"Abs Ceil Elu Exp Floor LeakyRelu Log LogSoftmax Neg Reciprocal Relu Selu Sigmoid Softmax Sqrt Tanh",
   shapes::all_like<0>, last},
  {"Add Sub Mul Div Pow Sum Max Min Mean", shapes::broadcast, last},
  {"And Or Xor Equal Less LessOrEqual Greater GreaterOrEqual", shapes::compare, last},
  {"QuantizeLinear com.microsoft.QuantizeLinear", shapes::quantise},
  {"DequantizeLinear com.microsoft.DequantizeLinear", shapes::dequantise},
  {"com.microsoft.GatherBlockQuantized", shapes::gather_quantised},
  {"com.microsoft.QLinearAdd com.microsoft.QLinearMul", shapes::elementwise<0, 0, 3>},
  {"com.microsoft.QLinearWhere", shapes::elementwise<elements::uint8, 0, 1, 4>},
  {"com.microsoft.MulInteger", shapes::elementwise<elements::int32, 0, 2>},
  {"com.microsoft.BiasDropout", shapes::dropout},
  {"com.microsoft.SkipGroupNorm", shapes::all_like<0>},
  {"DFT", shapes::fourier},
  {"STFT", shapes::short_time_fourier},
  {"HannWindow HammingWindow BlackmanWindow", shapes::window},
  {"MelWeightMatrix", shapes::mel_weights},
  {"RegexFullMatch", shapes::like_first_of<elements::boolean>},
  {"StringSplit", shapes::strings_apart},
  {"ai.onnx.ml.ArrayFeatureExtractor", shapes::picked_columns},
  {"ai.onnx.ml.FeatureVectorizer", shapes::features},
  {"ai.onnx.ml.LinearRegressor ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleRegressor", shapes::regression},
  {"ai.onnx.ml.LinearClassifier ai.onnx.ml.SVMClassifier ai.onnx.ml.TreeEnsembleClassifier", shapes::classification},
  {"ai.onnx.ml.Normalizer ai.onnx.ml.Scaler", shapes::like_first_of<elements::float32>},
  {"ai.onnx.ml.OneHotEncoder", shapes::categories},
  {"ai.onnx.ml.SVMRegressor", shapes::vector_regression},
  {"ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Momentum", shapes::optimiser<3, 2>},
  {"ai.onnx.preview.training.Adam", shapes::optimiser<4, 3>},
  {"ai.onnx.preview.training.Gradient", shapes::gradient},
  {"Attention", shapes::attention<4>},
  {"ai.onnx.preview.FlexAttention", shapes::attention<weft::detail::attention_inputs::absent>},
  {"com.microsoft.Attention com.microsoft.DecoderMaskedSelfAttention", shapes::projected_attention<4>},
  {"com.microsoft.QAttention", shapes::projected_attention<8, 3>},
  {"com.microsoft.PackedAttention", shapes::projected_attention<weft::detail::attention_inputs::absent>},
  {"com.microsoft.MultiHeadAttention", shapes::attention<6>},
  {"com.microsoft.GroupQueryAttention com.microsoft.SparseAttention", shapes::attention<3>},
  {"com.microsoft.DecoderMaskedMultiHeadAttention", shapes::attention<5>},
  {"com.microsoft.DecoderAttention", shapes::decoder_attention},
  {"com.microsoft.PackedMultiHeadAttention", shapes::packed_attention},
  {"com.microsoft.PagedAttention", shapes::paged_attention},
  {"LinearAttention com.microsoft.LinearAttention", shapes::linear_attention},
  {"CausalConvWithState com.microsoft.CausalConvWithState", shapes::causal_convolution},
  {"com.microsoft.GemmaRotaryEmbedding", shapes::rotated_pair},
  {"com.microsoft.RelativePositionBias", shapes::position_bias},
  {"com.microsoft.EmbedLayerNormalization", shapes::embedding},
  {"com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization", shapes::skip_normalisation},
};

/// The types of a node's outputs, as far as a rule works them out. Shapes that cannot be are not taken.
inline std::vector<::onnx::TypeProto> infer_by_rule(const shape_row& rule, const ::onnx::NodeProto& n,
                                                    std::span<const value* const> inputs, std::string_view type,
                                                    std::int64_t version) {
  const auto call = call_of(n, inputs, {}, type, version);
  std::vector<shape_input> tensors;
  for (const value* v : inputs) {
    tensors.push_back({v != nullptr, v != nullptr ? v->type.tensor_type().elem_type() : elements::unknown});
  }
  std::vector<std::uint32_t> outputs(static_cast<std::size_t>(n.output_size()));
  std::iota(outputs.begin(), outputs.end(), 0u);
  shape_call c{call, tensors, [inputs](std::size_t i) { return inputs[i]->elements(); }, outputs};
  rule.infer(c);
  std::vector<::onnx::TypeProto> types;
  for (const auto& made : std::move(c).take()) {
    constexpr std::int64_t largest = std::int64_t{1} << 60;
    const auto is_open = [](std::int64_t d) { return d < 0 || d > largest; };
    auto& t = types.emplace_back();
    if (!made.dims || made.dims->size() > std::size_t{max_axes} ||
        std::any_of(made.dims->begin(), made.dims->end(), is_open)) {
      continue;
    }
    t.mutable_tensor_type()->set_elem_type(made.element);
    t.mutable_tensor_type()->mutable_shape();
    for (const auto d : *made.dims) {
      t.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
    }
  }
  return types;
}

} // namespace weft::onnx::detail
