// SPDX-License-Identifier: BSL-1.0
/// The table of shape rules: by type of op what infers the outputs' shapes, where a file may leave them open.
#pragma once

#include "weft/workload/detail/rows_by_type.hpp"
#include "weft/workload/shape_rules_attention.hpp"
#include "weft/workload/shape_rules_matrices.hpp"
#include "weft/workload/shape_rules_tensors.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft {

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

/// A row of the table of shape rules.
struct shape_rule {
  /// Before any operator set: the rule counts, not the schema.
  static constexpr std::int64_t always = 0;
  /// After any operator set: the rule counts where the schema says nothing.
  static constexpr std::int64_t last = 1'000'000;

  std::string_view types; ///< separated by blanks, with their domain unless that is ONNX's own
  void (*infer)(shape_call&) = nullptr; ///< null where the graph or the file tells the shapes
  std::int64_t since = always; ///< ONNX's operator set from which on the rule counts and not the schema at hand
  shape_source source = shape_source::rule;
  bool passes = false; ///< outputs are inputs themselves, with their elements
};

namespace detail {

namespace shape_table {
namespace shapes = weft::shape_rules;
using source = shape_source;
inline constexpr auto last = shape_rule::last;

/// Types that mean the same in ONNX and in TensorFlow.
inline constexpr shape_rule common[] = {
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
};

/// Types of ONNX and ONNX Runtime.
inline constexpr shape_rule onnx[] = {
  {"Gemm", shapes::product<1, 0>, last},
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
  {"com.microsoft.QLinearWhere", shapes::elementwise<elements::uint8, 0, 1, 4>},
  {"com.microsoft.MulInteger", shapes::elementwise<elements::int32, 0, 2>},
  {"com.microsoft.BiasDropout", shapes::dropout},
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
  {"ai.onnx.preview.FlexAttention", shapes::attention<detail::attention_inputs::absent>},
  {"com.microsoft.Attention com.microsoft.DecoderMaskedSelfAttention", shapes::projected_attention<4>},
  {"com.microsoft.QAttention", shapes::projected_attention<8, 3>},
  {"com.microsoft.PackedAttention", shapes::projected_attention<detail::attention_inputs::absent>},
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

/// Types of TensorFlow and the bundled networks.
inline constexpr shape_rule tensorflow[] = {
  {"_FusedMatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul MatrixSolve MatrixSolveLs MatrixTriangularSolve "
   "QuantizedMatMul QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu QuantizedMatMulWithBiasAndReluAndRequantize "
   "QuantizedMatMulWithBiasAndRequantize SparseMatMul", shapes::product<1, elements::unknown>},
  {"_FusedConv2D Conv1D Conv2D Conv3D DepthwiseConv2dNative QuantizedConv2D QuantizedConv2DAndRelu "
   "QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize QuantizedConv2DPerChannel QuantizedConv2DWithBias "
   "QuantizedConv2DWithBiasAndRelu QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
   "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu "
   "QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias "
   "QuantizedDepthwiseConv2DWithBiasAndRelu QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
   shapes::convolution<1, false>},
  {"Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter",
   shapes::as_elements<1, 1>},
  {"AvgPool3DGrad AvgPoolGrad Conv2DBackpropInput Conv3DBackpropInput Conv3DBackpropInputV2 "
   "DepthwiseConv2dNativeBackpropInput ParameterizedTruncatedNormal RandomStandardNormal RandomUniform "
   "RandomUniformInt StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformV2 "
   "StatelessTruncatedNormal StridedSliceGrad TruncatedNormal", shapes::as_elements<0, 0>},
  {"BlockLSTM BlockLSTMV2", shapes::all_steps},
  {"ConcatOffset GRUBlockCell InTopK InTopKV2 LSTMBlockCell Select SelectV2", shapes::all_like<1>},
  {"LSTMBlockCellGrad", shapes::lstm_grad},
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
   "TanhGrad TensorListFromTensor TensorListSetItem ZerosLike", shapes::all_like<0>},
  {"FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3", shapes::normalised<2>},
  {"FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3", shapes::normalised<1>},
  {"L2Loss Rank RequantizationRange RequantizationRangePerChannel Size TensorListLength", shapes::scalar},
  {"SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits", shapes::cross_entropy},
  {"ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor", shapes::resized_images},
  {"AvgPool AvgPool3D MaxPool3D MaxPoolV2 MaxPoolWithArgmax QuantizedAvgPool QuantizedMaxPool", shapes::pool<false>},
  {"Dilation2D", shapes::pool<true>},
  {"CropAndResize", shapes::crop_and_resize},
  {"AddV2 Atan2 DivNoNan FloorDiv FloorMod Maximum Minimum Mod MulNoNan QuantizedAdd QuantizedMul RealDiv "
   "SquaredDifference TruncateDiv TruncateMod Xdivy Xlogy", shapes::broadcast},
  {"ApproximateEqual GreaterEqual LessEqual LogicalAnd LogicalOr NotEqual", shapes::compare},
  {"Range", shapes::range},
  {"Lu", shapes::lu},
  {"LogMatrixDeterminant MatrixDeterminant", shapes::determinant},
  {"Qr", shapes::qr},
  {"Eig SelfAdjointEigV2", shapes::eigen},
  {"BatchSvd Svd", shapes::svd},
  {"IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D", shapes::real_spectrum},
  {"SwiGLU", shapes::without_last},
  {"ArgMax ArgMin Unpack", shapes::without_axis},
  {"UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum", shapes::numbered_sums},
  {"SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum", shapes::sums<1>},
  {"SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments "
   "SparseSegmentSum SparseSegmentSumWithNumSegments", shapes::sums<2>},
  {"BiasAddGrad", shapes::channels},
  {"All Any EuclideanNorm Max Mean Min Prod Sum", shapes::reduction<true>},
  {"Where", shapes::chosen<true>},
  {"Unique", shapes::chosen<false>},
  {"TopK TopKV2", shapes::top_k},
  {.types = "DebugIdentity EnsureShape Enter Exit Identity LoopCond NextIteration PlaceholderWithDefault "
   "PreventGradient RefEnter RefExit RefIdentity RefNextIteration RefSwitch Snapshot StopGradient Switch",
   .infer = shapes::all_like<0>, .passes = true},
  {"Shape ShapeN", shapes::shape},
  {"ExpandDims", shapes::unsqueeze},
  {"Squeeze", shapes::squeeze},
  {"Slice", shapes::sized_slice},
  {"StridedSlice", shapes::strided_slice},
  {"Gather GatherV2 ResourceGather", shapes::gather},
  {"GatherNd", shapes::gather_nd},
  {"BroadcastGradientArgs", shapes::list},
  {"Fill", shapes::as_elements<0, 99>},
  {"ConcatV2 QuantizedConcat", shapes::concat},
  {.types = "IdentityN TupleBarrier", .infer = shapes::each, .passes = true},
  {"BroadcastTo", shapes::as_elements<1, 0>},
  {"BatchToSpace BatchToSpaceND", shapes::batch_of_blocks<false>},
  {"SpaceToBatch SpaceToBatchND", shapes::batch_of_blocks<true>},
  {"DepthToSpace", shapes::channels_of_blocks<false>},
  {"SpaceToDepth", shapes::channels_of_blocks<true>},
  {"ExtractImagePatches ExtractVolumePatches", shapes::patches},
  {"BatchMatrixDiag MatrixDiag MatrixDiagV2 MatrixDiagV3", shapes::matrix_of_diagonals},
  {"BatchMatrixDiagPart MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3", shapes::diagonals_of_matrix},
  {"Diag", shapes::diagonal<false>},
  {"DiagPart", shapes::diagonal<true>},
  {"QuantizedReshape", shapes::reshape},
  {"EmptyTensorList TensorListReserve", shapes::list_of_tensors},
  {"TensorListGetItem", shapes::tensor_of_list<2, false>},
  {"TensorListStack", shapes::tensor_of_list<1, true>},
  {"Pack", shapes::pack},
  {"MirrorPad PadV2", shapes::pad},
  {"SplitV", shapes::split},
  {"Tile", shapes::tile},
  {"ConjugateTranspose Transpose", shapes::transpose},
  {"ScatterNd", shapes::as_elements<2, 99>},
  {"Merge RefMerge", shapes::merge},
  {.types = "Case If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile While",
   .source = source::call},
  {.types = "_Arg", .source = source::argument},
  {.types = "Const HostConst", .source = source::constant},
  {.types = "Placeholder PlaceholderV2", .source = source::placeholder},
  {.types = "Variable VariableV2", .source = source::variable},
  {.types = "QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2",
   .source = source::dequeue},
  {.types = "FIFOQueue FIFOQueueV2 HashTable HashTableV2 IteratorV2 MutableHashTable MutableHashTableV2 "
   "PaddingFIFOQueue PaddingFIFOQueueV2 RandomShuffleQueue RandomShuffleQueueV2 TensorArrayV3 VarHandleOp",
   .source = source::handle},
  {.types = "IteratorGetNext IteratorGetNextSync", .source = source::iterator},
  {.types = "_HostSend _Retval _Send Abort Assert CloseSummaryWriter ControlTrigger DeleteIterator DestroyResourceOp "
   "FlushSummaryWriter InitializeTable InitializeTableFromTextFileV2 InitializeTableV2 LookupTableImportV2 "
   "LookupTableInsertV2 MakeIterator MergeV2Checkpoints NoOp PrintV2 QueueClose QueueCloseV2 QueueEnqueue "
   "QueueEnqueueMany QueueEnqueueManyV2 QueueEnqueueV2 Save SaveSlices SaveV2 Send WriteFile WriteSummary",
   .source = source::nothing},
};

} // namespace shape_table

/// Every type of a format with its rule, ascending.
inline const std::vector<typed_row<shape_rule>>& onnx_shape_rules() {
  static const auto made = rows_by_type<shape_rule>({shape_table::common, shape_table::onnx});
  return made;
}
inline const std::vector<typed_row<shape_rule>>& tensorflow_shape_rules() {
  static const auto made = rows_by_type<shape_rule>({shape_table::common, shape_table::tensorflow});
  return made;
}

} // namespace detail

/// The rule for ops of this very type in ONNX's files, with its domain in front unless that is ONNX's own; or null.
/// Complexity: O(log of the number of known types).
inline const shape_rule* onnx_shape_rule(std::string_view type) {
  return detail::find_row(detail::onnx_shape_rules(), type);
}

/// Likewise in TensorFlow's graphs, in which each known type has one.
inline const shape_rule* tensorflow_shape_rule(std::string_view type) {
  return detail::find_row(detail::tensorflow_shape_rules(), type);
}

} // namespace weft
