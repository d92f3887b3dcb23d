// SPDX-License-Identifier: BSL-1.0
/// The table of op types of PyTorch (aten) and StableHLO.
#pragma once

#include "weft/ops/detail/table_words.hpp"

namespace weft::ops::detail {

namespace op_words {

/// Where the two mean different things by one name, the dialect is in front of it. What has no rule here is computed
/// from what else the file says: contracted axes, regions.
inline constexpr family compiler_op_table[] = {
  {"bmm dot inner int_mm matmul mm mv vdot",
   {.flop = flop::matmul, .use = use::product, .gradient = gradient::product, .axes = axes::matmul}},
  {"linear",
   {.flop = flop::product_with_bias, .use = use::product, .gradient = gradient::product, .axes = axes::linear}},
  {"addbmm addmm addmv baddbmm",
   {.flop = flop::product_and_sum,
    .use = use::product,
    .gradient = gradient::product,
    .axes = axes::product_and_sum}},
  {"addr ger outer", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs}},
  {"einsum", {.flop = flop::einsum, .use = use::product, .gradient = gradient::product, .axes = axes::einsum}},
  {"dot_general stablehlo.dot tensordot", {.use = use::product, .gradient = gradient::product}},
  {"scaled_dot_product_attention scaled_dot_product_attention_math scaled_dot_product_cudnn_attention "
   "scaled_dot_product_efficient_attention scaled_dot_product_flash_attention "
   "scaled_dot_product_flash_attention_for_cpu scaled_dot_product_fused_attention_overrideable",
   {.flop = flop::attention,
    .use = use::product,
    .gradient = gradient::products,
    .attends = attends::whole,
    .axes = axes::attention}},
  {"conv1d conv2d conv3d",
   {.flop = flop::convolution<1, 2>,
    .use = use::convolution,
    .gradient = gradient::product,
    .axes = axes::convolve}},
  {"conv_transpose1d conv_transpose2d conv_transpose3d",
   {.flop = flop::transposed_convolution, .use = use::convolution, .gradient = gradient::product}},
  {"aten._convolution aten.convolution",
   {.flop = flop::convolution_or_transposed,
    .use = use::convolution,
    .gradient = gradient::product,
    .axes = axes::convolve}},
  {"convolution dynamic_conv", {.use = use::convolution, .gradient = gradient::product}},
  {"convolution_backward convolution_backward_overrideable",
   {.flop = flop::convolution_gradients, .use = use::convolution}},
  {"lstm", {.flop = flop::recurrent_layers<14>, .use = use::recurrence, .gradient = gradient::products}},
  {"gru", {.flop = flop::recurrent_layers<13>, .use = use::recurrence, .gradient = gradient::products}},
  {"rnn_relu rnn_tanh", {.flop = flop::recurrent_layers<4>, .use = use::recurrence, .gradient = gradient::products}},
  {"batch_norm cudnn_batch_norm native_batch_norm native_batch_norm_legit",
   {.flop = flop::batch_norm_of_mode, .gradient = gradient::reads_inputs, .axes = axes::batch_normalisation}},
  {"batch_norm_inference", {.flop = flop::per_input<2>, .gradient = gradient::reads_inputs}},
  {"native_batch_norm_legit_no_training",
   {.flop = flop::per_input<2>, .gradient = gradient::reads_inputs, .axes = axes::batch_normalisation}},
  {"batch_norm_training", {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs}},
  {"group_norm instance_norm native_group_norm",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs, .axes = axes::outermost}},
  {"layer_norm native_layer_norm",
   {.flop = flop::per_input<8>, .gradient = gradient::reads_inputs, .axes = axes::layer_normalisation}},
  {"fused_rms_norm rms_norm",
   {.flop = flop::per_input<4>, .gradient = gradient::reads_inputs, .axes = axes::layer_normalisation}},
  {"batch_norm_grad cudnn_batch_norm_backward native_batch_norm_backward native_group_norm_backward",
   {.flop = flop::per_input<11>}},
  {"native_layer_norm_backward", {.flop = flop::per_input<11>, .axes = axes::gradient_of_layer_normalisation}},
  {"log_softmax", {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs, .axes = axes::rows_of_dim}},
  {"safe_softmax softmax",
   {.flop = flop::per_input<5>,
    .gradient = gradient::reads_outputs,
    .attends = attends::softmax,
    .axes = axes::rows_of_dim}},
  {"cross_entropy_loss", {.flop = flop::per_input<5>, .gradient = gradient::reads_outputs}},
  {"l1_loss mse_loss smooth_l1_loss", {.flop = flop::per_input<3>, .gradient = gradient::reads_inputs}},
  {"nll_loss nll_loss_forward nll_loss_nd", {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs}},
  {"binary_cross_entropy binary_cross_entropy_with_logits",
   {.flop = flop::per_input<6>, .gradient = gradient::reads_inputs}},
  {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d",
   {.flop = flop::per_input<1>, .gradient = gradient::moves, .axes = axes::images}},
  {"adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
   {.flop = flop::per_input<1>, .gradient = gradient::finds, .axes = axes::images}},
  {"avg_pool1d avg_pool2d avg_pool3d", {.flop = flop::pool, .gradient = gradient::moves, .axes = axes::images}},
  {"max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices",
   {.flop = flop::pool, .gradient = gradient::finds, .axes = axes::images}},
  {"reduce_window select_and_scatter", {.gradient = gradient::finds}},
  {"channel_shuffle pixel_shuffle pixel_unshuffle",
   {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::outermost}},
  {"upsample_nearest1d upsample_nearest2d upsample_nearest3d "
   "upsample_nearest_exact1d upsample_nearest_exact2d upsample_nearest_exact3d",
   {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::images}},
  {"upsample_linear1d", {.flop = flop::per_output<4>, .gradient = gradient::moves, .axes = axes::images}},
  {"grid_sampler grid_sampler_2d", {.flop = flop::per_output<8>, .gradient = gradient::moves}},
  {"upsample_bilinear2d", {.flop = flop::per_output<8>, .gradient = gradient::moves, .axes = axes::images}},
  {"upsample_bicubic2d", {.flop = flop::per_output<32>, .gradient = gradient::moves, .axes = axes::images}},
  {"grid_sampler_3d upsample_trilinear3d", {.flop = flop::per_output<16>, .gradient = gradient::moves}},
  {"arange bernoulli cu_threefry2x32 cu_threefry2x32_ffi linspace multinomial normal rand rand_like randint "
   "randint_like randn randn_like randperm rng rng_bit_generator threefry2x32 uniform",
   {.flop = flop::per_output<1>, .gradient = gradient::none}},
  {"and bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil compare "
   "count_leading_zeros eq equal floor floor_divide floordiv ge gt is_finite is_inf is_neg_inf is_pos_inf isclose "
   "isfinite isinf isnan isneginf isposinf le logical_and logical_not logical_or logical_xor lt ne not or popcnt round "
   "round_nearest_afz round_nearest_even sgn shift_left shift_right_arithmetic shift_right_logical sign signbit trunc "
   "xor",
   {.flop = flop::per_output<1>, .gradient = gradient::none, .in_place = true}},
  {"abs acos acosh arccos arcsin arctan asin asinh atan atan2 atanh bessel_i1e cbrt conj copysign cos cosh cosine "
   "digamma div divide erf erf_inv erfc erfinv fmax fmin fmod heaviside leaky_relu lgamma log log10 log1p log2 "
   "log_plus_one maximum minimum mul multiply next_after polygamma pow power remainder sin sinc sine sinh "
   "square tan threshold xlogy zeta",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"prelu",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_inputs, .axes = axes::images, .in_place = true}},
  {"add neg negate negative positive reduce_precision rsub sub subtract",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_nothing, .in_place = true}},
  {"exp exp2 expm1 exponential exponential_minus_one logistic reciprocal relu relu6 rsqrt sigmoid sqrt tanh",
   {.flop = flop::per_output<1>, .gradient = gradient::reads_outputs, .in_place = true}},
  {"chlo.broadcast_select masked_fill stablehlo.select where",
   {.flop = flop::per_output<1>, .gradient = gradient::selects, .in_place = true}},
  {"fake_quantize_per_channel_affine fake_quantize_per_tensor_affine quantize_per_channel quantize_per_tensor "
   "quantize_per_token uniform_quantize",
   {.flop = flop::per_output<2>, .gradient = gradient::none}},
  {"dequantize dequantize_per_channel dequantize_per_tensor dequantize_per_token uniform_dequantize",
   {.flop = flop::per_output<2>, .gradient = gradient::moves}},
  {"clamp clamp_max clamp_min clip hardtanh",
   {.flop = flop::per_output<2>, .gradient = gradient::limits, .in_place = true}},
  {"silu swish", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"glu", {.flop = flop::per_output<2>, .gradient = gradient::reads_inputs}},
  {"addcdiv addcmul lerp log_sigmoid log_sigmoid_forward logaddexp logaddexp2 softplus softsign",
   {.flop = flop::per_output<3>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"elu", {.flop = flop::per_output<3>, .gradient = gradient::reads_outputs, .in_place = true}},
  {"hardsigmoid selu", {.flop = flop::per_output<4>, .gradient = gradient::reads_outputs, .in_place = true}},
  {"celu gelu hardswish mish", {.flop = flop::per_output<5>, .gradient = gradient::reads_inputs, .in_place = true}},
  {"all any argmax argmin argsort count_nonzero", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"cumsum logcumsumexp", {.flop = flop::per_input<1>, .gradient = gradient::moves, .axes = axes::rows_of_dim}},
  {"mean", {.flop = flop::per_input<1>, .gradient = gradient::moves, .axes = axes::sum}},
  {"nansum sum", {.flop = flop::per_input<1>, .gradient = gradient::reads_nothing, .axes = axes::sum}},
  {"amax amin", {.flop = flop::per_input<1>, .gradient = gradient::finds, .axes = axes::statistics}},
  {"aminmax cummax cummin cumprod max median min mode prod",
   {.flop = flop::per_input<1>, .gradient = gradient::finds}},
  {"linalg_norm linalg_vector_norm logsumexp norm",
   {.flop = flop::per_input<2>, .gradient = gradient::finds, .axes = axes::statistics}},
  {"std std_mean var var_mean",
   {.flop = flop::per_input<3>, .gradient = gradient::reads_inputs, .axes = axes::statistics}},
  {"sort top_k topk", {.flop = flop::selection, .gradient = gradient::finds}},
  {"reduce", {.gradient = gradient::finds}},
  // Gradients as PyTorch records them: of the result, first, and of what the op read or made.
  {"masked_scatter_backward", {.flop = flop::per_output<1>}},
  {"hardtanh_backward leaky_relu_backward native_dropout_backward threshold_backward",
   {.flop = flop::per_output<1>, .axes = axes::elementwise}},
  {"hardsigmoid_backward mse_loss_backward sigmoid_backward smooth_l1_loss_backward tanh_backward",
   {.flop = flop::per_output<3>, .axes = axes::elementwise}},
  {"log_softmax_backward_data softmax_backward_data", {.flop = flop::per_output<4>, .axes = axes::rows_of_dim}},
  {"elu_backward softplus_backward", {.flop = flop::per_output<4>, .axes = axes::elementwise}},
  {"binary_cross_entropy_backward hardswish_backward silu_backward",
   {.flop = flop::per_output<6>, .axes = axes::elementwise}},
  {"gelu_backward log_sigmoid_backward mish_backward", {.flop = flop::per_output<10>, .axes = axes::elementwise}},
  {"adaptive_avg_pool2d_backward adaptive_avg_pool3d_backward adaptive_max_pool2d_backward avg_pool2d_backward "
   "avg_pool3d_backward max_pool2d_with_indices_backward max_pool3d_with_indices_backward",
   {.flop = flop::per_output<1>}},
  {"nll_loss2d_backward nll_loss_backward", {.flop = flop::per_input<1>}},
  {"embedding_dense_backward",
   {.flop = flop::per_input<1>, .use = use::lookup, .axes = axes::gradient_of_embedding}},
  {"select_backward slice_backward unfold_backward", {.flop = flop::nothing}},
  {"unique unique2 unique_consecutive", {.flop = flop::selection, .gradient = gradient::none}},
  {"bincount bucketize histc searchsorted", {.flop = flop::per_input<1>, .gradient = gradient::none}},
  {"bitcast_convert get_dimension_size partition_id replica_id shape_of sym_numel sym_size sym_storage_offset "
   "sym_stride",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::none}},
  {"as_strided atleast_1d atleast_2d atleast_3d broadcast broadcast_in_dim broadcast_tensors diagonal "
   "dynamic_broadcast_in_dim dynamic_reshape get_tuple_element hsplit imag matrix_H meshgrid moveaxis movedim mT "
   "numpy_T optimization_barrier real rename set_dimension_size swapaxes tensor_split tuple view_as_complex "
   "view_as_real vsplit",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves}},
  {"alias broadcast_to detach dropout expand expand_as identity lift_fresh lift_fresh_copy native_dropout",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::first_like_output}},
  {"feature_dropout", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::images}},
  {"flatten reshape reshape_alias reshape_as squeeze unflatten unsafe_view unsqueeze view view_as",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::reshape}},
  {"aten.slice chunk narrow split split_with_sizes unsafe_chunk unsafe_split unsafe_split_with_sizes",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::common}},
  {"aten.select unbind",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::without_dim}},
  {"aten.transpose",
   {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::swapped}},
  {"permute", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::permuted}},
  {"t", {.flop = flop::nothing, .use = use::view, .gradient = gradient::moves, .axes = axes::turned}},
  {"embedding",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects, .axes = axes::gather}},
  {"index_select",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects, .axes = axes::index_of_dim}},
  {"gather index masked_select take take_along_dim",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::selects}},
  {"dynamic_gather dynamic_slice narrow_copy real_dynamic_slice slice",
   {.flop = flop::nothing, .use = use::lookup, .gradient = gradient::moves}},
  {"embedding_bag", {.flop = flop::per_output<1>, .use = use::lookup, .gradient = gradient::selects}},
  {"constant constant_like create_token dynamic_iota empty empty_like empty_permuted empty_strided eye fill full "
   "full_like iota new_empty new_full new_ones new_zeros nonzero one_hot ones ones_like scalar_tensor tril_indices "
   "triu_indices zero zeros zeros_like",
   {.flop = flop::nothing, .gradient = gradient::none}},
  {"all_gather all_slice all_to_all col2im collective_broadcast collective_permute complex constant_pad_nd diag "
   "diag_embed dynamic_pad dynamic_update_slice flip fliplr flipud im2col index_fill pad reflection_pad1d "
   "reflection_pad2d reflection_pad3d repeat repeat_interleave replication_pad1d replication_pad2d replication_pad3d "
   "reverse roll rot90 select_scatter slice_scatter tile transpose unfold",
   {.flop = flop::nothing, .gradient = gradient::moves}},
  {"clone contiguous convert to to_copy type_as",
   {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::first_like_output}},
  {"copy", {.flop = flop::nothing, .gradient = gradient::moves}},
  {"cat concat concatenate", {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::common}},
  {"stack", {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::with_dim}},
  {"tril triu", {.flop = flop::nothing, .gradient = gradient::moves, .axes = axes::matrices}},
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

using op_words::compiler_op_table;

} // namespace weft::ops::detail
