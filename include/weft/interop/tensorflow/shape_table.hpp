// SPDX-License-Identifier: BSL-1.0
/// The table of shape rules for TensorFlow's types: where the shapes of outputs come from, what infers them, and how
/// arguments are put for it.
#pragma once

#include "weft/interop/tensorflow/translation.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/ops/rows_by_type.hpp"
#include "weft/ops/shape_rules_attention.hpp"
#include "weft/ops/shape_rules_matrices.hpp"
#include "weft/ops/shape_rules_tensors.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow::detail {

/// The place that shapes of an op's outputs come from.
enum class shape_source : std::uint8_t {
  rule,        ///< its inputs and attributes
  argument,    ///< the inputs of the function that it is in
  call,        ///< the function that it calls
  constant,    ///< the tensor that it holds
  dequeue,     ///< the queue that it reads
  handle,      ///< its declaration; it refers to what others read or change
  iterator,    ///< the data set that it reads
  nothing,     ///< it has no outputs
  placeholder, ///< the user
  variable     ///< its declaration
};

/// Facts about the shapes that ops of a type make.
struct shape_rule {
  void (*infer)(ops::shape_call&) = nullptr;       ///< null unless the source is `rule`
  bool (*translate)(translated_call&) = nullptr;   ///< puts its arguments in place; null: they are
  shape_source source = shape_source::rule;
  bool reads_attributes = true;  ///< that TensorFlow has
  bool stretches_inputs = false; ///< to one shape, element by element
  bool is_each = false;          ///< output i is like input i
  bool passes = false;           ///< outputs are inputs themselves, with their elements
};

/// Types with one rule.
struct shape_row {
  std::string_view types; ///< separated by blanks
  shape_rule rule;
};

namespace shape_table {
namespace shapes = ops::shape_rules;
using source = shape_source;

/// Types of TensorFlow and the bundled networks.
inline constexpr shape_row rows[] = {
  {"Einsum", {.infer = shapes::einsum}},
  {"Gelu RotaryEmbedding Swish", {.infer = shapes::all_like<0>, .reads_attributes = false}},
  {"MaxPool", {.infer = shapes::pool<false>, .translate = translations::windows}},
  {"Split", {.infer = shapes::split, .translate = translations::split}},
  {"Reshape", {.infer = shapes::reshape, .translate = translations::reshape}},
  {"Pad", {.infer = shapes::pad, .translate = translations::pad}},
  {"OneHot", {.infer = shapes::one_hot}},
  {"Concat", {.infer = shapes::concat, .translate = translations::concat}},
  {"Cast", {.infer = shapes::cast, .reads_attributes = false}},
  {"BitwiseAnd BitwiseOr BitwiseXor",
   {.infer = shapes::broadcast, .reads_attributes = false, .stretches_inputs = true}},
  {"Abs Ceil Elu Exp Floor LeakyRelu Log LogSoftmax Neg Reciprocal Relu Selu Sigmoid Softmax Sqrt Tanh",
   {.infer = shapes::all_like<0>, .reads_attributes = false}},
  {"Add Div Mul Pow Sub", {.infer = shapes::broadcast, .reads_attributes = false, .stretches_inputs = true}},
  {"Equal Greater Less", {.infer = shapes::compare, .reads_attributes = false, .stretches_inputs = true}},
  {"_FusedMatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul MatrixSolve MatrixSolveLs MatrixTriangularSolve "
   "QuantizedMatMul QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu "
   "QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize SparseMatMul",
   {.infer = shapes::product<1, ops::elements::unknown>, .translate = translations::product}},
  {"_FusedConv2D Conv1D Conv2D Conv3D DepthwiseConv2dNative QuantizedConv2D QuantizedConv2DAndRelu "
   "QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize QuantizedConv2DPerChannel "
   "QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu QuantizedConv2DWithBiasAndReluAndRequantize "
   "QuantizedConv2DWithBiasAndRequantize QuantizedConv2DWithBiasSignedSumAndReluAndRequantize "
   "QuantizedConv2DWithBiasSumAndRelu QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D "
   "QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu "
   "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
   {.infer = shapes::convolution<1, false>, .translate = translations::convolution}},
  {"Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter",
   {.infer = shapes::as_elements<1, 1>}},
  {"AvgPool3DGrad AvgPoolGrad Conv2DBackpropInput Conv3DBackpropInput Conv3DBackpropInputV2 "
   "DepthwiseConv2dNativeBackpropInput ParameterizedTruncatedNormal RandomStandardNormal RandomUniform "
   "RandomUniformInt StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformV2 "
   "StatelessTruncatedNormal StridedSliceGrad TruncatedNormal",
   {.infer = shapes::as_elements<0, 0>}},
  {"BlockLSTM BlockLSTMV2", {.infer = shapes::all_steps}},
  {"ConcatOffset GRUBlockCell InTopK InTopKV2 LSTMBlockCell Select SelectV2", {.infer = shapes::all_like<1>}},
  {"LSTMBlockCellGrad", {.infer = shapes::lstm_grad}},
  {"AccumulateNV2 Acos Acosh AddN AddRMSNorm ApplyAdadelta ApplyAdagrad ApplyAdagradV2 ApplyAdam ApplyAdaMax "
   "ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum ApplyPowerSign "
   "ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp Asin Asinh Assign AssignAdd AssignSub Atan Atanh "
   "BiasAdd BiasAddV1 Bitcast CheckNumerics Cholesky CholeskyGrad ClipByValue Cos Cosh Cumprod Cumsum Dequantize "
   "Digamma EluGrad Erf Erfc Expm1 FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel "
   "FFT FFT2D FFT3D GeluGrad IFFT IFFT2D IFFT3D Inv Invert InvertPermutation InvGrad IsFinite IsInf IsNan LayerNorm "
   "LayerNormGrad LeakyReluGrad Lgamma Log1p LogicalNot LogSoftmaxGrad LRN LRNGrad MatrixBandPart MatrixExponential "
   "MatrixInverse MatrixLogarithm MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixSquareRoot MaxPool3DGrad "
   "MaxPoolGrad MaxPoolGradV2 MRotaryEmbedding Ndtri OnesLike QuantizeAndDequantize QuantizeAndDequantizeV2 "
   "QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 QuantizedBiasAdd QuantizeDownAndShrinkRange QuantizedRelu "
   "QuantizedRelu6 QuantizedReluX QuantizeV2 RandomShuffle ReadVariableOp ReciprocalGrad Relu6 Relu6Grad ReluGrad "
   "Requantize RequantizePerChannel Reverse ReverseSequence ReverseV2 Rint RMSNorm RMSNormGrad Roll Round Rsqrt "
   "RsqrtGrad ScatterAdd ScatterMul ScatterNdAdd ScatterNdUpdate ScatterSub ScatterUpdate SeluGrad SigmoidGrad Sign "
   "Sin Sinh SoftmaxGrad Softplus SoftplusGrad Softsign SoftsignGrad SparseApplyAdagrad SparseApplyAdam "
   "SparseApplyFtrl SparseApplyGradientDescent SparseApplyMomentum SparseApplyRMSProp SqrtGrad Square SwiGLUGrad Tan "
   "TanhGrad TensorListFromTensor TensorListSetItem ZerosLike",
   {.infer = shapes::all_like<0>, .reads_attributes = false}},
  {"FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3", {.infer = shapes::normalised<2>}},
  {"FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3", {.infer = shapes::normalised<1>}},
  {"L2Loss Rank RequantizationRange RequantizationRangePerChannel Size TensorListLength", {.infer = shapes::scalar}},
  {"SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits", {.infer = shapes::cross_entropy}},
  {"ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor", {.infer = shapes::resized_images}},
  {"AvgPool AvgPool3D MaxPool3D MaxPoolV2 MaxPoolWithArgmax QuantizedAvgPool QuantizedMaxPool",
   {.infer = shapes::pool<false>, .translate = translations::windows}},
  {"Dilation2D", {.infer = shapes::pool<true>, .translate = translations::dilation}},
  {"CropAndResize", {.infer = shapes::crop_and_resize, .translate = translations::layout}},
  {"AddV2 Atan2 DivNoNan FloorDiv FloorMod Maximum Minimum Mod MulNoNan QuantizedAdd QuantizedMul RealDiv "
   "SquaredDifference TruncateDiv TruncateMod Xdivy Xlogy",
   {.infer = shapes::broadcast, .reads_attributes = false, .stretches_inputs = true}},
  {"ApproximateEqual GreaterEqual LessEqual LogicalAnd LogicalOr NotEqual",
   {.infer = shapes::compare, .reads_attributes = false, .stretches_inputs = true}},
  {"Range", {.infer = shapes::range}},
  {"Lu", {.infer = shapes::lu}},
  {"LogMatrixDeterminant MatrixDeterminant", {.infer = shapes::determinant}},
  {"Qr", {.infer = shapes::qr}},
  {"Eig SelfAdjointEigV2", {.infer = shapes::eigen}},
  {"BatchSvd Svd", {.infer = shapes::svd}},
  {"IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D", {.infer = shapes::real_spectrum, .translate = translations::spectrum}},
  {"SwiGLU", {.infer = shapes::without_last}},
  {"ArgMax ArgMin Unpack", {.infer = shapes::without_axis, .translate = translations::axis<1>}},
  {"UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum", {.infer = shapes::numbered_sums}},
  {"SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum", {.infer = shapes::sums<1>}},
  {"SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments "
   "SparseSegmentSum SparseSegmentSumWithNumSegments",
   {.infer = shapes::sums<2>}},
  {"BiasAddGrad", {.infer = shapes::channels, .translate = translations::layout}},
  {"All Any EuclideanNorm Max Mean Min Prod Sum",
   {.infer = shapes::reduction<true>, .translate = translations::reduction}},
  {"Where", {.infer = shapes::chosen<true>}},
  {"Unique", {.infer = shapes::chosen<false>}},
  {"TopK TopKV2", {.infer = shapes::top_k}},
  {"DebugIdentity EnsureShape Enter Exit Identity LoopCond NextIteration PlaceholderWithDefault PreventGradient "
   "RefEnter RefExit RefIdentity RefNextIteration RefSwitch Snapshot StopGradient Switch",
   {.infer = shapes::all_like<0>, .reads_attributes = false, .passes = true}},
  {"Shape ShapeN", {.infer = shapes::shape, .reads_attributes = false}},
  {"ExpandDims", {.infer = shapes::unsqueeze}},
  {"Squeeze", {.infer = shapes::squeeze, .translate = translations::squeeze}},
  {"Slice", {.infer = shapes::sized_slice}},
  {"StridedSlice", {.infer = shapes::strided_slice}},
  {"Gather GatherV2 ResourceGather", {.infer = shapes::gather, .translate = translations::axis<2>}},
  {"GatherNd", {.infer = shapes::gather_nd}},
  {"BroadcastGradientArgs", {.infer = shapes::list}},
  {"Fill", {.infer = shapes::as_elements<0, 99>}},
  {"ConcatV2 QuantizedConcat", {.infer = shapes::concat, .translate = translations::concat}},
  {"IdentityN TupleBarrier", {.infer = shapes::each, .is_each = true, .passes = true}},
  {"BroadcastTo", {.infer = shapes::as_elements<1, 0>}},
  {"BatchToSpace BatchToSpaceND", {.infer = shapes::batch_of_blocks<false>, .translate = translations::blocks}},
  {"SpaceToBatch SpaceToBatchND", {.infer = shapes::batch_of_blocks<true>, .translate = translations::blocks}},
  {"DepthToSpace", {.infer = shapes::channels_of_blocks<false>, .translate = translations::layout}},
  {"SpaceToDepth", {.infer = shapes::channels_of_blocks<true>, .translate = translations::layout}},
  {"ExtractImagePatches ExtractVolumePatches", {.infer = shapes::patches, .translate = translations::windows}},
  {"BatchMatrixDiag MatrixDiag MatrixDiagV2 MatrixDiagV3", {.infer = shapes::matrix_of_diagonals}},
  {"BatchMatrixDiagPart MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3", {.infer = shapes::diagonals_of_matrix}},
  {"Diag", {.infer = shapes::diagonal<false>}},
  {"DiagPart", {.infer = shapes::diagonal<true>}},
  {"QuantizedReshape", {.infer = shapes::reshape, .translate = translations::reshape}},
  {"EmptyTensorList TensorListReserve", {.infer = shapes::list_of_tensors}},
  {"TensorListGetItem", {.infer = shapes::tensor_of_list<2, false>}},
  {"TensorListStack", {.infer = shapes::tensor_of_list<1, true>}},
  {"Pack", {.infer = shapes::pack}},
  {"MirrorPad PadV2", {.infer = shapes::pad, .translate = translations::pad}},
  {"SplitV", {.infer = shapes::split, .translate = translations::split}},
  {"Tile", {.infer = shapes::tile}},
  {"ConjugateTranspose Transpose", {.infer = shapes::transpose, .translate = translations::permutation}},
  {"ScatterNd", {.infer = shapes::as_elements<2, 99>}},
  {"Merge RefMerge", {.infer = shapes::merge}},
  {"Case If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile While",
   {.source = source::call}},
  {"_Arg", {.source = source::argument}},
  {"Const HostConst", {.source = source::constant}},
  {"Placeholder PlaceholderV2", {.source = source::placeholder}},
  {"Variable VariableV2", {.source = source::variable}},
  {"QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2",
   {.source = source::dequeue}},
  {"FIFOQueue FIFOQueueV2 HashTable HashTableV2 IteratorV2 MutableHashTable MutableHashTableV2 PaddingFIFOQueue "
   "PaddingFIFOQueueV2 RandomShuffleQueue RandomShuffleQueueV2 TensorArrayV3 VarHandleOp",
   {.source = source::handle}},
  {"IteratorGetNext IteratorGetNextSync", {.source = source::iterator}},
  {"_HostSend _Retval _Send Abort Assert CloseSummaryWriter ControlTrigger DeleteIterator DestroyResourceOp "
   "FlushSummaryWriter InitializeTable InitializeTableFromTextFileV2 InitializeTableV2 LookupTableImportV2 "
   "LookupTableInsertV2 MakeIterator MergeV2Checkpoints NoOp PrintV2 QueueClose QueueCloseV2 QueueEnqueue "
   "QueueEnqueueMany QueueEnqueueManyV2 QueueEnqueueV2 Save SaveSlices SaveV2 Send WriteFile WriteSummary",
   {.source = source::nothing}},
};

} // namespace shape_table

/// Every type with its row, ascending.
inline const std::vector<ops::typed_row<shape_row>>& shape_rules() {
  static const auto made = ops::rows_by_type<shape_row>({shape_table::rows});
  return made;
}

/// The rule for ops of this very type, or null; each known type has one. Complexity: O(log of the number of known
/// types).
inline const shape_rule* find_shape_rule(std::string_view type) {
  const auto* const row = ops::find_row(shape_rules(), type);
  return row != nullptr ? &row->rule : nullptr;
}

/// The rule for the shapes of an op of that type, or nullptr if it is no op of TensorFlow's that is known.
inline const shape_rule* shape_rule_of(std::string_view op) {
  return find_shape_rule(known_type_of(op));
}

/// The place that its shapes come from; nothing if it is not known.
inline std::optional<shape_source> shape_source_of(std::string_view op) {
  const auto* const rule = shape_rule_of(op);
  return rule != nullptr ? std::optional{rule->source} : std::nullopt;
}

/// The facts about an op of that type, or nullptr if it is no op of TensorFlow's that is known.
inline const ops::facts* find_op(std::string_view op) {
  op = known_type_of(op);
  return find_shape_rule(op) != nullptr ? ops::find({"tensorflow." + std::string{op}, op}) : nullptr;
}

} // namespace weft::tensorflow::detail
