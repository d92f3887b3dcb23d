// SPDX-License-Identifier: BSL-1.0
/// What is known of TensorFlow's ops: how the shapes of their outputs follow, how much they compute, where they run.
///
/// FLOP: a multiply-add is 2; elementwise ops 1 per output element, transcendental ones too; reductions 1 per input
/// element; data movement 0. Convolution 2 N Ho Wo Co Kh Kw Ci, each of its gradients the same; pooling 1 per element
/// of each window; batch and layer normalisation 8 per element, its gradient 11 (root mean square 4 and 9); softmax 5
/// per logit, its gradient 4; top k k per element; local response normalisation 24 (a window of 11), its gradient twice
/// that; updates per parameter: gradient descent 2, momentum 4, RMSProp 11, Adam 12, Adagrad 4. These are the counts of
/// workload/nn.
/// Source of names, inputs and shape rules: tensorflow/core/ops/{array, math, nn, training, state, data_flow}_ops.cc.
#pragma once

#include "weft/platform/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace weft::tensorflow::detail {

/// How the shapes of an op's outputs follow from its inputs and attributes.
enum class shape_rule : std::uint8_t {
  arg_reduce,
  argument,
  batch_matmul,
  batch_norm,
  batch_norm_grad,
  broadcast,
  broadcast_args,
  call,
  channels,
  concat_first,
  concat_last,
  concat_offset,
  constant,
  conv,
  conv_filter_grad,
  conv_input_grad,
  cross_entropy,
  depthwise,
  dequeue,
  each,
  einsum,
  expand_dims,
  fill,
  from_second_values,
  from_third_values,
  from_values,
  gather,
  gather_nd,
  handle,
  identity,
  iterator,
  like_first,
  like_second,
  lstm,
  lstm_grad,
  matmul,
  merge,
  no_output,
  one_hot,
  pack,
  pad,
  placeholder,
  pool,
  range,
  rank,
  read_variable,
  reduce,
  reference,
  reshape,
  resize,
  resource_gather,
  scalar,
  segment_sum,
  select,
  shape,
  shape_n,
  size,
  slice,
  split,
  split_v,
  squeeze,
  strided_slice,
  switch_,
  tile,
  top_k,
  transpose,
  unpack,
  variable
};

/// How much an op computes; see the top of this file.
enum class work_rule : std::uint8_t {
  avg_pool_grad, batch_matmul, call, conv, conv_filter_grad, conv_input_grad, depthwise, depthwise_filter_grad,
  depthwise_input_grad, einsum, lstm, lstm_grad, matmul, max_pool_grad, none, per_input, per_output, pool,
  reduction, scatter_update, sparse_update, sum, top_k, update
};

/// Ops that are alike.
struct op_family {
  std::string_view ops; ///< their types, separated by blanks
  shape_rule shape;
  work_rule work = work_rule::none;
  std::uint8_t factor = 1;  ///< FLOP per element
  std::uint8_t outputs = 1; ///< how many each has; where an attribute says it, 1
};

inline constexpr op_family op_families[] = {
  {"AvgPool3DGrad AvgPoolGrad", shape_rule::from_values, work_rule::avg_pool_grad},
  {"BatchMatMul BatchMatMulV2 BatchMatMulV3", shape_rule::batch_matmul, work_rule::batch_matmul},
  {"Case If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile "
   "While", shape_rule::call, work_rule::call},
  {"Conv1D Conv2D Conv3D _FusedConv2D", shape_rule::conv, work_rule::conv},
  {"Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropFilterV2",
   shape_rule::conv_filter_grad, work_rule::conv_filter_grad},
  {"Conv2DBackpropInput Conv3DBackpropInput Conv3DBackpropInputV2",
   shape_rule::conv_input_grad, work_rule::conv_input_grad},
  {"DepthwiseConv2dNative", shape_rule::depthwise, work_rule::depthwise},
  {"DepthwiseConv2dNativeBackpropFilter", shape_rule::conv_filter_grad, work_rule::depthwise_filter_grad},
  {"DepthwiseConv2dNativeBackpropInput", shape_rule::conv_input_grad, work_rule::depthwise_input_grad},
  {"Einsum", shape_rule::einsum, work_rule::einsum},
  {"LSTMBlockCell", shape_rule::lstm, work_rule::lstm, 14, 7},
  {"LSTMBlockCellGrad", shape_rule::lstm_grad, work_rule::lstm_grad, 12, 5},
  {"MatMul SparseMatMul _FusedMatMul", shape_rule::matmul, work_rule::matmul},
  {"MaxPool3DGrad MaxPoolGrad MaxPoolGradV2", shape_rule::like_first, work_rule::max_pool_grad},
  {"ArgMax ArgMin", shape_rule::arg_reduce, work_rule::per_input},
  {"FusedBatchNorm FusedBatchNormV2", shape_rule::batch_norm, work_rule::per_input, 8, 5},
  {"FusedBatchNormV3", shape_rule::batch_norm, work_rule::per_input, 8, 6},
  {"FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
   shape_rule::batch_norm_grad, work_rule::per_input, 11, 5},
  {"BiasAddGrad", shape_rule::channels, work_rule::per_input},
  {"SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
   shape_rule::cross_entropy, work_rule::per_input, 5, 2},
  {"SegmentMean SegmentSum", shape_rule::like_first, work_rule::per_input},
  {"InTopK InTopKV2", shape_rule::like_second, work_rule::per_input},
  {"L2Loss", shape_rule::scalar, work_rule::per_input, 2},
  {"UnsortedSegmentMax UnsortedSegmentSum", shape_rule::segment_sum, work_rule::per_input},
  {"TopK TopKV2", shape_rule::top_k, work_rule::top_k, 1, 2},
  {"Add AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod "
   "Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan NotEqual Pow "
   "RealDiv SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlogy", shape_rule::broadcast, work_rule::per_output},
  {"ParameterizedTruncatedNormal RandomStandardNormal RandomUniform RandomUniformInt StatelessRandomNormal "
   "StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformV2 StatelessTruncatedNormal "
   "TruncatedNormal", shape_rule::from_values, work_rule::per_output},
  {"Abs Acos Acosh Asin Asinh Atan Atanh BiasAdd BiasAddV1 Ceil CheckNumerics ClipByValue Cos Cosh Cumprod "
   "Cumsum Digamma Elu EluGrad Erf Erfc Exp Expm1 FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars Floor Gelu "
   "GeluGrad Inv InvGrad Invert IsFinite IsInf IsNan LeakyRelu LeakyReluGrad Lgamma Log Log1p LogicalNot "
   "Ndtri Neg Reciprocal ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad Rint Round Rsqrt RsqrtGrad Selu "
   "SeluGrad Sigmoid SigmoidGrad Sign Sin Sinh Softplus SoftplusGrad Softsign SoftsignGrad Sqrt SqrtGrad "
   "Square Swish Tan Tanh TanhGrad", shape_rule::like_first, work_rule::per_output},
  {"LRN", shape_rule::like_first, work_rule::per_output, 24},
  {"LRNGrad", shape_rule::like_first, work_rule::per_output, 48},
  {"LayerNorm", shape_rule::like_first, work_rule::per_input, 8, 3},
  {"LayerNormGrad", shape_rule::like_first, work_rule::per_input, 11, 3},
  {"LogSoftmax Softmax", shape_rule::like_first, work_rule::per_output, 5},
  {"LogSoftmaxGrad SoftmaxGrad", shape_rule::like_first, work_rule::per_output, 4},
  {"RMSNorm", shape_rule::like_first, work_rule::per_input, 4, 2},
  {"RMSNormGrad", shape_rule::like_first, work_rule::per_input, 9, 2},
  {"ResizeBilinear", shape_rule::resize, work_rule::per_output, 9},
  {"Select SelectV2", shape_rule::select, work_rule::per_output},
  {"AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolV2", shape_rule::pool, work_rule::pool},
  {"All Any EuclideanNorm Max Mean Min Prod Sum", shape_rule::reduce, work_rule::reduction},
  {"ScatterAdd ScatterMul ScatterNdAdd ScatterNdUpdate ScatterSub ScatterUpdate",
   shape_rule::reference, work_rule::scatter_update},
  {"SparseApplyAdagrad SparseApplyMomentum", shape_rule::reference, work_rule::sparse_update, 4},
  {"SparseApplyAdam SparseApplyFtrl", shape_rule::reference, work_rule::sparse_update, 12},
  {"SparseApplyGradientDescent", shape_rule::reference, work_rule::sparse_update, 2},
  {"SparseApplyRMSProp", shape_rule::reference, work_rule::sparse_update, 11},
  {"AccumulateNV2 AddN", shape_rule::like_first, work_rule::sum},
  {"ApplyAdaMax ApplyPowerSign", shape_rule::reference, work_rule::update, 9},
  {"ApplyAdadelta ApplyAdam ApplyFtrl", shape_rule::reference, work_rule::update, 12},
  {"ApplyAdagrad ApplyMomentum", shape_rule::reference, work_rule::update, 4},
  {"ApplyAdagradV2", shape_rule::reference, work_rule::update, 5},
  {"ApplyAddSign ApplyProximalAdagrad", shape_rule::reference, work_rule::update, 8},
  {"ApplyCenteredRMSProp ApplyFtrlV2", shape_rule::reference, work_rule::update, 13},
  {"ApplyGradientDescent", shape_rule::reference, work_rule::update, 2},
  {"ApplyProximalGradientDescent", shape_rule::reference, work_rule::update, 6},
  {"ApplyRMSProp", shape_rule::reference, work_rule::update, 11},
  {"AssignAdd AssignSub", shape_rule::reference, work_rule::update},
  {"FIFOQueue FIFOQueueV2 HashTable HashTableV2 IteratorV2 MutableHashTable MutableHashTableV2 PaddingFIFOQueue "
   "PaddingFIFOQueueV2 RandomShuffleQueue RandomShuffleQueueV2 TensorArrayV3 VarHandleOp", shape_rule::handle},
  {"_Arg", shape_rule::argument},
  {"BroadcastGradientArgs", shape_rule::broadcast_args, work_rule::none, 1, 2},
  {"Concat", shape_rule::concat_first},
  {"ConcatV2", shape_rule::concat_last},
  {"ConcatOffset", shape_rule::concat_offset},
  {"Const HostConst", shape_rule::constant},
  {"QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2",
   shape_rule::dequeue},
  {"IdentityN TupleBarrier", shape_rule::each},
  {"ExpandDims", shape_rule::expand_dims},
  {"Fill", shape_rule::fill},
  {"BroadcastTo", shape_rule::from_second_values},
  {"ScatterNd", shape_rule::from_third_values},
  {"StridedSliceGrad", shape_rule::from_values},
  {"Gather GatherV2", shape_rule::gather},
  {"GatherNd", shape_rule::gather_nd},
  {"Cast DebugIdentity EnsureShape Enter Exit Identity LoopCond NextIteration PlaceholderWithDefault "
   "PreventGradient RefEnter RefExit RefIdentity RefNextIteration Snapshot StopGradient", shape_rule::identity},
  {"IteratorGetNext IteratorGetNextSync", shape_rule::iterator},
  {"Bitcast DepthToSpace InvertPermutation MatrixBandPart MatrixSetDiag OnesLike RandomShuffle Reverse "
   "ReverseSequence ReverseV2 Roll SpaceToDepth ZerosLike", shape_rule::like_first},
  {"Merge RefMerge", shape_rule::merge, work_rule::none, 1, 2},
  {"Abort Assert CloseSummaryWriter ControlTrigger DeleteIterator DestroyResourceOp "
   "FlushSummaryWriter InitializeTable InitializeTableFromTextFileV2 InitializeTableV2 LookupTableImportV2 "
   "LookupTableInsertV2 MakeIterator MergeV2Checkpoints NoOp PrintV2 QueueClose QueueCloseV2 QueueEnqueue "
   "QueueEnqueueMany QueueEnqueueManyV2 QueueEnqueueV2 Save SaveSlices SaveV2 Send WriteFile WriteSummary "
   "_HostSend _Retval _Send", shape_rule::no_output, work_rule::none, 1, 0},
  {"OneHot", shape_rule::one_hot},
  {"Pack", shape_rule::pack},
  {"MirrorPad Pad PadV2", shape_rule::pad},
  {"Placeholder PlaceholderV2", shape_rule::placeholder},
  {"Range", shape_rule::range},
  {"Rank", shape_rule::rank},
  {"ReadVariableOp", shape_rule::read_variable},
  {"Assign", shape_rule::reference},
  {"Reshape", shape_rule::reshape},
  {"ResizeNearestNeighbor", shape_rule::resize},
  {"ResourceGather", shape_rule::resource_gather},
  {"Shape", shape_rule::shape},
  {"ShapeN", shape_rule::shape_n},
  {"Size", shape_rule::size},
  {"Slice", shape_rule::slice},
  {"Split", shape_rule::split},
  {"SplitV", shape_rule::split_v},
  {"Squeeze", shape_rule::squeeze},
  {"StridedSlice", shape_rule::strided_slice},
  {"RefSwitch Switch", shape_rule::switch_, work_rule::none, 1, 2},
  {"Tile", shape_rule::tile},
  {"ConjugateTranspose Transpose", shape_rule::transpose},
  {"Unpack", shape_rule::unpack},
  {"Variable VariableV2", shape_rule::variable},
};

/// Whether an op updates a variable through its handle. It is known by the name of the op that does so through a
/// reference, but has no output.
constexpr bool updates_resource(std::string_view op) {
  return op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply") ||
         op.starts_with("ResourceScatter") || (op.starts_with("Assign") && op.ends_with("VariableOp"));
}

/// What is known of an op of that type, or nullptr.
constexpr const op_family* find_op(std::string_view op) {
  if (updates_resource(op)) {
    op = op.starts_with("Assign") ? op.substr(0, op.size() - std::string_view{"VariableOp"}.size())
                                  : op.substr(std::string_view{"Resource"}.size());
  }
  if (op.empty() || op.find(' ') != op.npos) {
    return nullptr;
  }
  for (const auto& family : op_families) {
    for (auto at = family.ops.find(op); at != family.ops.npos; at = family.ops.find(op, at + 1)) {
      const auto end = at + op.size();
      if ((at == 0 || family.ops[at - 1] == ' ') && (end == family.ops.size() || family.ops[end] == ' ')) {
        return &family;
      }
    }
  }
  return nullptr;
}

/// Whether TensorFlow has a kernel for CPUs only: input pipelines, queues and readers, images and records on their way
/// in, texts, tables, summaries, saving and restoring, printing and Python functions.
/// Source: tensorflow/core/kernels, the ops that are registered for DEVICE_CPU only.
constexpr bool only_on_cpu(std::string_view op) {
  constexpr std::string_view parts[] = {"Dataset",  "Iterator", "Queue",   "Summary", "Decode", "Encode",
                                        "String",   "PyFunc",   "Reader",  "Table",   "Regex",  "ParseExample",
                                        "ParseSingleExample",   "Restore", "Audio",   "Unicode"};
  constexpr std::string_view names[] = {"Save",
                                        "SaveV2",
                                        "SaveSlices",
                                        "Print",
                                        "PrintV2",
                                        "ReadFile",
                                        "WriteFile",
                                        "AsString",
                                        "MatchingFiles",
                                        "MergeV2Checkpoints",
                                        "ShardedFilename",
                                        "ParseTensor",
                                        "SerializeTensor",
                                        "Unique",
                                        "UniqueV2",
                                        "LoopCond",
                                        "Barrier",
                                        "Substr",
                                        "Base64",
                                        "InTopK"};
  return std::ranges::any_of(parts, [op](std::string_view part) { return op.find(part) != op.npos; }) ||
         std::ranges::find(names, op) != std::end(names);
}

/// Whether an op needs the variable itself that its first input refers to, so that it runs where that variable is.
/// Source: tensorflow/core/common_runtime/colocation_graph.cc (references and resource handles).
constexpr bool runs_with_its_variable(std::string_view op) {
  return updates_resource(op) || op.starts_with("Assign") || op.starts_with("Apply") ||
         op.starts_with("SparseApply") || op.starts_with("Ref") || op == "ReadVariableOp" || op == "ResourceGather" ||
         (op.starts_with("Scatter") && op != "ScatterNd" && op != "ScatterNdNonAliasingAdd");
}

/// Whether an op holds state that it gives a reference or handle to.
constexpr bool is_variable(std::string_view op) {
  return op == "Variable" || op == "VariableV2" || op == "VarHandleOp";
}

} // namespace weft::tensorflow::detail
