// SPDX-License-Identifier: BSL-1.0
/// What the gradient of an op is like, by the op's type as ONNX and TensorFlow call it.
#pragma once

#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

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

struct gradient_rule_of_types {
  gradient_rule rule;
  std::string_view types; // with spaces between them
};

/// Types that are not here have the rule of `gradient_rule`'s defaults.
inline constexpr gradient_rule_of_types gradient_rules[] = {
  // Comparisons, shapes, indices, integers, constants, random numbers, what has effects only.
  {{.differentiable = false, .reads = gradient_reads::nothing},
   "All And Any ArgMax ArgMin Assert Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp "
   "AssignVariableOp AudioSummary Bernoulli BitShift BroadcastGradientArgs Bucketize Ceil ConcatOffset Const "
   "Constant ConstantOfShape ConvInteger DynamicQuantizeLinear Equal EyeLike Fill Floor FloorDiv FloorMod Greater "
   "GreaterEqual GreaterOrEqual HistogramSummary ImageSummary InTopK InvertPermutation IsFinite IsInf IsNaN IsNan "
   "IsVariableInitialized Iterator IteratorGetNext Less LessEqual LessOrEqual LinSpace LogicalAnd LogicalNot "
   "LogicalOr LogicalXor MatMulInteger MergeSummary Mod Multinomial NoOp NonMaxSuppression NonZero Not NotEqual "
   "OneHot OnesLike Or ParameterizedTruncatedNormal ParseExample Placeholder PreventGradient Print QuantizeLinear "
   "QueueDequeue QueueDequeueMany RandomNormal RandomNormalLike RandomStandardNormal RandomUniform RandomUniformInt "
   "RandomUniformLike Range Rank Restore Rint Round Save ScalarSummary Shape ShapeN ShardedFilename Sign Size "
   "StopGradient TruncatedNormal Unique VarIsInitializedOp VariableShape Xor ZerosLike"},
  // Sums, and variables.
  {{.reads = gradient_reads::nothing},
   "Add AddN BiasAdd Neg Sub Sum VarHandleOp Variable"},
  // Linear ops that hold axes, shapes or sizes.
  {{.parameters = false, .reads = gradient_reads::nothing},
   "AveragePool AvgPool AvgPool3D BatchToSpaceND BroadcastTo Cast Concat CumSum Cumsum DepthToSpace "
   "DequantizeLinear Expand ExpandDims Flatten GlobalAveragePool Identity IdentityN Mean MirrorPad Pack Pad "
   "ReadVariableOp ReduceMean ReduceSum Reshape Resize ResizeBilinear ResizeNearestNeighbor Reverse ReverseSequence "
   "Slice SpaceToBatchND SpaceToDepth Split SplitV Squeeze StridedSlice Tile Transpose Unpack Unsqueeze Upsample"},
  // What finds some of its inputs again in its outputs.
  {{.parameters = false},
   "MaxPool Prod ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMin ReduceProd ReduceSumSquare TopK"},
  {{.parameters = false, .reads = gradient_reads::inputs},
   "Clip"},
  {{.parameters = false, .reads = gradient_reads::outputs},
   "Dropout"},
  {{.reads = gradient_reads::selectors},
   "DynamicStitch EmbeddingLookup Gather GatherElements GatherND GatherNd ResourceGather ScatterElements ScatterND "
   "ScatterNd Select UnsortedSegmentSum Where"},
  {{.reads = gradient_reads::inputs},
   "Abs BatchNormalization BiasGelu BiasSplitGelu Celu Cos Div Erf FastGelu FusedBatchNorm Gelu GroupNormalization "
   "HardSwish InstanceNormalization L2Loss LayerNorm LayerNormalization LeakyRelu Log Log1p Max Maximum Min Minimum "
   "Mish Mul PRelu Pow QuickGelu RMSNorm RMSNormalization RealDiv Silu SimplifiedLayerNormalization Sin "
   "SkipLayerNormalization SkipSimplifiedLayerNormalization Softplus Softsign Square SquaredDifference Swish "
   "ThresholdedRelu"},
  {{.reads = gradient_reads::outputs},
   "Elu Exp Expm1 HardSigmoid Inv LogSoftmax Reciprocal Relu Relu6 Rsqrt Selu Sigmoid Softmax "
   "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits Sqrt Tanh"},
  {{.product = true, .reads = gradient_reads::inputs},
   "BatchMatMul Conv Conv1D Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D ConvTranspose DeformConv "
   "DepthwiseConv2d DepthwiseConv2dNative Einsum FusedConv FusedConv2D FusedGemm FusedMatMul Gemm MatMul "
   "SparseMatMul SparseTensorDenseMatMul"},
  // Several products in one op.
  {{.product = true, .reads = gradient_reads::both},
   "Attention BlockLSTM CudnnRNN GRU GRUBlockCell GroupQueryAttention LSTM LSTMBlockCell MultiHeadAttention "
   "PackedAttention QAttention RNN"},
};

struct named_gradient_rule {
  std::string_view type;
  gradient_rule rule;
};

/// The same by type, ascending; made when the first one is asked for, as compilers would take a second for it.
inline const std::vector<named_gradient_rule>& gradient_rules_by_type() {
  static const auto made = [] {
    std::vector<named_gradient_rule> all;
    for (const auto& [rule, types] : gradient_rules) {
      for (auto rest = types; !rest.empty();) {
        const auto end = std::min(rest.find(' '), rest.size());
        all.push_back({rest.substr(0, end), rule});
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    weft::sort(all, [](const named_gradient_rule& x, const named_gradient_rule& y) { return x.type < y.type; });
    return all;
  }();
  return made;
}

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
inline gradient_rule gradient_rule_of(std::string_view type) {
  const auto name = detail::plain_type(type);
  const auto& known = detail::gradient_rules_by_type();
  const auto at = std::lower_bound(known.begin(), known.end(), name,
                                   [](const detail::named_gradient_rule& x, std::string_view n) { return x.type < n; });
  return at != known.end() && at->type == name ? at->rule : gradient_rule{};
}

} // namespace weft
