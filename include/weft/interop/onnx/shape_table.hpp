// SPDX-License-Identifier: BSL-1.0
/// The table of shape rules for ONNX's types: what infers the outputs' shapes, where a file may leave them open.
#pragma once

#include "weft/ops/rows_by_type.hpp"
#include "weft/ops/shape_rules_attention.hpp"
#include "weft/ops/shape_rules_matrices.hpp"
#include "weft/ops/shape_rules_tensors.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::onnx::detail {

/// A row of the table.
struct shape_rule {
  /// Before any operator set: the rule counts, not the schema.
  static constexpr std::int64_t always = 0;
  /// After any operator set: the rule counts where the schema says nothing.
  static constexpr std::int64_t last = 1'000'000;

  std::string_view types; ///< separated by blanks, with their domain unless that is ONNX's own
  void (*infer)(ops::shape_call&) = nullptr;
  std::int64_t since = always; ///< the operator set from which on the rule counts and not the schema at hand
};

namespace shape_table {
namespace shapes = ops::shape_rules;
inline constexpr auto last = shape_rule::last;

/// Types of ONNX and ONNX Runtime.
inline constexpr shape_rule rows[] = {
  {"Einsum", shapes::einsum},
  {"Gelu RotaryEmbedding Swish", shapes::all_like<0>},
  {"MaxPool", shapes::pool<false>},
  {"Split", shapes::split, last},
  {"Reshape", shapes::reshape, last},
  {"Pad", shapes::pad, 18},
  {"OneHot", shapes::one_hot},
  {"Concat", shapes::concat, last},
  {"Cast", shapes::cast, last},
  {"BitwiseAnd BitwiseOr BitwiseXor", shapes::broadcast},
  {"Abs Ceil Elu Exp Floor LeakyRelu Log LogSoftmax Neg Reciprocal Relu Selu Sigmoid Softmax Sqrt Tanh",
   shapes::all_like<0>, last},
  {"Add Div Mul Pow Sub", shapes::broadcast, last},
  {"Equal Greater Less", shapes::compare, last},
  {"Gemm", shapes::product<1, 0>, last},
  {"com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.FusedMatMulActivation "
   "com.microsoft.TransposeMatMul com.microsoft.GemmFastGelu", shapes::product<1, 0>},
  {"com.microsoft.GemmFloat8", shapes::product_of_eights},
  {"com.microsoft.MatMulInteger16", shapes::product<1, ops::elements::int32>},
  {"com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul",
   shapes::product<1, ops::elements::float32>},
  {"com.microsoft.QOrderedMatMul", shapes::product<2, 0>},
  {"com.microsoft.QGemm", shapes::quantised_gemm},
  {"com.microsoft.MatMulNBits", shapes::named_columns},
  {"com.microsoft.MatMulNBitsMlp", shapes::named_columns_and_sum},
  {"com.microsoft.MatMulNBitsQkv", shapes::named_columns_of_three},
  {"com.microsoft.MatMulBnb4", shapes::named_rows_or_columns},
  {"com.microsoft.MatMulFpQ4", shapes::last_of_third},
  {"com.microsoft.CDist com.microsoft.MatMulBlockQuantizedFp4Weight com.microsoft.MatMulBlockQuantizedFp8Weight",
   shapes::rows_of_second},
  {"com.microsoft.MoE com.microsoft.QMoE TensorScatter CumProd Mish BitwiseNot GroupNormalization RMSNormalization "
   "SimplifiedLayerNormalization com.microsoft.QLinearSigmoid com.microsoft.QLinearLeakyRelu "
   "com.microsoft.QLinearSoftmax com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.QuickGelu "
   "com.microsoft.BiasAdd com.microsoft.BiasSoftmax com.microsoft.GroupNorm com.microsoft.LayerNormalization "
   "com.microsoft.SimplifiedLayerNormalization com.microsoft.Inverse com.microsoft.Trilu ai.onnx.ml.Binarizer "
   "ai.onnx.ml.Imputer com.microsoft.LongformerAttention", shapes::like_first},
  {"SwiGLU com.microsoft.Gelu com.microsoft.RotaryEmbedding com.microsoft.MRotaryEmbedding com.microsoft.SkipGroupNorm",
   shapes::all_like<0>},
  {"DeformConv com.microsoft.FusedConv", shapes::convolution<1, false>},
  {"com.microsoft.NhwcConv com.microsoft.NhwcFusedConv", shapes::convolution<1, true>},
  {"com.microsoft.QLinearConv", shapes::convolution<3, false, 7>},
  {"AveragePool LpPool com.microsoft.MaxpoolWithMask com.microsoft.QLinearAveragePool", shapes::pool<false>},
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
  {"Dropout", shapes::dropout, last},
  {"com.microsoft.Pad", shapes::pad},
  {"com.microsoft.QLinearConcat", shapes::quantised_concat},
  {"BitCast", shapes::bit_cast},
  {"com.microsoft.ComplexMul com.microsoft.ComplexMulConj StringConcat", shapes::broadcast},
  {"LayerNormalization BatchNormalization InstanceNormalization MeanVarianceNormalization Clip HardSigmoid HardSwish "
   "PRelu", shapes::like_first, last},
  {"Sum Max Min Mean", shapes::broadcast, last},
  {"And Or Xor LessOrEqual GreaterOrEqual", shapes::compare, last},
  {"QuantizeLinear com.microsoft.QuantizeLinear", shapes::quantise},
  {"DequantizeLinear com.microsoft.DequantizeLinear", shapes::dequantise},
  {"com.microsoft.GatherBlockQuantized", shapes::gather_quantised},
  {"com.microsoft.QLinearAdd com.microsoft.QLinearMul", shapes::elementwise<0, 0, 3>},
  {"com.microsoft.QLinearWhere", shapes::elementwise<ops::elements::uint8, 0, 1, 4>},
  {"com.microsoft.MulInteger", shapes::elementwise<ops::elements::int32, 0, 2>},
  {"com.microsoft.BiasDropout", shapes::dropout},
  {"DFT", shapes::fourier},
  {"STFT", shapes::short_time_fourier},
  {"HannWindow HammingWindow BlackmanWindow", shapes::window},
  {"MelWeightMatrix", shapes::mel_weights},
  {"RegexFullMatch", shapes::like_first_of<ops::elements::boolean>},
  {"StringSplit", shapes::strings_apart},
  {"ai.onnx.ml.ArrayFeatureExtractor", shapes::picked_columns},
  {"ai.onnx.ml.FeatureVectorizer", shapes::features},
  {"ai.onnx.ml.LinearRegressor ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleRegressor", shapes::regression},
  {"ai.onnx.ml.LinearClassifier ai.onnx.ml.SVMClassifier ai.onnx.ml.TreeEnsembleClassifier", shapes::classification},
  {"ai.onnx.ml.Normalizer ai.onnx.ml.Scaler", shapes::like_first_of<ops::elements::float32>},
  {"ai.onnx.ml.OneHotEncoder", shapes::categories},
  {"ai.onnx.ml.SVMRegressor", shapes::vector_regression},
  {"ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Momentum", shapes::optimiser<3, 2>},
  {"ai.onnx.preview.training.Adam", shapes::optimiser<4, 3>},
  {"ai.onnx.preview.training.Gradient", shapes::gradient},
  {"Attention", shapes::attention<4>},
  {"ai.onnx.preview.FlexAttention", shapes::attention<ops::attention_inputs::absent>},
  {"com.microsoft.Attention com.microsoft.DecoderMaskedSelfAttention", shapes::projected_attention<4>},
  {"com.microsoft.QAttention", shapes::projected_attention<8, 3>},
  {"com.microsoft.PackedAttention", shapes::projected_attention<ops::attention_inputs::absent>},
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

} // namespace shape_table

/// Every type with its rule, ascending.
inline const std::vector<ops::typed_row<shape_rule>>& shape_rules() {
  static const auto made = ops::rows_by_type<shape_rule>({shape_table::rows});
  return made;
}

/// The rule for ops of this very type, with its domain in front unless that is ONNX's own; or null. Complexity:
/// O(log of the number of known types).
inline const shape_rule* find_shape_rule(std::string_view type) {
  return ops::find_row(shape_rules(), type);
}

} // namespace weft::onnx::detail
