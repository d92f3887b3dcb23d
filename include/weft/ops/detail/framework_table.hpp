// SPDX-License-Identifier: BSL-1.0
/// The table of op types of ONNX, ONNX Runtime, TensorFlow and the bundled networks.
#pragma once

#include "weft/ops/detail/table_words.hpp"

namespace weft::ops::detail {

namespace op_words {

/// FLOP: a multiply-add is 2; elementwise ops 1 per output element, transcendental ones too; reductions 1 per input
/// element; data movement 0. These are the counts of workload/nn. Efficiency follows from the use
/// (cost/efficiency.hpp), training steps from the gradient. Rules for shapes are in ops/shape_rules_*.hpp; readers
/// have tables of them by the types of their formats.
///
/// Types are as formats call them: ONNX, ONNX Runtime's domain com.microsoft, TensorFlow, PyTorch, StableHLO and the
/// bundled networks.
/// Where formats mean different things by one name, the format is in front of it.
inline constexpr family op_table[] = {
  // Products of matrices.
  {"AttentionGrad EinsumGrad GemmGrad MatMulGrad", {.use = use::product}},
  {"ai.onnx.preview.FlexAttention Attention DecoderMaskedMultiHeadAttention GroupQueryAttention MultiHeadAttention",
   {.flop = flop::attention, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"CachedAttention",
   {.use = use::product, .gradient = {.product = true, .parameters = false}, .attends = attends::whole}},
  {"GroupedMatMul", {.use = use::product, .gradient = {.product = true, .parameters = false}}},
  {"FusedAttention",
   {.use = use::attention, .gradient = {.product = true, .parameters = false}, .outputs = 2,
    .attends = attends::whole, .numbers = 1}},
  {"FusedAttentionGrad", {.use = use::attention, .outputs = 3}},
  {"ProjectHeads", {.use = use::product, .gradient = gradient::product, .outputs = 3}},
  {"ProjectHeadsGrad", {.use = use::product}},
  {"SparseAttention",
   {.flop = flop::sparse_attention, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"PackedMultiHeadAttention",
   {.flop = flop::packed_attention, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"PagedAttention",
   {.flop = flop::paged_attention, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"DecoderAttention",
   {.flop = flop::decoder_attention, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"LongformerAttention", {.flop = flop::windowed_attention, .use = use::product, .gradient = gradient::products}},
  {"LinearAttention", {.flop = flop::linear_attention, .use = use::product, .gradient = gradient::products}},
  {"MoE", {.flop = flop::experts<2>, .use = use::product, .gradient = gradient::products}},
  {"QMoE", {.flop = flop::experts<3>, .use = use::product, .gradient = gradient::products}},
  {"Einsum", {.flop = flop::einsum, .use = use::product, .gradient = gradient::product}},
  {"FusedGemm Gemm GemmFloat8", {.flop = flop::gemm, .use = use::product, .gradient = gradient::product}},
  {"SparseMatMul", {.flop = flop::matmul, .gradient = gradient::product}},
  {"DynamicQuantizeMatMul MatMulInteger MatMulInteger16 MatMulIntegerToFloat QLinearMatMul QOrderedMatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::none}},
  {"GemmFastGelu", {.flop = flop::product_with_gelu, .use = use::product, .gradient = gradient::product}},
  {"_FusedMatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 FusedMatMul FusedMatMulActivation MatMul MatMulFpQ4 "
   "TransposeMatMul",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product}},
  {"MatMulBnb4 MatMulNBits", {.flop = flop::quantised_columns, .use = use::product}},
  {"MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight", {.flop = flop::quantised_rows, .use = use::product}},
  {"MatMulNBitsMlp", {.flop = flop::quantised_gate, .use = use::product}},
  {"MatMulNBitsQkv", {.flop = flop::quantised_projections, .use = use::product}},
  {"QuantizedMatMul QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu QuantizedMatMulWithBiasAndReluAndRequantize "
   "QuantizedMatMulWithBiasAndRequantize",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::none, .outputs = 3}},
  {"QGemm", {.flop = flop::quantised_gemm, .use = use::product, .gradient = gradient::none}},
  {"com.microsoft.Attention DecoderMaskedSelfAttention",
   {.flop = flop::self_attention<4>, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"QAttention",
   {.flop = flop::self_attention<8>, .use = use::product, .gradient = gradient::products, .attends = attends::whole}},
  {"PackedAttention",
   {.flop = flop::packed_self_attention, .use = use::product, .gradient = gradient::products,
    .attends = attends::whole}},

  // Convolutions.
  {"FusedConv2D", {.use = use::convolution, .gradient = gradient::product}},
  {"Conv2DGrad ConvGrad ConvTransposeGrad", {.use = use::convolution}},
  {"_FusedConv2D Conv1D Conv3D", {.flop = flop::conv, .use = use::convolution, .gradient = gradient::product}},
  {"Conv2D",
   {.flop = flop::conv, .use = use::convolution, .gradient = gradient::product, .axes = axes::by<"n..c,..cf->n..f">}},
  {"QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize "
   "QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu "
   "QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
   "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu "
   "QuantizedConv2DWithBiasSumAndReluAndRequantize",
   {.flop = flop::conv, .use = use::convolution, .gradient = gradient::none, .outputs = 3}},
  {"QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu "
   "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
   {.flop = flop::depthwise, .gradient = gradient::none, .outputs = 3}},
  {"Conv2DBackpropFilter",
   {.flop = flop::conv_filter_grad, .use = use::convolution, .gradient = gradient::product,
    .axes = axes::by<"n..c,n..f->..cf">}},
  {"Conv3DBackpropFilter Conv3DBackpropFilterV2", {.flop = flop::conv_filter_grad, .use = use::convolution}},
  {"Conv2DBackpropInput",
   {.flop = flop::conv_input_grad, .use = use::convolution, .gradient = gradient::product,
    .axes = axes::by<"n..f,..cf->n..c">}},
  {"Conv3DBackpropInput Conv3DBackpropInputV2", {.flop = flop::conv_input_grad, .use = use::convolution}},
  {"Conv FusedConv", {.flop = flop::convolution<1, 2>, .use = use::convolution, .gradient = gradient::product}},
  {"CausalConvWithState", {.flop = flop::causal_convolution, .gradient = gradient::reads_inputs}},
  {"NhwcConv NhwcFusedConv", {.flop = flop::convolution<1, 2>, .use = use::convolution}},
  {"DeformConv", {.flop = flop::convolution<1, 3>, .use = use::convolution, .gradient = gradient::product}},
  {"ConvInteger", {.flop = flop::convolution<1, 99>, .use = use::convolution, .gradient = gradient::none}},
  {"QLinearConv", {.flop = flop::convolution<3, 8>, .use = use::convolution, .gradient = gradient::none}},
  {"DepthwiseConv2dNative", {.flop = flop::depthwise, .gradient = gradient::product}},
  {"DepthwiseConv2dNativeBackpropFilter", {.flop = flop::depthwise_filter_grad}},
  {"DepthwiseConv2dNativeBackpropInput", {.flop = flop::depthwise_input_grad}},
  {"ConvTranspose", {.flop = flop::transposed_convolution, .use = use::convolution, .gradient = gradient::product}},

  // Recurrences: several products and their gates.
  {"CudnnRNN", {.use = use::recurrence, .gradient = gradient::products}},
  {"BlockLSTM BlockLSTMV2",
   {.flop = flop::block_lstm, .use = use::recurrence, .gradient = gradient::products, .outputs = 7}},
  {"GRUBlockCell", {.flop = flop::gru_cell, .use = use::recurrence, .gradient = gradient::products, .outputs = 4}},
  {"GRUGrad LSTMGrad RNNGrad", {.use = use::recurrence}},
  {"LSTMBlockCell",
   {.flop = flop::lstm_cell, .use = use::recurrence, .gradient = gradient::products, .outputs = 7,
    .axes = axes::by<"n.,n.,n.,..,.->n.,n.,n.,n.,n.,n.,n.">}},
  {"LSTMBlockCellGrad",
   {.flop = flop::per_input<12, 1>, .outputs = 5, .axes = axes::by<"n.,n.,n.,..,.,n.,n.,n.,n.,n.,n.,n.,n.->n.,n.">}},
  {"RNN", {.flop = flop::recurrent<1, 4>, .use = use::recurrence, .gradient = gradient::products}},
  {"GRU", {.flop = flop::recurrent<3, 13>, .use = use::recurrence, .gradient = gradient::products}},
  {"LSTM", {.flop = flop::recurrent<4, 14>, .use = use::recurrence, .gradient = gradient::products}},

  // Normalisation: mean 1, variance 3, normalise and scale 4 (nn/conv.hpp); without a mean 5.
  {"BatchNormalization", {.flop = flop::batch_normalization, .gradient = gradient::reads_inputs}},
  {"LRN", {.flop = flop::local_response, .gradient = gradient::reads_inputs}},
  {"LRNGrad", {.flop = flop::local_response_grad}},
  {"FusedBatchNormGradV2 FusedBatchNormGradV3",
   {.flop = flop::per_input<11>, .use = use::batch_statistics, .outputs = 5}},
  {"FusedBatchNormGrad",
   {.flop = flop::per_input<11>, .use = use::batch_statistics, .outputs = 5, .axes = axes::channels}},
  {"LayerNormGrad", {.flop = flop::per_input<11>, .outputs = 3, .axes = axes::rows<"rrwv", "rw">}},
  {"LpNormalization", {.flop = flop::per_input<3>, .gradient = gradient::reads_inputs}},
  {"RMSNorm",
   {.flop = flop::per_input<4>, .gradient = gradient::reads_inputs, .outputs = 2, .axes = axes::rows<"rw", "rv">}},
  {"AddRMSNorm",
   {.flop = flop::per_input<5>, .gradient = gradient::reads_inputs, .outputs = 2, .axes = axes::rows<"rrw", "r">}},
  {"RMSNormalization SimplifiedLayerNormalization", {.flop = flop::per_input<5>, .gradient = gradient::reads_inputs}},
  {"MeanVarianceNormalization SkipSimplifiedLayerNormalization",
   {.flop = flop::per_input<6>, .gradient = gradient::reads_inputs}},
  {"GroupNorm GroupNormalization InstanceNormalization LayerNormalization",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs}},
  {"FusedBatchNormV2",
   {.flop = flop::fused_batch_norm, .use = use::batch_statistics, .gradient = gradient::reads_inputs, .outputs = 5}},
  {"FusedBatchNorm",
   {.flop = flop::fused_batch_norm, .use = use::batch_statistics, .gradient = gradient::reads_inputs, .outputs = 5,
    .axes = axes::batch_norm}},
  {"FusedBatchNormV3",
   {.flop = flop::fused_batch_norm, .use = use::batch_statistics, .gradient = gradient::reads_inputs,
    .outputs = 6}},
  {"BatchNormInference", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs, .axes = axes::batch_norm}},
  {"BatchNormRelu",
   {.flop = flop::per_input<9>, .gradient = gradient::reads_inputs, .outputs = 3}}, // statistics on the way
  {"BatchNormReluGrad", {.flop = flop::per_input<12>, .outputs = 4}},
  {"AddLayerNorm", {.flop = flop::per_input<9>, .gradient = gradient::reads_inputs, .outputs = 4}},
  {"AddLayerNormGrad", {.flop = flop::per_input<12>, .outputs = 3}},
  {"AddRMSNormGrad", {.flop = flop::per_input<10>, .outputs = 2}},
  {"LayerNorm",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs, .outputs = 3, .axes = axes::rows<"rw", "rv">}},
  {"SkipGroupNorm SkipLayerNormalization", {.flop = flop::per_input<9>, .gradient = gradient::reads_inputs}},
  {"RMSNormGrad", {.flop = flop::per_input<9>, .outputs = 2, .axes = axes::rows<"rrwv", "rw">}},
  {"EmbedLayerNormalization", {.flop = flop::per_output<10>}},

  // Softmax and losses: largest, subtract, exponential, sum, divide.
  {"Hardmax", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"L2Loss", {.flop = flop::per_input<2>, .gradient = gradient::reads_inputs, .axes = axes::sums}},
  {"LogSoftmax SoftmaxCrossEntropyLoss", {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs}},
  {"SparseSoftmaxCrossEntropyWithLogits",
   {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs, .outputs = 2, .axes = axes::rows<"rv", "vr">}},
  {"SoftmaxCrossEntropyWithLogits",
   {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs, .outputs = 2, .axes = axes::rows<"r", "vr">}},
  {"Softmax",
   {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs, .attends = attends::softmax,
    .axes = axes::rows<"r", "r">}},
  {"BiasSoftmax", {.flop = flop::per_input<6>, .gradient = gradient::reads_outputs, .attends = attends::softmax}},
  {"MaskedSoftmax", {.flop = flop::per_input<7>, .gradient = gradient::reads_outputs, .attends = attends::softmax}},
  {"SoftmaxCrossEntropyGrad", {.flop = flop::per_output<4>}},
  {"CrossEntropyGrad", {.flop = flop::per_output<4>, .outputs = 2, .numbers = 0}}, // in single precision
  {"NegativeLogLikelihoodLoss", {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs}},
  {"LogSoftmaxGrad", {.flop = flop::per_output<4>}},
  {"SoftmaxGrad", {.flop = flop::per_output<4>, .axes = axes::rows<"r", "r">}},

  // Windows.
  {"AvgPool3DGrad", {.flop = flop::avg_pool_grad}},
  {"AvgPoolGrad", {.flop = flop::avg_pool_grad, .axes = axes::by<"n..c->n..c">}},
  {"MaxPool3DGrad MaxPoolGradV2", {.flop = flop::max_pool_grad}},
  {"MaxPoolGrad", {.flop = flop::max_pool_grad, .axes = axes::by<"n..c,n..c,n..c->n..c">}},
  {"ResizeNearestNeighbor", {.flop = flop::nothing, .gradient = gradient::moves}},
  {"MaxUnpool", {.flop = flop::nothing}},
  {"QLinearGlobalAveragePool", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"GlobalAveragePool ResizeArea", {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"GlobalMaxPool", {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"MaxRoiPool", {.flop = flop::per_input<1>}},
  {"GlobalLpPool", {.flop = flop::per_input<2>, .gradient = gradient::finds}},
  {"GridSample", {.flop = flop::grid_sample}},
  {"CropAndResize ResizeBilinear", {.flop = flop::per_output<9>, .gradient = gradient::moves}},
  {"QuantizedAvgPool QuantizedMaxPool", {.flop = flop::pool, .gradient = gradient::none, .outputs = 3}},
  {"MaxPoolWithArgmax", {.flop = flop::pool, .gradient = gradient::finds, .outputs = 2}},
  {"Dilation2D", {.flop = flop::dilation, .gradient = gradient::finds}},
  {"ResizeBicubic", {.flop = flop::per_output<32>, .gradient = gradient::moves}},
  {"QLinearAveragePool", {.flop = flop::pool, .gradient = gradient::none}},
  {"AveragePool AvgPool3D", {.flop = flop::pool, .gradient = gradient::moves}},
  {"AvgPool", {.flop = flop::pool, .gradient = gradient::moves, .axes = axes::by<"n..c->n..c">}},
  {"LpPool MaxPool3D MaxPoolV2 MaxpoolWithMask NhwcMaxPool", {.flop = flop::pool, .gradient = gradient::finds}},
  {"MaxPool", {.flop = flop::pool, .gradient = gradient::finds, .axes = axes::by<"n..c->n..c">}},
  {"RoiAlign", {.flop = flop::region_align}},
  {"Resize Upsample", {.flop = flop::resize, .gradient = gradient::moves}},

  // One operation per element.
  {"Bernoulli Multinomial ParameterizedTruncatedNormal RandomNormal RandomNormalLike RandomStandardNormal "
   "RandomUniformInt RandomUniformLike Range StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform "
   "StatelessRandomUniformV2 StatelessTruncatedNormal TruncatedNormal",
   {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"RandomUniform", {.flop = flop::per_output<1>, .gradient = gradient::none, .axes = axes::made}},
  {"And ApproximateEqual BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Equal Floor FloorDiv FloorMod "
   "Greater GreaterEqual GreaterOrEqual Invert IsFinite IsInf IsNaN IsNan Less LessEqual LessOrEqual LogicalAnd "
   "LogicalNot LogicalOr Mod Not NotEqual Or Rint Round Sign TruncateDiv TruncateMod Xor",
   {.flop = flop::per_output<1>, .gradient = gradient::none, .in_place = true}},
  {"Abs Acos Acosh Asin Asinh Atan Atan2 Atanh ClipByValue Cos Cosh Digamma Div DivNoNan Erf Erfc LeakyRelu Lgamma Log "
   "Log1p Maximum Minimum Mul MulNoNan Pow PRelu RealDiv Sin Sinh Square SquaredDifference Tan ThresholdedRelu Xdivy "
   "Xlogy",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"Add AddV2 BiasAdd BiasAddV1 Neg Sub",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_nothing, .in_place = true}},
  {"Exp Expm1 Inv Reciprocal Relu Relu6 Rsqrt Sigmoid Sqrt Tanh",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_outputs, .in_place = true}},
  {"SelectV2 Where", {.flop = flop::per_output<1>, .gradient = gradient::selects, .in_place = true}},
  {"Select", {.flop = flop::per_output<1>, .gradient = gradient::selects, .axes = axes::select, .in_place = true}},
  {"CheckNumerics EluGrad FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars GeluGrad InvGrad LeakyReluGrad Ndtri "
   "ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad Shrink SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad "
   "TanhGrad",
   {.flop = flop::per_output<1>, .in_place = true}},
  {"Case If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile While",
   {.flop = flop::per_output<1>}},

  // Linear algebra and Fourier transforms.
  {"Cholesky", {.flop = flop::cubic<1>, .gradient = gradient::reads_outputs}},
  {"CholeskyGrad", {.flop = flop::cubic<4>}},
  {"Lu", {.flop = flop::cubic<2>, .gradient = gradient::reads_outputs, .outputs = 2}},
  {"MatrixDeterminant", {.flop = flop::cubic<2>}},
  {"LogMatrixDeterminant", {.flop = flop::cubic<2>, .outputs = 2}},
  {"MatrixInverse", {.flop = flop::cubic<6>, .gradient = gradient::reads_outputs}},
  {"MatrixSolve", {.flop = flop::solve}},
  {"MatrixSolveLs", {.flop = flop::least_squares}},
  {"MatrixTriangularSolve", {.flop = flop::substitution}},
  {"MatrixExponential MatrixLogarithm MatrixSquareRoot", {.flop = flop::cubic<75>}},
  {"Qr", {.flop = flop::qr, .gradient = gradient::reads_outputs, .outputs = 2}},
  {"SelfAdjointEigV2", {.flop = flop::symmetric_eigen, .gradient = gradient::reads_outputs, .outputs = 2}},
  {"Eig", {.flop = flop::cubic<75>, .gradient = gradient::reads_outputs, .outputs = 2}},
  {"BatchSvd Svd", {.flop = flop::svd, .gradient = gradient::reads_outputs, .outputs = 3}},
  {"FFT IFFT", {.flop = flop::fourier_over<1>, .gradient = gradient::moves}},
  {"FFT2D IFFT2D", {.flop = flop::fourier_over<2>, .gradient = gradient::moves}},
  {"FFT3D IFFT3D", {.flop = flop::fourier_over<3>, .gradient = gradient::moves}},
  {"IRFFT RFFT", {.flop = flop::fourier_over<1, true>, .gradient = gradient::moves}},
  {"IRFFT2D RFFT2D", {.flop = flop::fourier_over<2, true>, .gradient = gradient::moves}},
  {"IRFFT3D RFFT3D", {.flop = flop::fourier_over<3, true>, .gradient = gradient::moves}},

  // Several per element, as their definitions spell them out.
  {"MRotaryEmbedding RotaryEmbedding", {.flop = flop::per_input<3>}},
  {"GemmaRotaryEmbedding", {.flop = flop::per_outputs<3>}},
  {"QLinearSoftmax", {.flop = flop::per_input<9>, .gradient = gradient::none}},
  {"QLinearReduceMean", {.flop = flop::per_input<3>, .gradient = gradient::none}},
  {"GatherBlockQuantized", {.flop = flop::per_output<2>, .use = use::lookup, .gradient = gradient::selects}},
  {"MulInteger", {.flop = flop::per_output<3>, .gradient = gradient::none}},
  {"ComplexMul ComplexMulConj onnx.SwiGLU SwiGLU", {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs}},
  {"SwiGLUGrad", {.flop = flop::per_input<4>}},
  {"NativeDropout", {.flop = flop::per_input<3>, .gradient = gradient::masks, .outputs = 2, .numbers = 1}},
  {"NativeDropoutGrad", {.flop = flop::per_output<1>}},
  {"BiasDropout BitmaskBiasDropout", {.flop = flop::per_output<2>, .gradient = gradient::masks}},
  {"DynamicQuantizeLinear", {.flop = flop::per_input<4>, .gradient = gradient::none}},
  {"QuantizeLinear", {.flop = flop::per_output<2>, .gradient = gradient::none}},
  {"QuantizedBiasAdd QuantizeDownAndShrinkRange QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizeV2 Requantize "
   "RequantizePerChannel",
   {.flop = flop::per_output<2>, .gradient = gradient::none, .outputs = 3}},
  {"RequantizationRange RequantizationRangePerChannel",
   {.flop = flop::per_input<2>, .gradient = gradient::none, .outputs = 2}},
  {"Dequantize DequantizeLinear", {.flop = flop::per_output<2>, .gradient = gradient::moves}},
  {"FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 "
   "QuantizeAndDequantizeV4",
   {.flop = flop::per_output<4>, .gradient = gradient::limits}},
  {"QuantizedAdd QuantizedMul", {.flop = flop::per_output<5>, .gradient = gradient::none, .outputs = 3}},
  {"Swish", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"Clip", {.flop = flop::per_output<2>, .gradient = gradient::limits, .in_place = true}},
  {"com.microsoft.BiasAdd", {.flop = flop::per_output<2>, .gradient = gradient::reads_nothing, .in_place = true}},
  {"QuickGelu Softplus Softsign", {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"Elu", {.flop = flop::per_output<3>, .gradient = gradient::reads_outputs, .in_place = true}},
  {"QLinearLeakyRelu QLinearSigmoid", {.flop = flop::per_output<4>, .gradient = gradient::none}},
  {"HardSigmoid Selu", {.flop = flop::per_output<4>, .gradient = gradient::reads_outputs, .in_place = true}},
  {"QLinearAdd QLinearMul QLinearWhere", {.flop = flop::per_output<5>, .gradient = gradient::none}},
  {"Celu Gelu HardSwish Mish", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"BiasGelu BiasSplitGelu", {.flop = flop::per_output<6>, .gradient = gradient::reads_inputs}},
  {"FastGelu", {.flop = flop::per_output<9>, .gradient = gradient::reads_inputs, .in_place = true}},

  // Several tensors into one, reductions and selections.
  {"DFT", {.flop = flop::fourier}},
  {"STFT", {.flop = flop::short_time_fourier}},
  {"HammingWindow HannWindow", {.flop = flop::per_output<5>, .gradient = gradient::none}}, // a - b cos(2 pi i / n)
  {"BlackmanWindow", {.flop = flop::per_output<9>, .gradient = gradient::none}},           // one cosine more
  {"MelWeightMatrix", {.flop = flop::per_output<4>, .gradient = gradient::none}}, // the lower of two ramps, over 0
  {"CDist cdist cdist_forward", {.flop = flop::distances}},
  {"AffineGrid", {.flop = flop::affine_grid, .gradient = gradient::reads_inputs}},
  {"com.microsoft.CropAndResize", {.flop = flop::per_output<8>, .gradient = gradient::selects}},
  {"CumProd", {.flop = flop::per_input<1>}},
  {"BiasAddGrad", {.flop = flop::per_input<1>, .axes = axes::sums}},
  {"ai.onnx.ml.Binarizer ai.onnx.ml.CategoryMapper ai.onnx.ml.Imputer ai.onnx.ml.LabelEncoder ImageDecoder",
   {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"onnx.NonMaxSuppression", {.flop = flop::suppression, .gradient = gradient::none}},
  {"TfIdfVectorizer", {.flop = flop::n_grams, .gradient = gradient::none}},
  {"ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor", {.flop = flop::linear_model, .gradient = gradient::none}},
  {"ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor", {.flop = flop::support_vectors, .gradient = gradient::none}},
  {"ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor",
   {.flop = flop::trees, .gradient = gradient::none}},
  {"ai.onnx.ml.Scaler", {.flop = flop::per_input<2>, .gradient = gradient::none}},
  {"ai.onnx.ml.Normalizer", {.flop = flop::per_input<3>, .gradient = gradient::none}},
  {"ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.CastMap ai.onnx.ml.DictVectorizer ai.onnx.ml.FeatureVectorizer "
   "ai.onnx.ml.OneHotEncoder ai.onnx.ml.ZipMap onnx.StringSplit RegexFullMatch StringConcat StringNormalizer",
   {.flop = flop::nothing, .gradient = gradient::none}},
  {"ArgMax ArgMin InTopK InTopKV2 tensorflow.Where", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"CumSum ReduceMean ReduceSum", {.flop = flop::per_input<1>, .gradient = gradient::moves}},
  {"ReduceLogSum ReduceMax ReduceMin ReduceProd SegmentMax SegmentMin SegmentProd UnsortedSegmentMax "
   "UnsortedSegmentMin UnsortedSegmentProd",
   {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"SegmentMean SegmentSum", {.flop = flop::per_input<1>, .gradient = gradient::selects}},
  {"UnsortedSegmentSum", {.flop = flop::per_input<1>, .gradient = gradient::selects, .axes = axes::segment_sum}},
  {"SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments "
   "SparseSegmentSum SparseSegmentSumWithNumSegments",
   {.flop = flop::sparse_rows, .gradient = gradient::selects}},
  {"Det", {.flop = flop::determinant}},
  {"Inverse", {.flop = flop::inverse}},
  {"ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare", {.flop = flop::per_input<2>, .gradient = gradient::finds}},
  {"onnx.Max onnx.Min", {.flop = flop::per_operand, .gradient = gradient::reads_inputs, .in_place = true}},
  {"onnx.Mean", {.flop = flop::per_operand, .gradient = gradient::moves, .in_place = true}},
  {"AccumulateNV2 AddN onnx.Sum", {.flop = flop::per_operand, .gradient = gradient::reads_nothing, .in_place = true}},
  {"Cumsum", {.flop = flop::per_output<1>, .gradient = gradient::moves}},
  {"Cumprod", {.flop = flop::per_output<1>}},
  {"All Any", {.flop = flop::reduction, .gradient = gradient::none}},
  {"Max Min", {.flop = flop::reduction, .gradient = gradient::reads_inputs}},
  {"Mean", {.flop = flop::reduction, .gradient = gradient::moves}},
  {"Sum", {.flop = flop::reduction, .gradient = gradient::reads_nothing, .axes = axes::sums}},
  {"EuclideanNorm Prod", {.flop = flop::reduction, .gradient = gradient::finds}},
  {"Unique", {.flop = flop::selection, .gradient = gradient::none, .outputs = 2}},
  {"onnx.TopK", {.flop = flop::selection, .gradient = gradient::finds}},
  {"TopK TopKV2", {.flop = flop::top_k, .gradient = gradient::finds, .outputs = 2}},

  // Updates of variables.
  {"Assign", {.flop = flop::nothing, .gradient = gradient::none}},
  {"ScatterAdd ScatterMul ScatterNdAdd ScatterNdUpdate ScatterSub ScatterUpdate", {.flop = flop::per_input<1, 2>}},
  {"ai.onnx.preview.training.Momentum", {.flop = flop::optimiser<7, 2>, .gradient = gradient::none}},
  {"ai.onnx.preview.training.Adagrad", {.flop = flop::optimiser<9, 2>, .gradient = gradient::none}},
  {"ai.onnx.preview.training.Adam", {.flop = flop::optimiser<14, 3>, .gradient = gradient::none}},
  {"ai.onnx.preview.training.Gradient", {.flop = flop::per_outputs<1>, .gradient = gradient::none}},
  {"SparseApplyRMSProp", {.flop = flop::update<11>}},
  {"ApplyRMSProp", {.flop = flop::update<11>, .axes = axes::update}},
  {"SparseApplyAdam SparseApplyFtrl", {.flop = flop::update<12>}},
  {"ApplyAdadelta ApplyAdam ApplyFtrl", {.flop = flop::update<12>, .axes = axes::update}},
  {"ApplyCenteredRMSProp ApplyFtrlV2", {.flop = flop::update<13>, .axes = axes::update}},
  {"AssignAdd AssignSub", {.flop = flop::update<1>, .gradient = gradient::none}},
  {"SparseApplyGradientDescent", {.flop = flop::update<2>}},
  {"ApplyGradientDescent", {.flop = flop::update<2>, .axes = axes::update}},
  {"SparseApplyAdagrad SparseApplyMomentum", {.flop = flop::update<4>}},
  {"ApplyAdagrad ApplyMomentum", {.flop = flop::update<4>, .axes = axes::update}},
  {"ApplyAdagradV2", {.flop = flop::update<5>, .axes = axes::update}},
  {"ApplyProximalGradientDescent", {.flop = flop::update<6>, .axes = axes::update}},
  {"ApplyAddSign ApplyProximalAdagrad", {.flop = flop::update<8>, .axes = axes::update}},
  {"ApplyAdaMax ApplyPowerSign", {.flop = flop::update<9>, .axes = axes::update}},

  // What collectives are made of (parallel/collective_ops.hpp).
  {"AddChunk", {.use = use::collective, .gradient = gradient::none}},
  {"PassChunk", {.flop = flop::nothing, .use = use::collective, .gradient = gradient::none}},
  {"PackBucket", {.use = use::collective_start, .gradient = gradient::none}},
  {"StartCollective", {.flop = flop::nothing, .use = use::collective_start, .gradient = gradient::none}},
  {"JoinPieces", {.gradient = gradient::none}},
  {"UnpackBucket", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},

  // Results that are views of an input, or that are there before.
  {"_Arg Const Constant ConstantOfShape HostConst Placeholder PlaceholderV2 PreventGradient Rank Shape ShapeN Size "
   "StopGradient",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},
  {"Dropout", {.flop = flop::nothing, .use = use::view, .gradient = gradient::masks}},
  {"EnsureShape PlaceholderWithDefault ReadVariableOp",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves}},
  {"ExpandDims Flatten Reshape Squeeze Unsqueeze",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::reshape}},
  {"Identity", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::elementwise}},
  {"Variable VariableV2", {.flop = flop::nothing, .use = use::view, .gradient = gradient::variable}},

  // Rows and elements looked up in something larger.
  {"EmbeddingLookup", {.use = use::lookup, .gradient = gradient::selects}},
  {"Embedding", {.use = use::lookup}},
  {"StridedSlice", {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::moves}},
  {"Slice", {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::moves, .axes = axes::common}},
  {"GatherElements GatherND GatherNd GatherV2 ResourceGather",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects}},
  {"Gather", {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects, .axes = axes::gather}},

  // Moving data.
  {"ConcatOffset EmptyTensorList EyeLike Fill InvertPermutation NonZero OneHot OnesLike QLinearConcat TensorListLength "
   "TensorListReserve ZerosLike",
   {.flop = flop::nothing, .gradient = gradient::none}},
  {"BroadcastGradientArgs", {.flop = flop::nothing, .gradient = gradient::none, .outputs = 2}},
  {"BitCast", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},
  {"BatchMatrixDiag BatchMatrixDiagPart BatchToSpace BatchToSpaceND BroadcastTo CastLike CenterCropPad Col2Im Concat "
   "ConjugateTranspose DepthToSpace Diag DiagPart Expand ExtractImagePatches ExtractVolumePatches IdentityN "
   "MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MirrorPad "
   "Pad PadV2 RelativePositionBias RemovePadding RestorePadding Reverse ReverseSequence ReverseV2 Roll SpaceToBatch "
   "SpaceToBatchND SpaceToDepth SplitV TensorListFromTensor TensorListGetItem TensorListSetItem TensorListStack "
   "TensorScatter Transpose Trilu",
   {.flop = flop::nothing, .gradient = gradient::moves}},
  {"ConcatV2 Pack Split Tile Unpack", {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::common}},
  {"Cast", {.flop = flop::nothing, .gradient = gradient::moves, .in_place = true}},
  {"QuantizedConcat QuantizedReshape", {.flop = flop::nothing, .gradient = gradient::none, .outputs = 3}},
  {"ScatterNd", {.flop = flop::nothing, .gradient = gradient::selects}},
  {"Bitcast Compress ConcatFromSequence DebugIdentity Enter Exit LoopCond MatrixSetDiag MatrixSetDiagV2 "
   "MatrixSetDiagV3 NextIteration Optional OptionalGetElement OptionalHasElement RandomShuffle RefEnter RefExit "
   "RefIdentity RefNextIteration Scatter SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert "
   "SequenceLength Snapshot SplitToSequence StridedSliceGrad TupleBarrier",
   {.flop = flop::nothing}},
  {"Merge RefMerge RefSwitch Switch", {.flop = flop::nothing, .outputs = 2}},
  {"ScatterElements ScatterND", {.flop = flop::scatter, .gradient = gradient::selects}},

  // What has effects only, or hands on state.
  {"IteratorGetNext IteratorGetNextSync IteratorV2 QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo "
   "QueueDequeueUpToV2 QueueDequeueV2",
   {.flop = flop::nothing, .gradient = gradient::none}},
  {"Assert PrintV2 Save SaveV2", {.flop = flop::nothing, .gradient = gradient::none, .outputs = 0}},
  {"FIFOQueue FIFOQueueV2 HashTable HashTableV2 MutableHashTable MutableHashTableV2 PaddingFIFOQueue "
   "PaddingFIFOQueueV2 RandomShuffleQueue RandomShuffleQueueV2 TensorArrayV3",
   {.flop = flop::nothing}},
  {"_HostSend _Retval _Send Abort CloseSummaryWriter ControlTrigger DeleteIterator DestroyResourceOp "
   "FlushSummaryWriter InitializeTable InitializeTableFromTextFileV2 InitializeTableV2 LookupTableImportV2 "
   "LookupTableInsertV2 MakeIterator MergeV2Checkpoints QueueClose QueueCloseV2 QueueEnqueue QueueEnqueueMany "
   "QueueEnqueueManyV2 QueueEnqueueV2 SaveSlices Send WriteFile WriteSummary",
   {.flop = flop::nothing, .outputs = 0}},
  {"NoOp", {.flop = flop::nothing, .use = use::view, .gradient = gradient::none, .outputs = 0}},
  {"VarHandleOp", {.flop = flop::nothing, .use = use::view, .gradient = gradient::variable}},

  // Known by what they are; how much they compute is not.
  {"AssignAddVariableOp AssignSubVariableOp AssignVariableOp AudioSummary Bucketize HistogramSummary ImageSummary "
   "IsVariableInitialized Iterator LinSpace LogicalXor MergeSummary NonMaxSuppression ParseExample Print Restore "
   "ScalarSummary ShardedFilename VariableShape VarIsInitializedOp",
   {.gradient = gradient::none}},
  {"Silu", {.gradient = gradient::reads_inputs}},
  {"DepthwiseConv2d SparseTensorDenseMatMul", {.gradient = gradient::product}},
  {"DynamicStitch", {.gradient = gradient::selects}},
};

} // namespace op_words

using op_words::op_table;

} // namespace weft::ops::detail
