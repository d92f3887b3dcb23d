// SPDX-License-Identifier: BSL-1.0
/// All types of ops that are known, with what is known of them.
#pragma once

#include "weft/workload/flop_rules.hpp"
#include "weft/workload/flop_rules_attention.hpp"
#include "weft/workload/flop_rules_classical.hpp"
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
/// Types are as formats call them: ONNX, ONNX Runtime's domain com.microsoft, TensorFlow, PyTorch, StableHLO and the
/// bundled networks.
/// Where formats mean different things by one name, the format is in front of it.
inline constexpr op_family op_table[] = {
  // Products of matrices.
  {"AttentionGrad EinsumGrad GemmGrad MatMulGrad", {.use = use::product}},
  {"ai.onnx.preview.FlexAttention Attention DecoderMaskedMultiHeadAttention GroupQueryAttention MultiHeadAttention",
   {.flop = flop::attention, .use = use::product, .gradient = gradient::products}},
  {"SparseAttention", {.flop = flop::sparse_attention, .use = use::product, .gradient = gradient::products}},
  {"PackedMultiHeadAttention", {.flop = flop::packed_attention, .use = use::product, .gradient = gradient::products}},
  {"PagedAttention", {.flop = flop::paged_attention, .use = use::product, .gradient = gradient::products}},
  {"DecoderAttention", {.flop = flop::decoder_attention, .use = use::product, .gradient = gradient::products}},
  {"LongformerAttention", {.flop = flop::windowed_attention, .use = use::product, .gradient = gradient::products}},
  {"LinearAttention", {.flop = flop::linear_attention, .use = use::product, .gradient = gradient::products}},
  {"MoE", {.flop = flop::experts<2>, .use = use::product, .gradient = gradient::products}},
  {"QMoE", {.flop = flop::experts<3>, .use = use::product, .gradient = gradient::products}},
  {"Einsum", {.flop = flop::einsum, .use = use::product, .gradient = gradient::product, .shape = shape::einsum}},
  {"FusedGemm Gemm GemmFloat8", {.flop = flop::gemm, .use = use::product, .gradient = gradient::product}},
  {"SparseMatMul", {.flop = flop::matmul, .gradient = gradient::product, .shape = shape::matmul}},
  {"DynamicQuantizeMatMul MatMulInteger MatMulInteger16 MatMulIntegerToFloat QLinearMatMul QOrderedMatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::none}},
  {"GemmFastGelu", {.flop = flop::product_with_gelu, .use = use::product, .gradient = gradient::product}},
  {"FusedMatMul FusedMatMulActivation MatMulFpQ4 TransposeMatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product}},
  {"BatchMatMul BatchMatMulV2 BatchMatMulV3",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product, .shape = shape::batch_matmul}},
  {"_FusedMatMul MatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product, .shape = shape::matmul}},
  {"MatMulBnb4 MatMulNBits", {.flop = flop::quantised_columns, .use = use::product}},
  {"MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight",
   {.flop = flop::quantised_rows, .use = use::product}},
  {"MatMulNBitsMlp", {.flop = flop::quantised_gate, .use = use::product}},
  {"MatMulNBitsQkv", {.flop = flop::quantised_projections, .use = use::product}},
  {"QuantizedMatMul QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu "
   "QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::none, .shape = shape::matmul, .outputs = 3}},
  {"QGemm", {.flop = flop::quantised_gemm, .use = use::product, .gradient = gradient::none}},
  {"com.microsoft.Attention DecoderMaskedSelfAttention",
   {.flop = flop::self_attention<4>, .use = use::product, .gradient = gradient::products}},
  {"QAttention", {.flop = flop::self_attention<8>, .use = use::product, .gradient = gradient::products}},
  {"PackedAttention", {.flop = flop::packed_self_attention, .use = use::product, .gradient = gradient::products}},

  // Convolutions.
  {"FusedConv2D", {.use = use::convolution, .gradient = gradient::product}},
  {"Conv2DGrad ConvGrad ConvTransposeGrad", {.use = use::convolution}},
  {"_FusedConv2D Conv1D Conv2D Conv3D",
   {.flop = flop::conv, .use = use::convolution, .gradient = gradient::product, .shape = shape::conv}},
  {"QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize "
   "QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu "
   "QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
   "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu "
   "QuantizedConv2DWithBiasSumAndReluAndRequantize",
   {.flop = flop::conv, .use = use::convolution, .gradient = gradient::none, .shape = shape::conv, .outputs = 3}},
  {"QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu "
   "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
   {.flop = flop::depthwise, .gradient = gradient::none, .shape = shape::depthwise, .outputs = 3}},
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
  {"CausalConvWithState", {.flop = flop::causal_convolution, .gradient = gradient::reads_inputs}},
  {"NhwcConv NhwcFusedConv", {.flop = flop::convolution<1, 2>, .use = use::convolution}},
  {"DeformConv", {.flop = flop::convolution<1, 3>, .use = use::convolution, .gradient = gradient::product}},
  {"ConvInteger", {.flop = flop::convolution<1, 99>, .use = use::convolution, .gradient = gradient::none}},
  {"QLinearConv", {.flop = flop::convolution<3, 8>, .use = use::convolution, .gradient = gradient::none}},
  {"DepthwiseConv2dNative", {.flop = flop::depthwise, .gradient = gradient::product, .shape = shape::depthwise}},
  {"DepthwiseConv2dNativeBackpropFilter", {.flop = flop::depthwise_filter_grad, .shape = shape::conv_filter_grad}},
  {"DepthwiseConv2dNativeBackpropInput", {.flop = flop::depthwise_input_grad, .shape = shape::conv_input_grad}},
  {"ConvTranspose", {.flop = flop::transposed_convolution, .use = use::convolution, .gradient = gradient::product}},

  // Recurrences: several products and their gates.
  {"CudnnRNN", {.use = use::recurrence, .gradient = gradient::products}},
  {"BlockLSTM BlockLSTMV2",
   {.flop = flop::block_lstm, .use = use::recurrence,
    .gradient = gradient::products, .shape = shape::block_lstm, .outputs = 7}},
  {"GRUBlockCell",
   {.flop = flop::gru_cell, .use = use::recurrence,
    .gradient = gradient::products, .shape = shape::lstm, .outputs = 4}},
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
  {"SkipGroupNorm SkipLayerNormalization", {.flop = flop::per_input<9>, .gradient = gradient::reads_inputs}},
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
  {"QuantizedAvgPool QuantizedMaxPool",
   {.flop = flop::pool, .gradient = gradient::none, .shape = shape::pool, .outputs = 3}},
  {"MaxPoolWithArgmax", {.flop = flop::pool, .gradient = gradient::finds, .shape = shape::pool, .outputs = 2}},
  {"Dilation2D", {.flop = flop::dilation, .gradient = gradient::finds, .shape = shape::dilation}},
  {"CropAndResize", {.flop = flop::per_output<9>, .gradient = gradient::moves, .shape = shape::crop_and_resize}},
  {"ResizeArea", {.flop = flop::per_input<1>, .gradient = gradient::moves, .shape = shape::resize}},
  {"ResizeBicubic", {.flop = flop::per_output<32>, .gradient = gradient::moves, .shape = shape::resize}},
  {"QLinearAveragePool", {.flop = flop::pool, .gradient = gradient::none}},
  {"AveragePool", {.flop = flop::pool, .gradient = gradient::moves}},
  {"AvgPool AvgPool3D", {.flop = flop::pool, .gradient = gradient::moves, .shape = shape::pool}},
  {"LpPool MaxpoolWithMask NhwcMaxPool", {.flop = flop::pool, .gradient = gradient::finds}},
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

  // Linear algebra and Fourier transforms.
  {"Cholesky", {.flop = flop::cubic<1>, .gradient = gradient::reads_outputs, .shape = shape::like_first}},
  {"CholeskyGrad", {.flop = flop::cubic<4>, .shape = shape::like_first}},
  {"Lu", {.flop = flop::cubic<2>, .gradient = gradient::reads_outputs, .shape = shape::lu, .outputs = 2}},
  {"MatrixDeterminant", {.flop = flop::cubic<2>, .shape = shape::determinant}},
  {"LogMatrixDeterminant", {.flop = flop::cubic<2>, .shape = shape::determinant, .outputs = 2}},
  {"MatrixInverse", {.flop = flop::cubic<6>, .gradient = gradient::reads_outputs, .shape = shape::like_first}},
  {"MatrixSolve", {.flop = flop::solve, .shape = shape::solve}},
  {"MatrixSolveLs", {.flop = flop::least_squares, .shape = shape::solve}},
  {"MatrixTriangularSolve", {.flop = flop::substitution, .shape = shape::solve}},
  {"MatrixExponential MatrixLogarithm MatrixSquareRoot", {.flop = flop::cubic<75>, .shape = shape::like_first}},
  {"Qr", {.flop = flop::qr, .gradient = gradient::reads_outputs, .shape = shape::qr, .outputs = 2}},
  {"SelfAdjointEigV2",
   {.flop = flop::symmetric_eigen, .gradient = gradient::reads_outputs, .shape = shape::eigen, .outputs = 2}},
  {"Eig", {.flop = flop::cubic<75>, .gradient = gradient::reads_outputs, .shape = shape::eigen, .outputs = 2}},
  {"BatchSvd Svd", {.flop = flop::svd, .gradient = gradient::reads_outputs, .shape = shape::svd, .outputs = 3}},
  {"FFT IFFT", {.flop = flop::fourier_over<1>, .gradient = gradient::moves, .shape = shape::like_first}},
  {"FFT2D IFFT2D", {.flop = flop::fourier_over<2>, .gradient = gradient::moves, .shape = shape::like_first}},
  {"FFT3D IFFT3D", {.flop = flop::fourier_over<3>, .gradient = gradient::moves, .shape = shape::like_first}},
  {"RFFT IRFFT", {.flop = flop::fourier_over<1, true>, .gradient = gradient::moves, .shape = shape::real_spectrum}},
  {"RFFT2D IRFFT2D", {.flop = flop::fourier_over<2, true>, .gradient = gradient::moves, .shape = shape::real_spectrum}},
  {"RFFT3D IRFFT3D", {.flop = flop::fourier_over<3, true>, .gradient = gradient::moves, .shape = shape::real_spectrum}},

  // Several per element, as their definitions spell them out.
  {"MRotaryEmbedding RotaryEmbedding", {.flop = flop::per_input<3>}},
  {"GemmaRotaryEmbedding", {.flop = flop::per_outputs<3>}},
  {"QLinearSoftmax", {.flop = flop::per_input<9>, .gradient = gradient::none}},
  {"QLinearReduceMean", {.flop = flop::per_input<3>, .gradient = gradient::none}},
  {"GatherBlockQuantized", {.flop = flop::per_output<2>, .use = use::lookup, .gradient = gradient::selects}},
  {"MulInteger", {.flop = flop::per_output<3>, .gradient = gradient::none}},
  {"ComplexMul ComplexMulConj", {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs}},
  {"SwiGLU", {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs}}, // Swish, and a product
  {"BiasDropout BitmaskBiasDropout", {.flop = flop::per_output<2>, .gradient = gradient::masks}},
  {"DynamicQuantizeLinear", {.flop = flop::per_input<4>, .gradient = gradient::none}},
  {"QuantizeLinear", {.flop = flop::per_output<2>, .gradient = gradient::none}},
  {"QuantizeDownAndShrinkRange QuantizeV2 QuantizedRelu QuantizedRelu6 QuantizedReluX Requantize "
   "RequantizePerChannel",
   {.flop = flop::per_output<2>, .gradient = gradient::none, .shape = shape::like_first, .outputs = 3}},
  {"RequantizationRange RequantizationRangePerChannel",
   {.flop = flop::per_input<2>, .gradient = gradient::none, .shape = shape::scalar, .outputs = 2}},
  {"Dequantize", {.flop = flop::per_output<2>, .gradient = gradient::moves, .shape = shape::like_first}},
  {"FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 "
   "QuantizeAndDequantizeV4",
   {.flop = flop::per_output<4>, .gradient = gradient::limits, .shape = shape::like_first}},
  {"QuantizedAdd QuantizedMul",
   {.flop = flop::per_output<5>, .gradient = gradient::none, .shape = shape::broadcast, .outputs = 3}},
  {"QuantizedBiasAdd",
   {.flop = flop::per_output<2>, .gradient = gradient::none, .shape = shape::like_first, .outputs = 3}},
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
  {"QLinearAdd QLinearMul QLinearWhere", {.flop = flop::per_output<5>, .gradient = gradient::none}},
  {"Celu HardSwish Mish", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs}},
  {"Gelu", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs, .shape = shape::like_first}},
  {"BiasGelu BiasSplitGelu", {.flop = flop::per_output<6>, .gradient = gradient::reads_inputs}},
  {"FastGelu", {.flop = flop::per_output<9>, .gradient = gradient::reads_inputs}},

  // Several tensors into one, reductions and selections.
  {"DFT", {.flop = flop::fourier}},
  {"STFT", {.flop = flop::short_time_fourier}},
  {"HammingWindow HannWindow", {.flop = flop::per_output<5>, .gradient = gradient::none}}, // a - b cos(2 pi i / n)
  {"BlackmanWindow", {.flop = flop::per_output<9>, .gradient = gradient::none}},           // one cosine more
  {"MelWeightMatrix", {.flop = flop::per_output<4>, .gradient = gradient::none}}, // the lower of two ramps, over 0
  {"AffineGrid", {.flop = flop::affine_grid, .gradient = gradient::reads_inputs}},
  {"com.microsoft.CropAndResize", {.flop = flop::per_output<8>, .gradient = gradient::selects}},
  {"CumProd", {.flop = flop::per_input<1>}},
  {"ImageDecoder", {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"onnx.NonMaxSuppression", {.flop = flop::suppression, .gradient = gradient::none}},
  {"TfIdfVectorizer", {.flop = flop::n_grams, .gradient = gradient::none}},
  {"ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor", {.flop = flop::linear_model, .gradient = gradient::none}},
  {"ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor", {.flop = flop::support_vectors, .gradient = gradient::none}},
  {"ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor",
   {.flop = flop::trees, .gradient = gradient::none}},
  {"ai.onnx.ml.Binarizer ai.onnx.ml.CategoryMapper ai.onnx.ml.Imputer ai.onnx.ml.LabelEncoder",
   {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"ai.onnx.ml.Scaler", {.flop = flop::per_input<2>, .gradient = gradient::none}},
  {"ai.onnx.ml.Normalizer", {.flop = flop::per_input<3>, .gradient = gradient::none}},
  {"ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.CastMap ai.onnx.ml.DictVectorizer ai.onnx.ml.FeatureVectorizer "
   "ai.onnx.ml.OneHotEncoder ai.onnx.ml.ZipMap onnx.StringSplit RegexFullMatch StringConcat StringNormalizer",
   {.flop = flop::nothing, .gradient = gradient::none}},
  {"ArgMax ArgMin", {.flop = flop::per_input<1>, .gradient = gradient::none, .shape = shape::arg_reduce}},
  {"InTopK InTopKV2", {.flop = flop::per_input<1>, .gradient = gradient::none, .shape = shape::like_second}},
  {"CumSum ReduceMean ReduceSum", {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"ReduceLogSum ReduceMax ReduceMin ReduceProd", {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd",
   {.flop = flop::per_input<1>, .gradient = gradient::finds, .shape = shape::segment_sum}},
  {"SegmentMean SegmentSum", {.flop = flop::per_input<1>, .gradient = gradient::selects, .shape = shape::segments}},
  {"SegmentMax SegmentMin SegmentProd",
   {.flop = flop::per_input<1>, .gradient = gradient::finds, .shape = shape::segments}},
  {"SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments "
   "SparseSegmentSum SparseSegmentSumWithNumSegments",
   {.flop = flop::sparse_rows, .gradient = gradient::selects, .shape = shape::sparse_segments}},
  {"UnsortedSegmentSum", {.flop = flop::per_input<1>, .gradient = gradient::selects, .shape = shape::segment_sum}},
  {"Det", {.flop = flop::determinant}},
  {"Inverse", {.flop = flop::inverse}},
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
  {"tensorflow.Where", {.flop = flop::per_input<1>, .gradient = gradient::none, .shape = shape::where}},
  {"Unique", {.flop = flop::selection, .gradient = gradient::none, .shape = shape::unique, .outputs = 2}},
  {"onnx.TopK", {.flop = flop::selection, .gradient = gradient::finds}},
  {"TopK TopKV2", {.flop = flop::top_k, .gradient = gradient::finds, .shape = shape::top_k, .outputs = 2}},

  // Updates of variables.
  {"Assign", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::reference}},
  {"ScatterAdd ScatterMul ScatterNdAdd ScatterNdUpdate ScatterSub ScatterUpdate",
   {.flop = flop::per_input<1, 2>, .shape = shape::reference}},
  {"ai.onnx.preview.training.Momentum", {.flop = flop::optimiser<7, 2>, .gradient = gradient::none}},
  {"ai.onnx.preview.training.Adagrad", {.flop = flop::optimiser<9, 2>, .gradient = gradient::none}},
  {"ai.onnx.preview.training.Adam", {.flop = flop::optimiser<14, 3>, .gradient = gradient::none}},
  {"ai.onnx.preview.training.Gradient", {.flop = flop::per_outputs<1>, .gradient = gradient::none}},
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
  {"BitCast", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},
  {"CastLike CenterCropPad Col2Im Expand RelativePositionBias RemovePadding RestorePadding TensorScatter Trilu",
   {.flop = flop::nothing, .gradient = gradient::moves}},
  {"Concat", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::concat_first}},
  {"ConcatV2", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::concat_last}},
  {"IdentityN", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::each}},
  {"BroadcastTo", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::from_second_values}},
  {"Cast", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::identity}},
  {"BatchToSpace BatchToSpaceND", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::batch_to_space}},
  {"SpaceToBatch SpaceToBatchND", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::space_to_batch}},
  {"DepthToSpace", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::depth_to_space}},
  {"SpaceToDepth", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::space_to_depth}},
  {"ExtractImagePatches ExtractVolumePatches",
   {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::patches}},
  {"BatchMatrixDiag MatrixDiag MatrixDiagV2 MatrixDiagV3",
   {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::matrix_diag}},
  {"BatchMatrixDiagPart MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3",
   {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::matrix_diag_part}},
  {"Diag", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::diag}},
  {"DiagPart", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::diag_part}},
  {"QuantizedConcat", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::concat_first, .outputs = 3}},
  {"QuantizedReshape", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::reshape, .outputs = 3}},
  {"TensorListFromTensor", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::list_from_tensor}},
  {"TensorListSetItem", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::list_from_tensor}},
  {"EmptyTensorList TensorListReserve",
   {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::list_reserve}},
  {"TensorListGetItem", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::list_item}},
  {"TensorListStack", {.flop = flop::nothing, .gradient = gradient::moves, .shape = shape::list_stack}},
  {"TensorListLength", {.flop = flop::nothing, .gradient = gradient::none, .shape = shape::scalar}},
  {"MatrixBandPart Reverse ReverseSequence ReverseV2 Roll",
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
  {"Bitcast MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 RandomShuffle",
   {.flop = flop::nothing, .shape = shape::like_first}},
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
  {"DepthwiseConv2d SparseTensorDenseMatMul", {.gradient = gradient::product}},
  {"DynamicStitch", {.gradient = gradient::selects}},

  // PyTorch (aten) and StableHLO. Where the two mean different things by one name, the dialect is in front of it. What
  // has no rule here is computed from what else the file says: contracted axes, regions.
  {"bmm dot inner int_mm matmul mm mv vdot",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product}},
  {"linear", {.flop = flop::product_with_bias, .use = use::product, .gradient = gradient::product}},
  {"addbmm addmm addmv baddbmm", {.flop = flop::product_and_sum, .use = use::product, .gradient = gradient::product}},
  {"addr ger outer", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs}},
  {"einsum", {.flop = flop::einsum, .use = use::product, .gradient = gradient::product}},
  {"dot_general stablehlo.dot tensordot", {.use = use::product, .gradient = gradient::product}},
  {"scaled_dot_product_attention scaled_dot_product_attention_math scaled_dot_product_cudnn_attention "
   "scaled_dot_product_efficient_attention scaled_dot_product_flash_attention "
   "scaled_dot_product_flash_attention_for_cpu scaled_dot_product_fused_attention_overrideable",
   {.flop = flop::attention, .use = use::product, .gradient = gradient::products}},
  {"conv1d conv2d conv3d", {.flop = flop::convolution<1, 2>, .use = use::convolution, .gradient = gradient::product}},
  {"conv_transpose1d conv_transpose2d conv_transpose3d",
   {.flop = flop::transposed_convolution, .use = use::convolution, .gradient = gradient::product}},
  {"aten._convolution aten.convolution",
   {.flop = flop::convolution_or_transposed, .use = use::convolution, .gradient = gradient::product}},
  {"convolution dynamic_conv", {.use = use::convolution, .gradient = gradient::product}},
  {"lstm", {.flop = flop::recurrent_layers<14>, .use = use::recurrence, .gradient = gradient::products}},
  {"gru", {.flop = flop::recurrent_layers<13>, .use = use::recurrence, .gradient = gradient::products}},
  {"rnn_relu rnn_tanh", {.flop = flop::recurrent_layers<4>, .use = use::recurrence, .gradient = gradient::products}},
  {"batch_norm cudnn_batch_norm native_batch_norm native_batch_norm_legit",
   {.flop = flop::batch_norm_of_mode, .gradient = gradient::reads_inputs}},
  {"batch_norm_inference native_batch_norm_legit_no_training",
   {.flop = flop::per_input<2>, .gradient = gradient::reads_inputs}},
  {"batch_norm_training group_norm instance_norm layer_norm native_group_norm native_layer_norm",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs}},
  {"fused_rms_norm rms_norm", {.flop = flop::per_input<4>, .gradient = gradient::reads_inputs}},
  {"batch_norm_grad native_layer_norm_backward", {.flop = flop::per_input<11>}},
  {"log_softmax safe_softmax softmax", {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs}},
  {"cross_entropy_loss", {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs}},
  {"l1_loss mse_loss smooth_l1_loss", {.flop = flop::per_input<3>, .gradient = gradient::reads_inputs}},
  {"nll_loss nll_loss_forward nll_loss_nd", {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs}},
  {"binary_cross_entropy binary_cross_entropy_with_logits",
   {.flop = flop::per_input<6>, .gradient = gradient::reads_inputs}},
  {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d",
   {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
   {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"avg_pool1d avg_pool2d avg_pool3d", {.flop = flop::pool, .gradient = gradient::moves}},
  {"max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices",
   {.flop = flop::pool, .gradient = gradient::finds}},
  {"reduce_window select_and_scatter", {.gradient = gradient::finds}},
  {"channel_shuffle pixel_shuffle pixel_unshuffle upsample_nearest1d upsample_nearest2d upsample_nearest3d "
   "upsample_nearest_exact1d upsample_nearest_exact2d upsample_nearest_exact3d",
   {.flop = flop::nothing, .gradient = gradient::moves}},
  {"upsample_linear1d", {.flop = flop::per_output<4>, .gradient = gradient::moves}},
  {"grid_sampler grid_sampler_2d upsample_bilinear2d", {.flop = flop::per_output<8>, .gradient = gradient::moves}},
  {"upsample_bicubic2d", {.flop = flop::per_output<32>, .gradient = gradient::moves}},
  {"grid_sampler_3d upsample_trilinear3d", {.flop = flop::per_output<16>, .gradient = gradient::moves}},
  {"and arange bernoulli bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil "
   "compare count_leading_zeros cu_threefry2x32 cu_threefry2x32_ffi eq equal floor floor_divide floordiv ge gt "
   "is_finite is_inf is_neg_inf is_pos_inf isclose isfinite isinf isnan isneginf isposinf le linspace logical_and "
   "logical_not logical_or logical_xor lt multinomial ne normal not or popcnt rand rand_like randint randint_like "
   "randn randn_like randperm rng rng_bit_generator round round_nearest_afz round_nearest_even sgn shift_left "
   "shift_right_arithmetic shift_right_logical sign signbit threefry2x32 trunc uniform xor",
   {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"abs acos acosh arccos arcsin arctan asin asinh atan atan2 atanh bessel_i1e cbrt conj copysign cos cosh cosine "
   "digamma div divide erf erf_inv erfc erfinv fmax fmin fmod heaviside leaky_relu lgamma log log10 log1p log2 "
   "log_plus_one maximum minimum mul multiply next_after polygamma pow power prelu remainder sin sinc sine sinh "
   "square tan threshold xlogy zeta",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs}},
  {"add neg negate negative positive reduce_precision rsub sub subtract",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_nothing}},
  {"exp exp2 expm1 exponential exponential_minus_one logistic reciprocal relu relu6 rsqrt sigmoid sqrt tanh",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_outputs}},
  {"chlo.broadcast_select masked_fill stablehlo.select where",
   {.flop = flop::per_output<1>, .gradient = gradient::selects}},
  {"fake_quantize_per_channel_affine fake_quantize_per_tensor_affine quantize_per_channel quantize_per_tensor "
   "quantize_per_token uniform_quantize",
   {.flop = flop::per_output<2>, .gradient = gradient::none}},
  {"dequantize dequantize_per_channel dequantize_per_tensor dequantize_per_token uniform_dequantize",
   {.flop = flop::per_output<2>, .gradient = gradient::moves}},
  {"clamp clamp_max clamp_min clip hardtanh", {.flop = flop::per_output<2>, .gradient = gradient::limits}},
  {"glu silu swish", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs}},
  {"addcdiv addcmul lerp log_sigmoid log_sigmoid_forward logaddexp logaddexp2 softplus softsign",
   {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs}},
  {"elu", {.flop = flop::per_output<3>, .gradient = gradient::reads_outputs}},
  {"hardsigmoid selu", {.flop = flop::per_output<4>, .gradient = gradient::reads_outputs}},
  {"celu gelu hardswish mish", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs}},
  {"all any argmax argmin argsort count_nonzero", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"cumsum logcumsumexp mean", {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"nansum sum", {.flop = flop::per_input<1>, .gradient = gradient::reads_nothing}},
  {"amax amin aminmax cummax cummin cumprod max median min mode prod",
   {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"linalg_norm linalg_vector_norm logsumexp norm", {.flop = flop::per_input<2>, .gradient = gradient::finds}},
  {"std std_mean var var_mean", {.flop = flop::per_input<3>, .gradient = gradient::reads_inputs}},
  {"sort top_k topk", {.flop = flop::selection, .gradient = gradient::finds}},
  {"reduce", {.gradient = gradient::finds}},
  {"unique unique2 unique_consecutive", {.flop = flop::selection, .gradient = gradient::none}},
  {"bincount bucketize histc searchsorted", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"bitcast_convert get_dimension_size partition_id replica_id shape_of sym_numel sym_size sym_storage_offset "
   "sym_stride",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},
  {"alias as_strided aten.select aten.slice aten.transpose atleast_1d atleast_2d atleast_3d broadcast "
   "broadcast_in_dim broadcast_tensors broadcast_to chunk detach diagonal dropout dynamic_broadcast_in_dim "
   "dynamic_reshape expand expand_as feature_dropout flatten get_tuple_element hsplit identity imag lift_fresh "
   "lift_fresh_copy matrix_H meshgrid moveaxis movedim mT narrow native_dropout numpy_T optimization_barrier permute "
   "real rename reshape reshape_as set_dimension_size split split_with_sizes squeeze swapaxes t tensor_split tuple "
   "unbind unflatten unsafe_chunk unsafe_split unsafe_split_with_sizes unsafe_view unsqueeze view view_as "
   "view_as_complex view_as_real vsplit",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves}},
  {"embedding gather index index_select masked_select take take_along_dim",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects}},
  {"dynamic_gather dynamic_slice narrow_copy real_dynamic_slice slice",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::moves}},
  {"embedding_bag", {.flop = flop::per_output<1>, .use = use::lookup, .gradient = gradient::selects}},
  {"constant constant_like create_token dynamic_iota empty empty_like empty_permuted empty_strided eye fill full "
   "full_like iota new_empty new_full new_ones new_zeros nonzero one_hot ones ones_like scalar_tensor tril_indices "
   "triu_indices zeros zeros_like",
   {.flop = flop::nothing, .gradient = gradient::none}},
  {"all_gather all_slice all_to_all cat clone col2im collective_broadcast collective_permute complex concat "
   "concatenate constant_pad_nd contiguous convert copy diag diag_embed dynamic_pad dynamic_update_slice flip fliplr "
   "flipud im2col index_fill pad reflection_pad1d reflection_pad2d reflection_pad3d repeat repeat_interleave "
   "replication_pad1d replication_pad2d replication_pad3d reverse roll rot90 select_scatter slice_scatter stack tile "
   "to to_copy transpose tril triu type_as unfold",
   {.flop = flop::nothing, .gradient = gradient::moves}},
  {"index_copy index_put masked_scatter unsafe_index_put",
   {.flop = flop::nothing, .gradient = gradient::selects}},
  {"index_add scatter_add scatter_reduce", {.flop = flop::per_input<1, 2>, .gradient = gradient::selects}},
  {"aten.scatter", {.flop = flop::nothing, .gradient = gradient::selects}},
  {"scatter", {.gradient = gradient::selects}},
  {"after_all annotate_device_placement assert_async assert_scalar assert_tensor_metadata infeed outfeed recv send "
   "sharding_group sym_constrain_range sym_constrain_range_for_size trace",
   {.flop = flop::nothing, .gradient = gradient::none}},
};

} // namespace op_words

using op_words::op_table;

} // namespace weft::detail
