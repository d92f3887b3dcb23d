// SPDX-License-Identifier: BSL-1.0
/// From an op's type to its kernel.
#pragma once

#include "kernels/attention.hpp"
#include "kernels/binary.hpp"
#include "kernels/contraction.hpp"
#include "kernels/convolution.hpp"
#include "kernels/data_movement.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/loss.hpp"
#include "kernels/lstm_cell.hpp"
#include "kernels/matrix_product.hpp"
#include "kernels/normalisation.hpp"
#include "kernels/pooling.hpp"
#include "kernels/random.hpp"
#include "kernels/reduction.hpp"
#include "kernels/row_norm.hpp"
#include "kernels/slice.hpp"
#include "kernels/softmax.hpp"
#include "kernels/updates.hpp"

#include <array>
#include <map>

namespace kernels {

/// Whether the op only hands on its first input under another shape or name.
inline bool is_alias(std::string_view type) {
  return type == "Identity" || type == "Reshape" || type == "ExpandDims";
}

/// Whether an op of that type has its values before the step starts, or waits for others and has none.
inline bool is_given(std::string_view type) {
  constexpr std::array given{"IteratorGetNext", "VariableV2", "Const", "Fill", "Range", "NoOp"};
  return std::find(given.begin(), given.end(), type) != given.end();
}

/// The smaller of two numbers.
struct smaller {
  float operator()(float a, float b) const { return std::min(a, b); }
};

/// The maker of the kernel for an op type; null if there is none.
inline kernel_maker find_maker(std::string_view type) {
  using enum dnnl::algorithm;
  static const std::map<std::string_view, kernel_maker> makers{
    {"Add", binary<binary_add, true, std::plus<float>>},
    {"AddLayerNorm", row_norm},
    {"AddLayerNormGrad", row_norm_grad},
    {"AddN", add_n},
    {"AddRMSNorm", row_norm},
    {"AddRMSNormGrad", row_norm_grad},
    {"ApplyAdam", apply_adam},
    {"ApplyGradientDescent", apply_gradient_descent},
    {"ApplyMomentum", apply_momentum},
    {"ApplyRMSProp", apply_rms_prop},
    {"Assign", assign},
    {"AssignSub", assign_sub},
    {"AvgPool", avg_pool},
    {"AvgPoolGrad", avg_pool_grad},
    {"BatchMatMulV2", contraction},
    {"BatchNormRelu", batch_norm_relu},
    {"BatchNormReluGrad", batch_norm_relu_grad},
    {"BiasAdd", binary<binary_add, true, std::plus<float>>},
    {"BiasAddGrad", bias_add_grad},
    {"ConcatV2", concat},
    {"Conv2D", conv2d},
    {"Conv2DBackpropFilter", conv2d_backprop_filter},
    {"Conv2DBackpropInput", conv2d_backprop_input},
    {"CrossEntropyGrad", softmax_loss_grad},
    {"Einsum", contraction},
    {"Exp", activation<eltwise_exp>},
    {"Floor", floor},
    {"FusedAttention", fused_attention},
    {"FusedAttentionGrad", fused_attention_grad},
    {"FusedBatchNorm", fused_batch_norm},
    {"FusedBatchNormGrad", fused_batch_norm_grad},
    {"Gather", gather},
    {"Gelu", gelu},
    {"GeluGrad", gelu_grad},
    {"Gemm", matrix_product_and_bias},
    {"GreaterEqual", binary<binary_ge, false, std::greater_equal<float>>},
    {"L2Loss", l2_loss},
    {"LSTMBlockCell", lstm_block_cell},
    {"LSTMBlockCellGrad", lstm_block_cell_grad},
    {"LayerNorm", row_norm},
    {"LayerNormGrad", row_norm_grad},
    {"LeakyRelu", activation<eltwise_relu, true>},
    {"LeakyReluGrad", leaky_relu_grad},
    {"Log1p", log1p},
    {"MaskedSoftmax", softmax},
    {"MatMul", matrix_product},
    {"MaxPool", max_pool},
    {"MaxPoolGrad", max_pool_grad},
    {"Mean", mean},
    {"Minimum", binary<binary_min, true, smaller>},
    {"Mul", binary<binary_mul, true, std::multiplies<float>>},
    {"NativeDropout", native_dropout},
    {"NativeDropoutGrad", native_dropout_grad},
    {"Neg", negate},
    {"Pack", pack},
    {"ProjectHeads", project_heads},
    {"ProjectHeadsGrad", project_heads_grad},
    {"RMSNorm", row_norm},
    {"RMSNormGrad", row_norm_grad},
    {"RandomUniform", random_uniform},
    {"RealDiv", binary<binary_div, false, std::divides<float>>},
    {"Reciprocal", reciprocal},
    {"Relu", activation<eltwise_relu>},
    {"ReluGrad", activation_grad<eltwise_relu_use_dst_for_bwd>},
    {"RotaryEmbedding", rotary_embedding},
    {"Select", select},
    {"Sigmoid", activation<eltwise_logistic>},
    {"SigmoidGrad", activation_grad<eltwise_logistic_use_dst_for_bwd>},
    {"Slice", slice},
    {"Softmax", softmax},
    {"SoftmaxCrossEntropyGrad", softmax_loss_grad},
    {"SoftmaxCrossEntropyWithLogits", softmax_cross_entropy},
    {"SoftmaxGrad", softmax_grad},
    {"SparseSoftmaxCrossEntropyWithLogits", sparse_softmax_cross_entropy},
    {"Split", split},
    {"Sqrt", activation<eltwise_sqrt>},
    {"Sub", binary<binary_sub, false, std::minus<float>>},
    {"Sum", sum},
    {"SwiGLU", swiglu},
    {"SwiGLUGrad", swiglu_grad},
    {"Tanh", activation<eltwise_tanh>},
    {"TanhGrad", activation_grad<eltwise_tanh_use_dst_for_bwd>},
    {"Tile", tile},
    {"Transpose", transpose},
    {"Unpack", unpack},
    {"UnsortedSegmentSum", segment_sum},
  };
  const auto found = makers.find(type);
  return found == makers.end() ? nullptr : found->second;
}

/// The kernel of an op for that many threads, or for one if it takes less than `worth_sharing` seconds; empty for what
/// is given or an alias. Throws `unsupported_op` for an op type that has none. Takes long: oneDNN compiles here.
inline kernel make_kernel(const op_call& call, unsigned threads, double worth_sharing = default_worth_sharing) {
  if (is_alias(call.type()) || is_given(call.type())) {
    return {};
  }
  const auto maker = find_maker(call.type());
  if (maker == nullptr) {
    throw unsupported_op(call, "there is no kernel for this type");
  }
  const unsigned team = team_for(call, threads, worth_sharing);
  const team_size created_under{team};
  return {team, maker(call, team)};
}

} // namespace kernels
