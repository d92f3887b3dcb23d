// SPDX-License-Identifier: BSL-1.0
/// All types of ops that are known, with what is known of them.
#pragma once

#include "weft/workload/flop_rules.hpp"
#include "weft/workload/op_facts.hpp"

#include <array>
#include <string_view>

namespace weft::detail {

/// Ways in which ops are differentiated.
namespace gradients {
/// Comparisons, shapes, indices, integers, constants, random numbers, what has effects only.
inline constexpr gradient_rule none{.differentiable = false, .reads = gradient_reads::nothing};
inline constexpr gradient_rule reads_nothing{.reads = gradient_reads::nothing}; ///< sums, and variables
/// Linear ops that hold axes, shapes or sizes.
inline constexpr gradient_rule moves{.parameters = false, .reads = gradient_reads::nothing};
inline constexpr gradient_rule finds{.parameters = false}; ///< some of the inputs again in the outputs
inline constexpr gradient_rule limits{.parameters = false, .reads = gradient_reads::inputs};
inline constexpr gradient_rule masks{.parameters = false, .reads = gradient_reads::outputs};
inline constexpr gradient_rule selects{.reads = gradient_reads::selectors};
inline constexpr gradient_rule reads_inputs{.reads = gradient_reads::inputs};
inline constexpr gradient_rule reads_outputs{.reads = gradient_reads::outputs};
inline constexpr gradient_rule product{.product = true, .reads = gradient_reads::inputs};
inline constexpr gradient_rule products{.product = true}; ///< several in one op
} // namespace gradients

/// Types of which the same is known.
struct op_family {
  std::string_view types; ///< separated by blanks
  op_facts facts;
};

namespace op_words { // short ones, for the table
namespace flop = weft::flop_rules;
namespace gradient = gradients;
using shape = shape_rule;
using use = op_use;

/// FLOP: a multiply-add is 2; elementwise ops 1 per output element, transcendental ones too; reductions 1 per input
/// element; data movement 0. These are the counts of workload/nn. Efficiency follows from the use (cost/efficiency.hpp),
/// training steps from the gradient. Shapes are for formats whose files may leave them open.
///
/// Types are as formats call them: ONNX, ONNX Runtime's domain com.microsoft, TensorFlow and the bundled networks.
/// Where formats mean different things by one name, the format is in front of it.
inline constexpr op_family op_table[] = {
  // Products of matrices.
  {"PackedAttention", {.use = use::product, .gradient = gradient::products}},
  {"AttentionGrad EinsumGrad GemmGrad MatMulGrad", {.use = use::product}},
  {"Attention GroupQueryAttention MultiHeadAttention",
   {.flop = flop::attention, .use = use::product, .gradient = gradient::products}},
  {"Einsum", {.flop = flop::einsum, .use = use::product, .gradient = gradient::product, .shape = shape::einsum}},
  {"FusedGemm Gemm", {.flop = flop::gemm, .use = use::product, .gradient = gradient::product}},
  {"SparseMatMul", {.flop = flop::matmul, .gradient = gradient::product, .shape = shape::matmul}},
  {"DynamicQuantizeMatMul MatMulInteger MatMulIntegerToFloat QLinearMatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::none}},
  {"FusedMatMul TransposeMatMul", {.flop = flop::matmul, .use = use::product, .gradient = gradient::product}},
  {"BatchMatMul BatchMatMulV2 BatchMatMulV3",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product, .shape = shape::batch_matmul}},
  {"_FusedMatMul MatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product, .shape = shape::matmul}},
  {"MatMulNBits", {.flop = flop::quantised_columns, .use = use::product}},
  {"QGemm", {.flop = flop::quantised_gemm, .use = use::product, .gradient = gradient::none}},
  {"com.microsoft.Attention QAttention",
   {.flop = flop::self_attention, .use = use::product, .gradient = gradient::products}},

  // Convolutions.
  {"FusedConv2D", {.use = use::convolution, .gradient = gradient::product}},
  {"Conv2DGrad ConvGrad ConvTransposeGrad", {.use = use::convolution}},
  {"_FusedConv2D Conv1D Conv2D Conv3D",
   {.flop = flop::conv, .use = use::convolution, .gradient = gradient::product, .shape = shape::conv}},
  {"Conv2DBackpropFilter",
   {.flop = flop::conv_filter_grad, .use = use::convolution,
    .gradient = gradient::product, .shape = shape::conv_filter_grad}},
  {"Conv3DBackpropFilter Conv3DBackpropFilterV2",
   {.flop = flop::conv_filter_grad, .use = use::convolution, .shape = shape::conv_filter_grad}},
  {"Conv2DBackpropInput",
   {.flop = flop::conv_input_grad, .use = use::convolution,
    .gradient = gradient::product, .shape = shape::conv_input_grad}},
  {"Conv3DBackpropInput Conv3DBackpropInputV2",
   {.flop = flop::conv_input_grad, .use = use::convolution, .shape = shape::conv_input_grad}},
  {"Conv FusedConv", {.flop = flop::convolution<1, 2>, .use = use::convolution, .gradient = gradient::product}},
  {"NhwcConv", {.flop = flop::convolution<1, 2>, .use = use::convolution}},
  {"DeformConv", {.flop = flop::convolution<1, 3>, .use = use::convolution, .gradient = gradient::product}},
  {"ConvInteger", {.flop = flop::convolution<1, 99>, .use = use::convolution, .gradient = gradient::none}},
  {"QLinearConv", {.flop = flop::convolution<3, 8>, .use = use::convolution, .gradient = gradient::none}},
  {"DepthwiseConv2dNative", {.flop = flop::depthwise, .gradient = gradient::product, .shape = shape::depthwise}},
  {"DepthwiseConv2dNativeBackpropFilter", {.flop = flop::depthwise_filter_grad, .shape = shape::conv_filter_grad}},
  {"DepthwiseConv2dNativeBackpropInput", {.flop = flop::depthwise_input_grad, .shape = shape::conv_input_grad}},
  {"ConvTranspose", {.flop = flop::transposed_convolution, .use = use::convolution, .gradient = gradient::product}},

  // Recurrences: several products and their gates.
  {"BlockLSTM CudnnRNN GRUBlockCell", {.use = use::recurrence, .gradient = gradient::products}},
  {"GRUGrad LSTMGrad RNNGrad", {.use = use::recurrence}},
  {"LSTMBlockCell",
   {.flop = flop::lstm_cell, .use = use::recurrence,
    .gradient = gradient::products, .shape = shape::lstm, .outputs = 7}},
  {"LSTMBlockCellGrad",
   {.flop = flop::per_input<12, 1>, .shape = shape::lstm_grad, .outputs = 5}},
  {"RNN", {.flop = flop::recurrent<1, 4>, .use = use::recurrence, .gradient = gradient::products}},
  {"GRU", {.flop = flop::recurrent<3, 13>, .use = use::recurrence, .gradient = gradient::products}},
  {"LSTM", {.flop = flop::recurrent<4, 14>, .use = use::recurrence, .gradient = gradient::products}},

  // Normalisation: mean 1, variance 3, normalise and scale 4 (nn/conv.hpp); without a mean 5.
  {"BatchNormalization", {.flop = flop::batch_normalization, .gradient = gradient::reads_inputs}},
  {"LRN", {.flop = flop::local_response, .gradient = gradient::reads_inputs, .shape = shape::like_first}},
  {"LRNGrad", {.flop = flop::local_response_grad, .shape = shape::like_first}},
  {"FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
   {.flop = flop::per_input<11>, .shape = shape::batch_norm_grad, .outputs = 5}},
  {"LayerNormGrad", {.flop = flop::per_input<11>, .shape = shape::like_first, .outputs = 3}},
  {"LpNormalization", {.flop = flop::per_input<3>, .gradient = gradient::reads_inputs}},
  {"RMSNorm",
   {.flop = flop::per_input<4>, .gradient = gradient::reads_inputs, .shape = shape::like_first, .outputs = 2}},
  {"RMSNormalization SimplifiedLayerNormalization", {.flop = flop::per_input<5>, .gradient = gradient::reads_inputs}},
  {"MeanVarianceNormalization SkipSimplifiedLayerNormalization",
   {.flop = flop::per_input<6>, .gradient = gradient::reads_inputs}},
  {"GroupNorm GroupNormalization InstanceNormalization LayerNormalization",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs}},
  {"FusedBatchNorm FusedBatchNormV2",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs, .shape = shape::batch_norm, .outputs = 5}},
  {"FusedBatchNormV3",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs, .shape = shape::batch_norm, .outputs = 6}},
  {"LayerNorm",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs, .shape = shape::like_first, .outputs = 3}},
  {"SkipLayerNormalization", {.flop = flop::per_input<9>, .gradient = gradient::reads_inputs}},
  {"RMSNormGrad", {.flop = flop::per_input<9>, .shape = shape::like_first, .outputs = 2}},
  {"EmbedLayerNormalization", {.flop = flop::per_output<10>}},

  // Softmax and losses: largest, subtract, exponential, sum, divide.
  {"Hardmax", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"L2Loss", {.flop = flop::per_input<2>, .gradient = gradient::reads_inputs, .shape = shape::scalar}},
  {"SoftmaxCrossEntropyLoss", {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs}},
  {"SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
   {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs, .shape = shape::cross_entropy, .outputs = 2}},
  {"LogSoftmax Softmax",
   {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs, .shape = shape::like_first}},
  {"BiasSoftmax", {.flop = flop::per_input<6>, .gradient = gradient::reads_outputs}},
  {"NegativeLogLikelihoodLoss", {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs}},
  {"LogSoftmaxGrad SoftmaxGrad", {.flop = flop::per_output<4>, .shape = shape::like_first}},

  // Windows.
  {"AvgPool3DGrad AvgPoolGrad", {.flop = flop::avg_pool_grad, .shape = shape::from_values}},
  {"MaxPool3DGrad MaxPoolGrad MaxPoolGradV2", {.flop = flop::max_pool_grad, .shape = shape::like_first}},
  {"ResizeNearestNeighbor", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::resize}},
  {"MaxUnpool", {.flop = flop::nothing}},
  {"QLinearGlobalAveragePool", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"GlobalAveragePool", {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"GlobalMaxPool", {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"MaxRoiPool", {.flop = flop::per_input<1>}},
  {"GlobalLpPool", {.flop = flop::per_input<2>, .gradient = gradient::finds}},
  {"GridSample", {.flop = flop::per_output<8>}},
  {"ResizeBilinear", {.flop = flop::per_output<9>, .gradient = gradient::moves, .shape = shape::resize}},
  {"QLinearAveragePool", {.flop = flop::pool, .gradient = gradient::none}},
  {"AveragePool", {.flop = flop::pool, .gradient = gradient::moves}},
  {"AvgPool AvgPool3D", {.flop = flop::pool, .gradient = gradient::moves, .shape = shape::pool}},
  {"LpPool NhwcMaxPool", {.flop = flop::pool, .gradient = gradient::finds}},
  {"MaxPool MaxPool3D MaxPoolV2", {.flop = flop::pool, .gradient = gradient::finds, .shape = shape::pool}},
  {"RoiAlign", {.flop = flop::region_align}},
  {"Resize Upsample", {.flop = flop::resize, .gradient = gradient::moves}},

  // One operation per element.
  {"And Bernoulli BitShift BitwiseNot GreaterOrEqual IsNaN LessOrEqual Multinomial Not Or RandomNormal "
   "RandomNormalLike RandomUniformLike Xor",
   {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"ApproximateEqual BitwiseAnd BitwiseOr BitwiseXor Equal FloorDiv FloorMod Greater GreaterEqual Less LessEqual "
   "LogicalAnd LogicalOr Mod NotEqual TruncateDiv TruncateMod",
   {.flop = flop::per_output<1>, .gradient = gradient::none, .shape = shape::broadcast}},
  {"ParameterizedTruncatedNormal RandomStandardNormal RandomUniform RandomUniformInt StatelessRandomNormal "
   "StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformV2 StatelessTruncatedNormal "
   "TruncatedNormal",
   {.flop = flop::per_output<1>, .gradient = gradient::none, .shape = shape::from_values}},
  {"Ceil Floor Invert IsFinite IsInf IsNan LogicalNot Rint Round Sign",
   {.flop = flop::per_output<1>, .gradient = gradient::none, .shape = shape::like_first}},
  {"Range", {.flop = flop::per_output<1>, .gradient = gradient::none, .shape = shape::range}},
  {"PRelu ThresholdedRelu", {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs}},
  {"Atan2 Div DivNoNan Maximum Minimum Mul MulNoNan Pow RealDiv SquaredDifference Xdivy Xlogy",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs, .shape = shape::broadcast}},
  {"Abs Acos Acosh Asin Asinh Atan Atanh ClipByValue Cos Cosh Digamma Erf Erfc LeakyRelu Lgamma Log Log1p Sin "
   "Sinh Square Tan",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs, .shape = shape::like_first}},
  {"Add AddV2 Sub", {.flop = flop::per_output<1>, .gradient = gradient::reads_nothing, .shape = shape::broadcast}},
  {"BiasAdd BiasAddV1 Neg",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_nothing, .shape = shape::like_first}},
  {"Exp Expm1 Inv Reciprocal Relu Relu6 Rsqrt Sigmoid Sqrt Tanh",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_outputs, .shape = shape::like_first}},
  {"Where", {.flop = flop::per_output<1>, .gradient = gradient::selects}},
  {"Select SelectV2", {.flop = flop::per_output<1>, .gradient = gradient::selects, .shape = shape::select}},
  {"Shrink", {.flop = flop::per_output<1>}},
  {"Case If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile While",
   {.flop = flop::per_output<1>, .shape = shape::call}},
  {"CheckNumerics EluGrad FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars GeluGrad InvGrad LeakyReluGrad Ndtri "
   "ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad",
   {.flop = flop::per_output<1>, .shape = shape::like_first}},

  // Several per element, as their definitions spell them out.
  {"RotaryEmbedding", {.flop = flop::per_input<3>}},
  {"DynamicQuantizeLinear", {.flop = flop::per_input<4>, .gradient = gradient::none}},
  {"QuantizeLinear", {.flop = flop::per_output<2>, .gradient = gradient::none}},
  {"Swish", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs, .shape = shape::like_first}},
  {"Clip", {.flop = flop::per_output<2>, .gradient = gradient::limits}},
  {"DequantizeLinear", {.flop = flop::per_output<2>, .gradient = gradient::moves}},
  {"com.microsoft.BiasAdd", {.flop = flop::per_output<2>, .gradient = gradient::reads_nothing}},
  {"QuickGelu", {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs}},
  {"Softplus Softsign",
   {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs, .shape = shape::like_first}},
  {"Elu", {.flop = flop::per_output<3>, .gradient = gradient::reads_outputs, .shape = shape::like_first}},
  {"QLinearLeakyRelu QLinearSigmoid", {.flop = flop::per_output<4>, .gradient = gradient::none}},
  {"HardSigmoid", {.flop = flop::per_output<4>, .gradient = gradient::reads_outputs}},
  {"Selu", {.flop = flop::per_output<4>, .gradient = gradient::reads_outputs, .shape = shape::like_first}},
  {"QLinearAdd QLinearMul", {.flop = flop::per_output<5>, .gradient = gradient::none}},
  {"Celu HardSwish Mish", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs}},
  {"Gelu", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs, .shape = shape::like_first}},
  {"BiasGelu BiasSplitGelu", {.flop = flop::per_output<6>, .gradient = gradient::reads_inputs}},
  {"FastGelu", {.flop = flop::per_output<9>, .gradient = gradient::reads_inputs}},

  // Several tensors into one, reductions and selections.
  {"DFT", {.flop = flop::fourier}},
  {"ArgMax ArgMin", {.flop = flop::per_input<1>, .gradient = gradient::none, .shape = shape::arg_reduce}},
  {"InTopK InTopKV2", {.flop = flop::per_input<1>, .gradient = gradient::none, .shape = shape::like_second}},
  {"CumSum ReduceMean ReduceSum", {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"ReduceLogSum ReduceMax ReduceMin ReduceProd", {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"UnsortedSegmentMax", {.flop = flop::per_input<1>, .gradient = gradient::finds, .shape = shape::segment_sum}},
  {"SegmentMean SegmentSum", {.flop = flop::per_input<1>, .gradient = gradient::selects, .shape = shape::like_first}},
  {"UnsortedSegmentSum", {.flop = flop::per_input<1>, .gradient = gradient::selects, .shape = shape::segment_sum}},
  {"Det", {.flop = flop::per_input<1>}},
  {"BiasAddGrad", {.flop = flop::per_input<1>, .shape = shape::channels}},
  {"ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare", {.flop = flop::per_input<2>, .gradient = gradient::finds}},
  {"onnx.Max onnx.Min", {.flop = flop::per_operand, .gradient = gradient::reads_inputs}},
  {"onnx.Mean", {.flop = flop::per_operand, .gradient = gradient::moves}},
  {"onnx.Sum", {.flop = flop::per_operand, .gradient = gradient::reads_nothing}},
  {"AccumulateNV2 AddN",
   {.flop = flop::per_operand, .gradient = gradient::reads_nothing, .shape = shape::like_first}},
  {"Cumsum", {.flop = flop::per_output<1>, .gradient = gradient::moves, .shape = shape::like_first}},
  {"Cumprod", {.flop = flop::per_output<1>, .shape = shape::like_first}},
  {"All Any", {.flop = flop::reduction, .gradient = gradient::none, .shape = shape::reduce}},
  {"Max Min", {.flop = flop::reduction, .gradient = gradient::reads_inputs, .shape = shape::reduce}},
  {"Mean", {.flop = flop::reduction, .gradient = gradient::moves, .shape = shape::reduce}},
  {"Sum", {.flop = flop::reduction, .gradient = gradient::reads_nothing, .shape = shape::reduce}},
  {"EuclideanNorm Prod", {.flop = flop::reduction, .gradient = gradient::finds, .shape = shape::reduce}},
  {"Unique", {.flop = flop::selection, .gradient = gradient::none}},
  {"onnx.TopK", {.flop = flop::selection, .gradient = gradient::finds}},
  {"TopK TopKV2", {.flop = flop::top_k, .gradient = gradient::finds, .shape = shape::top_k, .outputs = 2}},

  // Updates of variables.
  {"Assign", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::reference}},
  {"ScatterAdd ScatterMul ScatterNdAdd ScatterNdUpdate ScatterSub ScatterUpdate",
   {.flop = flop::per_input<1, 2>, .shape = shape::reference}},
  {"ApplyRMSProp SparseApplyRMSProp", {.flop = flop::update<11>, .shape = shape::reference}},
  {"ApplyAdadelta ApplyAdam ApplyFtrl SparseApplyAdam SparseApplyFtrl",
   {.flop = flop::update<12>, .shape = shape::reference}},
  {"ApplyCenteredRMSProp ApplyFtrlV2", {.flop = flop::update<13>, .shape = shape::reference}},
  {"AssignAdd AssignSub", {.flop = flop::update<1>, .gradient = gradient::none, .shape = shape::reference}},
  {"ApplyGradientDescent SparseApplyGradientDescent", {.flop = flop::update<2>, .shape = shape::reference}},
  {"ApplyAdagrad ApplyMomentum SparseApplyAdagrad SparseApplyMomentum",
   {.flop = flop::update<4>, .shape = shape::reference}},
  {"ApplyAdagradV2", {.flop = flop::update<5>, .shape = shape::reference}},
  {"ApplyProximalGradientDescent", {.flop = flop::update<6>, .shape = shape::reference}},
  {"ApplyAddSign ApplyProximalAdagrad", {.flop = flop::update<8>, .shape = shape::reference}},
  {"ApplyAdaMax ApplyPowerSign", {.flop = flop::update<9>, .shape = shape::reference}},

  // Results that are views of an input, or that are there before.
  {"Constant ConstantOfShape", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},
  {"_Arg", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::argument}},
  {"Const HostConst",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::constant}},
  {"PreventGradient StopGradient",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::identity}},
  {"Placeholder PlaceholderV2",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::placeholder}},
  {"Rank", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::rank}},
  {"Shape", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::shape}},
  {"ShapeN", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::shape_n}},
  {"Size", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::size}},
  {"Dropout", {.flop = flop::nothing, .use = use::view, .gradient = gradient::masks}},
  {"Flatten Unsqueeze", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves}},
  {"ExpandDims",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .shape = shape::expand_dims}},
  {"EnsureShape Identity PlaceholderWithDefault",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .shape = shape::identity}},
  {"ReadVariableOp",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .shape = shape::read_variable}},
  {"Reshape", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .shape = shape::reshape}},
  {"Squeeze", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .shape = shape::squeeze}},
  {"Variable VariableV2",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::reads_nothing, .shape = shape::variable}},

  // Rows and elements looked up in something larger.
  {"EmbeddingLookup", {.use = use::lookup, .gradient = gradient::selects}},
  {"Embedding", {.use = use::lookup}},
  {"Slice", {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::moves, .shape = shape::slice}},
  {"StridedSlice",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::moves, .shape = shape::strided_slice}},
  {"GatherElements GatherND", {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects}},
  {"Gather GatherV2",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects, .shape = shape::gather}},
  {"GatherNd",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects, .shape = shape::gather_nd}},
  {"ResourceGather",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects, .shape = shape::resource_gather}},

  // Moving data.
  {"EyeLike NonZero QLinearConcat", {.flop = flop::nothing, .gradient = gradient::none}},
  {"BroadcastGradientArgs",
   {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::broadcast_args, .outputs = 2}},
  {"ConcatOffset", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::concat_offset}},
  {"Fill", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::fill}},
  {"InvertPermutation OnesLike ZerosLike",
   {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::like_first}},
  {"OneHot", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::one_hot}},
  {"CastLike CenterCropPad Col2Im Expand Trilu", {.flop = flop::nothing, .gradient = gradient::moves}},
  {"Concat", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::concat_first}},
  {"ConcatV2", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::concat_last}},
  {"IdentityN", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::each}},
  {"BroadcastTo", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::from_second_values}},
  {"Cast", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::identity}},
  {"DepthToSpace MatrixBandPart Reverse ReverseSequence ReverseV2 Roll SpaceToDepth",
   {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::like_first}},
  {"Pack", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::pack}},
  {"MirrorPad Pad PadV2", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::pad}},
  {"Split", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::split}},
  {"SplitV", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::split_v}},
  {"Tile", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::tile}},
  {"ConjugateTranspose Transpose", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::transpose}},
  {"Unpack", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::unpack}},
  {"ScatterNd", {.flop = flop::nothing, .gradient = gradient::selects, .shape = shape::from_third_values}},
  {"Compress ConcatFromSequence Optional OptionalGetElement OptionalHasElement Scatter SequenceAt "
   "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence",
   {.flop = flop::nothing}},
  {"TupleBarrier", {.flop = flop::nothing, .shape = shape::each}},
  {"StridedSliceGrad", {.flop = flop::nothing, .shape = shape::from_values}},
  {"DebugIdentity Enter Exit LoopCond NextIteration RefEnter RefExit RefIdentity RefNextIteration Snapshot",
   {.flop = flop::nothing, .shape = shape::identity}},
  {"Bitcast MatrixSetDiag RandomShuffle", {.flop = flop::nothing, .shape = shape::like_first}},
  {"Merge RefMerge", {.flop = flop::nothing, .shape = shape::merge, .outputs = 2}},
  {"RefSwitch Switch", {.flop = flop::nothing, .shape = shape::switch_, .outputs = 2}},
  {"ScatterElements ScatterND", {.flop = flop::scatter, .gradient = gradient::selects}},

  // What has effects only, or hands on state.
  {"QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2",
   {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::dequeue}},
  {"IteratorV2", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::handle}},
  {"IteratorGetNext IteratorGetNextSync",
   {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::iterator}},
  {"Assert PrintV2 Save SaveV2",
   {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::no_output, .outputs = 0}},
  {"FIFOQueue FIFOQueueV2 HashTable HashTableV2 MutableHashTable MutableHashTableV2 PaddingFIFOQueue "
   "PaddingFIFOQueueV2 RandomShuffleQueue RandomShuffleQueueV2 TensorArrayV3",
   {.flop = flop::nothing, .shape = shape::handle}},
  {"_HostSend _Retval _Send Abort CloseSummaryWriter ControlTrigger DeleteIterator DestroyResourceOp "
   "FlushSummaryWriter InitializeTable InitializeTableFromTextFileV2 InitializeTableV2 LookupTableImportV2 "
   "LookupTableInsertV2 MakeIterator MergeV2Checkpoints QueueClose QueueCloseV2 QueueEnqueue QueueEnqueueMany "
   "QueueEnqueueManyV2 QueueEnqueueV2 SaveSlices Send WriteFile WriteSummary",
   {.flop = flop::nothing, .shape = shape::no_output, .outputs = 0}},
  {"NoOp",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .shape = shape::no_output, .outputs = 0}},
  {"VarHandleOp",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::reads_nothing, .shape = shape::handle}},

  // Known by what they are; how much they compute is not.
  {"AssignAddVariableOp AssignSubVariableOp AssignVariableOp AudioSummary Bucketize HistogramSummary "
   "ImageSummary IsVariableInitialized Iterator LinSpace LogicalXor MergeSummary NonMaxSuppression ParseExample "
   "Print Restore ScalarSummary ShardedFilename VariableShape VarIsInitializedOp",
   {.gradient = gradient::none}},
  {"Silu", {.gradient = gradient::reads_inputs}},
  {"BatchToSpaceND SpaceToBatchND", {.gradient = gradient::moves}},
  {"DepthwiseConv2d SparseTensorDenseMatMul", {.gradient = gradient::product}},
  {"DynamicStitch", {.gradient = gradient::selects}},
};

} // namespace op_words

using op_words::op_table;

} // namespace weft::detail
