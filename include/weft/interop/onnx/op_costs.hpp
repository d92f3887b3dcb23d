// SPDX-License-Identifier: BSL-1.0
/// How much each type of ONNX op computes: a table of rules (cost_rules.hpp) from shapes to FLOP.
///
/// A multiply-add counts as 2 FLOP; each other arithmetic operation, transcendental functions among them, as 1, as in
/// nn/ops.hpp. Moving data costs none. Rules follow the definitions of the ops in the ONNX operator reference
/// (https://onnx.ai/onnx/operators) and, for the domain com.microsoft, in ONNX Runtime's docs/ContribOperators.md.
#pragma once

#include "weft/interop/onnx/cost_rules.hpp" // IWYU pragma: export

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace weft::onnx {

/// A row of the table.
struct op_cost {
  std::string_view type;
  double (*flop)(const op_call&);
};

/// Every op type with a rule, by what it does. Types of other domains than ONNX's have their domain in front.
inline constexpr auto op_costs = std::to_array<op_cost>({
  // Products.
  {"Conv", costs::convolution<1, 2>},
  {"ConvInteger", costs::convolution<1, 99>},
  {"QLinearConv", costs::convolution<3, 8>},
  {"DeformConv", costs::convolution<1, 3>},
  {"ConvTranspose", costs::transposed_convolution},
  {"Gemm", costs::gemm},
  {"MatMul", costs::matmul},
  {"MatMulInteger", costs::matmul},
  {"QLinearMatMul", costs::matmul},
  {"Einsum", costs::einsum},
  {"LSTM", costs::recurrent<4, 14>},
  {"GRU", costs::recurrent<3, 13>},
  {"RNN", costs::recurrent<1, 4>},
  {"Attention", costs::attention},
  {"com.microsoft.FusedConv", costs::convolution<1, 2>},
  {"com.microsoft.NhwcConv", costs::convolution<1, 2>},
  {"com.microsoft.QLinearConv", costs::convolution<3, 8>},
  {"com.microsoft.FusedGemm", costs::gemm},
  {"com.microsoft.FusedMatMul", costs::matmul},
  {"com.microsoft.TransposeMatMul", costs::matmul},
  {"com.microsoft.QGemm", costs::quantised_gemm},
  {"com.microsoft.MatMulIntegerToFloat", costs::matmul},
  {"com.microsoft.DynamicQuantizeMatMul", costs::matmul},
  {"com.microsoft.MatMulNBits", costs::quantised_columns},
  {"com.microsoft.Attention", costs::self_attention},
  {"com.microsoft.QAttention", costs::self_attention},
  {"com.microsoft.MultiHeadAttention", costs::attention},
  {"com.microsoft.GroupQueryAttention", costs::attention},

  // Normalisation: mean 1, variance 3, normalise and scale 4 (nn/conv.hpp); without a mean 5.
  {"BatchNormalization", costs::batch_normalization},
  {"LayerNormalization", costs::per_input<8>},
  {"InstanceNormalization", costs::per_input<8>},
  {"GroupNormalization", costs::per_input<8>},
  {"MeanVarianceNormalization", costs::per_input<6>},
  {"RMSNormalization", costs::per_input<5>},
  {"SimplifiedLayerNormalization", costs::per_input<5>},
  {"LpNormalization", costs::per_input<3>},
  {"LRN", costs::local_response},
  {"com.microsoft.LayerNormalization", costs::per_input<8>},
  {"com.microsoft.SkipLayerNormalization", costs::per_input<9>},
  {"com.microsoft.EmbedLayerNormalization", costs::per_output<10>},
  {"com.microsoft.SkipSimplifiedLayerNormalization", costs::per_input<6>},
  {"com.microsoft.GroupNorm", costs::per_input<8>},

  // Largest, subtract, exponential, sum, divide.
  {"Softmax", costs::per_input<5>},
  {"LogSoftmax", costs::per_input<5>},
  {"Hardmax", costs::per_input<1>},
  {"SoftmaxCrossEntropyLoss", costs::per_input<5>},
  {"NegativeLogLikelihoodLoss", costs::per_output<1>},

  // Windows.
  {"MaxPool", costs::pool},
  {"AveragePool", costs::pool},
  {"LpPool", costs::pool},
  {"MaxRoiPool", costs::per_input<1>},
  {"RoiAlign", costs::region_align},
  {"GlobalAveragePool", costs::per_input<1>},
  {"GlobalMaxPool", costs::per_input<1>},
  {"GlobalLpPool", costs::per_input<2>},
  {"Resize", costs::resize},
  {"Upsample", costs::resize},
  {"GridSample", costs::per_output<8>},
  {"com.microsoft.QLinearGlobalAveragePool", costs::per_input<1>},
  {"com.microsoft.QLinearAveragePool", costs::pool},

  // One operation per element.
  {"Abs", costs::per_output<1>},
  {"Neg", costs::per_output<1>},
  {"Sign", costs::per_output<1>},
  {"Ceil", costs::per_output<1>},
  {"Floor", costs::per_output<1>},
  {"Round", costs::per_output<1>},
  {"Sqrt", costs::per_output<1>},
  {"Reciprocal", costs::per_output<1>},
  {"Exp", costs::per_output<1>},
  {"Log", costs::per_output<1>},
  {"Erf", costs::per_output<1>},
  {"Sin", costs::per_output<1>},
  {"Cos", costs::per_output<1>},
  {"Tan", costs::per_output<1>},
  {"Asin", costs::per_output<1>},
  {"Acos", costs::per_output<1>},
  {"Atan", costs::per_output<1>},
  {"Sinh", costs::per_output<1>},
  {"Cosh", costs::per_output<1>},
  {"Tanh", costs::per_output<1>},
  {"Asinh", costs::per_output<1>},
  {"Acosh", costs::per_output<1>},
  {"Atanh", costs::per_output<1>},
  {"Sigmoid", costs::per_output<1>},
  {"Relu", costs::per_output<1>},
  {"LeakyRelu", costs::per_output<1>},
  {"PRelu", costs::per_output<1>},
  {"ThresholdedRelu", costs::per_output<1>},
  {"Not", costs::per_output<1>},
  {"BitwiseNot", costs::per_output<1>},
  {"IsNaN", costs::per_output<1>},
  {"IsInf", costs::per_output<1>},
  {"Shrink", costs::per_output<1>},
  {"Add", costs::per_output<1>},
  {"Sub", costs::per_output<1>},
  {"Mul", costs::per_output<1>},
  {"Div", costs::per_output<1>},
  {"Mod", costs::per_output<1>},
  {"Pow", costs::per_output<1>},
  {"And", costs::per_output<1>},
  {"Or", costs::per_output<1>},
  {"Xor", costs::per_output<1>},
  {"BitwiseAnd", costs::per_output<1>},
  {"BitwiseOr", costs::per_output<1>},
  {"BitwiseXor", costs::per_output<1>},
  {"BitShift", costs::per_output<1>},
  {"Equal", costs::per_output<1>},
  {"Greater", costs::per_output<1>},
  {"GreaterOrEqual", costs::per_output<1>},
  {"Less", costs::per_output<1>},
  {"LessOrEqual", costs::per_output<1>},
  {"Where", costs::per_output<1>},
  {"RandomNormal", costs::per_output<1>},
  {"RandomUniform", costs::per_output<1>},
  {"RandomNormalLike", costs::per_output<1>},
  {"RandomUniformLike", costs::per_output<1>},
  {"Bernoulli", costs::per_output<1>},
  {"Multinomial", costs::per_output<1>},
  {"Range", costs::per_output<1>},

  // Several per element, as their definitions spell them out.
  {"Clip", costs::per_output<2>},
  {"Elu", costs::per_output<3>},
  {"Selu", costs::per_output<4>},
  {"Celu", costs::per_output<5>},
  {"Softplus", costs::per_output<3>},
  {"Softsign", costs::per_output<3>},
  {"HardSigmoid", costs::per_output<4>},
  {"HardSwish", costs::per_output<5>},
  {"Swish", costs::per_output<2>},
  {"Mish", costs::per_output<5>},
  {"Gelu", costs::per_output<5>}, // x / √2, erf, + 1, · x, · 1/2
  {"QuantizeLinear", costs::per_output<2>},
  {"DequantizeLinear", costs::per_output<2>},
  {"DynamicQuantizeLinear", costs::per_input<4>},
  {"RotaryEmbedding", costs::per_input<3>},
  {"com.microsoft.Gelu", costs::per_output<5>},
  {"com.microsoft.BiasGelu", costs::per_output<6>},
  {"com.microsoft.FastGelu", costs::per_output<9>}, // x/2 (1 + tanh(a x + b x³)), with a bias
  {"com.microsoft.QuickGelu", costs::per_output<3>},
  {"com.microsoft.BiasSplitGelu", costs::per_output<6>},
  {"com.microsoft.BiasAdd", costs::per_output<2>},
  {"com.microsoft.BiasSoftmax", costs::per_input<6>},
  {"com.microsoft.RotaryEmbedding", costs::per_input<3>},
  {"com.microsoft.QLinearAdd", costs::per_output<5>},
  {"com.microsoft.QLinearMul", costs::per_output<5>},
  {"com.microsoft.QLinearSigmoid", costs::per_output<4>},
  {"com.microsoft.QLinearLeakyRelu", costs::per_output<4>},

  // Several tensors into one.
  {"Sum", costs::per_operand},
  {"Max", costs::per_operand},
  {"Min", costs::per_operand},
  {"Mean", costs::per_operand},

  // Reductions.
  {"ReduceSum", costs::per_input<1>},
  {"ReduceMean", costs::per_input<1>},
  {"ReduceMax", costs::per_input<1>},
  {"ReduceMin", costs::per_input<1>},
  {"ReduceProd", costs::per_input<1>},
  {"ReduceL1", costs::per_input<2>},
  {"ReduceL2", costs::per_input<2>},
  {"ReduceSumSquare", costs::per_input<2>},
  {"ReduceLogSum", costs::per_input<1>},
  {"ReduceLogSumExp", costs::per_input<2>},
  {"ArgMax", costs::per_input<1>},
  {"ArgMin", costs::per_input<1>},
  {"CumSum", costs::per_input<1>},
  {"TopK", costs::selection},
  {"Unique", costs::selection},
  {"Det", costs::per_input<1>},
  {"DFT", costs::fourier},

  // Moving data.
  {"Cast", costs::nothing},
  {"CastLike", costs::nothing},
  {"Identity", costs::nothing},
  {"Reshape", costs::nothing},
  {"Flatten", costs::nothing},
  {"Squeeze", costs::nothing},
  {"Unsqueeze", costs::nothing},
  {"Transpose", costs::nothing},
  {"Concat", costs::nothing},
  {"Split", costs::nothing},
  {"Slice", costs::nothing},
  {"Gather", costs::nothing},
  {"GatherElements", costs::nothing},
  {"GatherND", costs::nothing},
  {"Scatter", costs::nothing},
  {"ScatterElements", costs::scatter},
  {"ScatterND", costs::scatter},
  {"Expand", costs::nothing},
  {"Tile", costs::nothing},
  {"Pad", costs::nothing},
  {"Shape", costs::nothing},
  {"Size", costs::nothing},
  {"Constant", costs::nothing},
  {"ConstantOfShape", costs::nothing},
  {"DepthToSpace", costs::nothing},
  {"SpaceToDepth", costs::nothing},
  {"Dropout", costs::nothing},
  {"OneHot", costs::nothing},
  {"EyeLike", costs::nothing},
  {"NonZero", costs::nothing},
  {"Compress", costs::nothing},
  {"Trilu", costs::nothing},
  {"ReverseSequence", costs::nothing},
  {"MaxUnpool", costs::nothing},
  {"CenterCropPad", costs::nothing},
  {"Col2Im", costs::nothing},
  {"SequenceConstruct", costs::nothing},
  {"SequenceEmpty", costs::nothing},
  {"SequenceAt", costs::nothing},
  {"SequenceInsert", costs::nothing},
  {"SequenceErase", costs::nothing},
  {"SequenceLength", costs::nothing},
  {"SplitToSequence", costs::nothing},
  {"ConcatFromSequence", costs::nothing},
  {"Optional", costs::nothing},
  {"OptionalGetElement", costs::nothing},
  {"OptionalHasElement", costs::nothing},
  {"com.microsoft.NhwcMaxPool", costs::pool},
  {"com.microsoft.QLinearConcat", costs::nothing},
});

/// FLOP of an op, or nothing if the table has no rule for its type. A Dropout counts as in inference, where it passes
/// its input on. Complexity: O(rows).
inline std::optional<double> flop_of(const op_call& o) {
  const auto row = std::find_if(op_costs.begin(), op_costs.end(), [&](const op_cost& c) { return c.type == o.type; });
  return row == op_costs.end() ? std::nullopt : std::optional{row->flop(o)};
}

} // namespace weft::onnx
