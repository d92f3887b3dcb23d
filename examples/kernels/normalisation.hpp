// SPDX-License-Identifier: BSL-1.0
/// Batch normalisation and its gradient, alone and with what follows in a residual network.
#pragma once

#include "kernels/binary.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/onednn.hpp"

namespace kernels {

namespace detail {

inline constexpr float batch_norm_epsilon = 1e-3f;

/// Images, or a matrix with one row per example.
inline onednn::memory_desc normalised_desc(const extents& dims) {
  return dims.size() == 4 ? onednn::image(dims) : onednn::plain(dims);
}

inline auto batch_norm_forward(const extents& dims) {
  using primitive = dnnl::batch_normalization_forward;
  using dnnl::normalization_flags;
  const primitive::desc desc{dnnl::prop_kind::forward_training, normalised_desc(dims), batch_norm_epsilon,
                             normalization_flags::use_scale | normalization_flags::use_shift};
  return primitive::primitive_desc{desc, onednn::user_scratchpad(), onednn::engine()};
}

inline auto batch_norm_backward(const extents& dims) {
  using primitive = dnnl::batch_normalization_backward;
  using dnnl::normalization_flags;
  const auto data = normalised_desc(dims);
  const primitive::desc desc{dnnl::prop_kind::backward, data, data, batch_norm_epsilon,
                             normalization_flags::use_scale | normalization_flags::use_shift};
  return primitive::primitive_desc{desc, onednn::user_scratchpad(), onednn::engine(), batch_norm_forward(dims)};
}

} // namespace detail

/// FusedBatchNorm(x, scale, offset) -> y, mean, variance, and the last two once more for the gradient.
inline std::function<void()> fused_batch_norm(const op_call& call, unsigned) {
  const auto &x = call.in[0], &mean = call.out[1], &variance = call.out[2];
  const auto desc = detail::batch_norm_forward(x.dims);
  const auto channels = onednn::plain(mean.dims);
  onednn::program p;
  p.add<dnnl::batch_normalization_forward>(desc, {{DNNL_ARG_SRC, desc.src_desc(), x.data},
                                                  {DNNL_ARG_SCALE, channels, call.in[1].data},
                                                  {DNNL_ARG_SHIFT, channels, call.in[2].data},
                                                  {DNNL_ARG_DST, desc.dst_desc(), call.out[0].data},
                                                  {DNNL_ARG_MEAN, channels, mean.data},
                                                  {DNNL_ARG_VARIANCE, channels, variance.data}});
  return
    [normalise = onednn::body_of(std::move(p)), mean, variance, kept_mean = call.out[3], kept_variance = call.out[4]] {
      normalise();
      std::copy_n(mean.data, mean.size(), kept_mean.data);
      std::copy_n(variance.data, variance.size(), kept_variance.data);
    };
}

/// FusedBatchNormGrad(dy, x, scale, mean, variance) -> dx, gradients of scale and offset.
inline std::function<void()> fused_batch_norm_grad(const op_call& call, unsigned) {
  const auto &dy = call.in[0], &x = call.in[1];
  const auto desc = detail::batch_norm_backward(x.dims);
  const auto channels = onednn::plain(call.in[2].dims);
  onednn::program p;
  // oneDNN 2.6 counts a shift among the inputs, although nothing depends on its values.
  p.add<dnnl::batch_normalization_backward>(desc, {{DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), dy.data},
                                                   {DNNL_ARG_SRC, desc.src_desc(), x.data},
                                                   {DNNL_ARG_SCALE, channels, call.in[2].data},
                                                   {DNNL_ARG_SHIFT, channels, call.in[2].data},
                                                   {DNNL_ARG_MEAN, channels, call.in[3].data},
                                                   {DNNL_ARG_VARIANCE, channels, call.in[4].data},
                                                   {DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), call.out[0].data},
                                                   {DNNL_ARG_DIFF_SCALE, channels, call.out[1].data},
                                                   {DNNL_ARG_DIFF_SHIFT, channels, call.out[2].data}});
  return onednn::body_of(std::move(p));
}

namespace detail {

/// The same op with other operands: for a kernel that is a part of one.
inline op_call with_operands(const op_call& call, std::vector<operand> in, std::vector<operand> out) {
  auto part = call;
  part.in = std::move(in);
  part.out = std::move(out);
  return part;
}

} // namespace detail

/// BatchNormRelu(x, scale, offset, added if something is) -> y, mean, variance.
inline std::function<void()> batch_norm_relu(const op_call& call, unsigned team) {
  const auto& y = call.out[0];
  const auto of_norm = detail::with_operands(call, {call.in[0], call.in[1], call.in[2]},
                                             {y, call.out[1], call.out[2], call.out[1], call.out[2]});
  std::function<void()> add;
  if (call.in.size() > 3) {
    add = detail::binary_primitive(y, call.in[3], y, dnnl::algorithm::binary_add);
  }
  return [add, normalise = fused_batch_norm(of_norm, team),
          rectify = activation<dnnl::algorithm::eltwise_relu>(detail::with_operands(call, {y}, {y}), team)] {
    normalise();
    if (add) {
      add();
    }
    rectify();
  };
}

/// BatchNormReluGrad(dy, x, y, scale, mean, variance) -> dx, gradients of scale and offset, and of what is added.
inline std::function<void()> batch_norm_relu_grad(const op_call& call, unsigned team) {
  const auto& in = call.in;
  const bool adds = call.out.size() > 3;
  const auto kept = std::make_shared<buffer>(adds ? 0 : in[0].size());
  const operand rectified{in[0].dims, adds ? call.out[3].data : kept->data()};
  const auto of_relu = detail::with_operands(call, {in[0], in[2]}, {rectified});
  const auto of_norm = detail::with_operands(call, {rectified, in[1], in[3], in[4], in[5]},
                                             {call.out[0], call.out[1], call.out[2]});
  return [kept, rectify = activation_grad<dnnl::algorithm::eltwise_relu_use_dst_for_bwd>(of_relu, team),
          normalise = fused_batch_norm_grad(of_norm, team)] {
    rectify();
    normalise();
  };
}

} // namespace kernels
