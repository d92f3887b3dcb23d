// SPDX-License-Identifier: BSL-1.0
/// What the gradient of an op is like, by the op's type as ONNX and TensorFlow call it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

/// What a gradient reads of its forward op besides the gradients of the outputs, and so keeps in memory until then.
enum class gradient_reads : std::uint8_t {
  nothing,   ///< an addition, a reshape
  selectors, ///< the inputs that have no gradient themselves, such as the indices of a gather
  inputs,    ///< a multiplication
  outputs,   ///< a ReLU
  both       ///< a max pool
};

/// How an op is differentiated.
struct gradient_rule {
  bool differentiable = true;
  /// A sum of products of two operands, such as a matrix product: the gradient of each costs as much as the op, and
  /// reads the other one.
  bool product = false;
  bool parameters = true; ///< what the op holds is trained; else it is axes, a shape, limits
  gradient_reads reads = gradient_reads::both;
};

namespace detail {

inline constexpr gradient_rule stops{.differentiable = false, .reads = gradient_reads::nothing};
inline constexpr gradient_rule adds{.reads = gradient_reads::nothing};
inline constexpr gradient_rule rearranges{.parameters = false, .reads = gradient_reads::nothing};
inline constexpr gradient_rule reduces{.parameters = false};
inline constexpr gradient_rule limits{.parameters = false, .reads = gradient_reads::inputs};
inline constexpr gradient_rule drops{.parameters = false, .reads = gradient_reads::outputs};
inline constexpr gradient_rule selects{.reads = gradient_reads::selectors};
inline constexpr gradient_rule from_inputs{.reads = gradient_reads::inputs};
inline constexpr gradient_rule from_outputs{.reads = gradient_reads::outputs};
inline constexpr gradient_rule multiplies{.product = true, .reads = gradient_reads::inputs};
inline constexpr gradient_rule recurs{.product = true, .reads = gradient_reads::both};

struct named_gradient_rule {
  std::string_view type;
  gradient_rule rule;
};

/// Types that are not here have the rule of `gradient_rule`'s defaults. Ascending, in ASCII order.
inline constexpr auto gradient_rules = std::to_array<named_gradient_rule>({
  {"Add", adds},
  {"AddN", adds},
  {"All", stops},
  {"And", stops},
  {"Any", stops},
  {"ArgMax", stops},
  {"ArgMin", stops},
  {"Assert", stops},
  {"Attention", recurs},
  {"AveragePool", rearranges},
  {"AvgPool", rearranges},
  {"AvgPool3D", rearranges},
  {"BatchMatMul", multiplies},
  {"BatchNormalization", from_inputs},
  {"BatchToSpaceND", rearranges},
  {"Bernoulli", stops},
  {"BiasAdd", adds},
  {"BiasGelu", from_inputs},
  {"BlockLSTM", recurs},
  {"BroadcastGradientArgs", stops},
  {"BroadcastTo", rearranges},
  {"Cast", rearranges},
  {"Ceil", stops},
  {"Clip", limits},
  {"Concat", rearranges},
  {"ConcatOffset", stops},
  {"Const", stops},
  {"Constant", stops},
  {"ConstantOfShape", stops},
  {"Conv", multiplies},
  {"Conv1D", multiplies},
  {"Conv2D", multiplies},
  {"Conv2DBackpropFilter", multiplies},
  {"Conv2DBackpropInput", multiplies},
  {"Conv3D", multiplies},
  {"ConvTranspose", multiplies},
  {"CudnnRNN", recurs},
  {"CumSum", rearranges},
  {"Cumsum", rearranges},
  {"DepthToSpace", rearranges},
  {"DepthwiseConv2dNative", multiplies},
  {"DequantizeLinear", rearranges},
  {"Dropout", drops},
  {"DynamicQuantizeLinear", stops},
  {"DynamicStitch", selects},
  {"Einsum", multiplies},
  {"Elu", from_outputs},
  {"EmbeddingLookup", selects},
  {"Equal", stops},
  {"Erf", from_inputs},
  {"Exp", from_outputs},
  {"Expand", rearranges},
  {"ExpandDims", rearranges},
  {"EyeLike", stops},
  {"FastGelu", from_inputs},
  {"Fill", stops},
  {"Flatten", rearranges},
  {"Floor", stops},
  {"FloorDiv", stops},
  {"FloorMod", stops},
  {"FusedBatchNorm", from_inputs},
  {"FusedConv", multiplies},
  {"FusedConv2D", multiplies},
  {"FusedGemm", multiplies},
  {"FusedMatMul", multiplies},
  {"GRU", recurs},
  {"GRUBlockCell", recurs},
  {"Gather", selects},
  {"GatherElements", selects},
  {"GatherND", selects},
  {"GatherNd", selects},
  {"Gelu", from_inputs},
  {"Gemm", multiplies},
  {"GlobalAveragePool", rearranges},
  {"Greater", stops},
  {"GreaterEqual", stops},
  {"GreaterOrEqual", stops},
  {"GroupNormalization", from_inputs},
  {"HardSigmoid", from_outputs},
  {"HardSwish", from_inputs},
  {"Identity", rearranges},
  {"IdentityN", rearranges},
  {"InstanceNormalization", from_inputs},
  {"InvertPermutation", stops},
  {"IsFinite", stops},
  {"IsInf", stops},
  {"IsNaN", stops},
  {"IsNan", stops},
  {"Iterator", stops},
  {"IteratorGetNext", stops},
  {"L2Loss", from_inputs},
  {"LSTM", recurs},
  {"LSTMBlockCell", recurs},
  {"LayerNorm", from_inputs},
  {"LayerNormalization", from_inputs},
  {"LeakyRelu", from_inputs},
  {"Less", stops},
  {"LessEqual", stops},
  {"LessOrEqual", stops},
  {"LinSpace", stops},
  {"Log", from_inputs},
  {"Log1p", from_inputs},
  {"LogSoftmax", from_outputs},
  {"LogicalAnd", stops},
  {"LogicalNot", stops},
  {"LogicalOr", stops},
  {"MatMul", multiplies},
  {"MatMulInteger", stops},
  {"MaxPool", reduces},
  {"Mean", rearranges},
  {"MirrorPad", rearranges},
  {"Mish", from_inputs},
  {"Mod", stops},
  {"Mul", from_inputs},
  {"MultiHeadAttention", recurs},
  {"Multinomial", stops},
  {"Neg", adds},
  {"NoOp", stops},
  {"NonMaxSuppression", stops},
  {"NonZero", stops},
  {"Not", stops},
  {"NotEqual", stops},
  {"OneHot", stops},
  {"OnesLike", stops},
  {"Or", stops},
  {"Pack", rearranges},
  {"Pad", rearranges},
  {"Placeholder", stops},
  {"Pow", from_inputs},
  {"PreventGradient", stops},
  {"Print", stops},
  {"Prod", reduces},
  {"QuantizeLinear", stops},
  {"RMSNorm", from_inputs},
  {"RNN", recurs},
  {"RandomNormal", stops},
  {"RandomNormalLike", stops},
  {"RandomStandardNormal", stops},
  {"RandomUniform", stops},
  {"RandomUniformInt", stops},
  {"RandomUniformLike", stops},
  {"Range", stops},
  {"Rank", stops},
  {"ReadVariableOp", rearranges},
  {"Reciprocal", from_outputs},
  {"ReduceL1", reduces},
  {"ReduceL2", reduces},
  {"ReduceLogSum", reduces},
  {"ReduceLogSumExp", reduces},
  {"ReduceMax", reduces},
  {"ReduceMean", rearranges},
  {"ReduceMin", reduces},
  {"ReduceProd", reduces},
  {"ReduceSum", rearranges},
  {"ReduceSumSquare", reduces},
  {"Relu", from_outputs},
  {"Relu6", from_outputs},
  {"Reshape", rearranges},
  {"Resize", rearranges},
  {"ResizeBilinear", rearranges},
  {"ResizeNearestNeighbor", rearranges},
  {"ResourceGather", selects},
  {"Reverse", rearranges},
  {"ReverseSequence", rearranges},
  {"Rint", stops},
  {"Round", stops},
  {"Rsqrt", from_outputs},
  {"ScatterElements", selects},
  {"ScatterND", selects},
  {"ScatterNd", selects},
  {"Select", selects},
  {"Selu", from_outputs},
  {"Shape", stops},
  {"ShapeN", stops},
  {"Sigmoid", from_outputs},
  {"Sign", stops},
  {"Silu", from_inputs},
  {"SimplifiedLayerNormalization", from_inputs},
  {"Size", stops},
  {"SkipLayerNormalization", from_inputs},
  {"Slice", rearranges},
  {"Softmax", from_outputs},
  {"SoftmaxCrossEntropyWithLogits", from_outputs},
  {"Softplus", from_inputs},
  {"SpaceToBatchND", rearranges},
  {"SpaceToDepth", rearranges},
  {"SparseMatMul", multiplies},
  {"SparseSoftmaxCrossEntropyWithLogits", from_outputs},
  {"Split", rearranges},
  {"SplitV", rearranges},
  {"Sqrt", from_outputs},
  {"Square", from_inputs},
  {"Squeeze", rearranges},
  {"StopGradient", stops},
  {"StridedSlice", rearranges},
  {"Sub", adds},
  {"Sum", adds},
  {"Swish", from_inputs},
  {"Tanh", from_outputs},
  {"Tile", rearranges},
  {"TopK", reduces},
  {"Transpose", rearranges},
  {"Unique", stops},
  {"Unpack", rearranges},
  {"UnsortedSegmentSum", selects},
  {"Unsqueeze", rearranges},
  {"Upsample", rearranges},
  {"VarHandleOp", adds},
  {"Variable", adds},
  {"Where", selects},
  {"Xor", stops},
  {"ZerosLike", stops},
});
static_assert(std::ranges::is_sorted(gradient_rules, {}, &named_gradient_rule::type));

/// The type without what comes before its last '.', ':' or '_' at the front (a domain, a mark of fused ops), and
/// without a version such as V2 at its end.
constexpr std::string_view plain_type(std::string_view type) {
  if (const auto domain = type.find_last_of(".:"); domain != type.npos) {
    type.remove_prefix(domain + 1);
  }
  while (type.starts_with('_')) {
    type.remove_prefix(1);
  }
  const auto last = type.find_last_not_of("0123456789");
  if (last != type.npos && last > 0 && last + 1 < type.size() && type[last] == 'V') {
    type = type.substr(0, last);
  }
  return type;
}

} // namespace detail

/// The rule of an op type. Types that nobody knows are differentiable, cost as much backward as forward, and their
/// gradients read what they read and what they made. Complexity: O(log of the number of known types).
constexpr gradient_rule gradient_rule_of(std::string_view type) {
  const auto name = detail::plain_type(type);
  const auto at = std::ranges::lower_bound(detail::gradient_rules, name, {}, &detail::named_gradient_rule::type);
  return at != detail::gradient_rules.end() && at->type == name ? at->rule : gradient_rule{};
}

} // namespace weft
