// SPDX-License-Identifier: BSL-1.0
/// Layers with their variables: dense, convolution, transposed convolution, batch normalisation, dropout.
#pragma once

#include "weft/workload/nn/conv.hpp"
#include "weft/workload/nn/shape_ops.hpp"

namespace weft::nn {

/// a · b plus a vector along the rows, in one op. FLOP: 2 m n k + m n. Of parts along the inner extent, one adds the
/// vector. Precondition: two matrices that fit, and a bias per column; else `value_error`.
inline tensor gemm(const tensor& a, const tensor& b, const tensor& bias) {
  detail::require(a.dims().size() == 2 && b.dims().size() == 2 && a.dims()[1] == b.dims()[0] &&
                    bias.dims() == extents{b.dims()[1]},
                  "Gemm", detail::text(a.dims()) + " · " + detail::text(b.dims()) + " + " + detail::text(bias.dims()));
  const auto m = a.dims()[0], k = a.dims()[1], n = b.dims()[1];
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    tensor da, db, sums;
    if (call.wanted[0]) {
      da = matmul(call.dy[0], call.input(1), false, true);
    }
    if (call.wanted[1]) {
      db = matmul(call.input(0), call.dy[0], true, false);
    }
    if (call.wanted[2]) {
      sums = detail::bias_gradient(call.dy[0], call.input(2).dims());
    }
    return {da, db, sums};
  };
  return a.net().add_tensor({.type = "Gemm",
                             .inputs = {a, b, bias},
                             .outputs = {{{m, n}}},
                             .work = 2 * detail::flop(m) * detail::flop(n) * detail::flop(k) + detail::flop(m * n),
                             .gradient = gradient,
                             .axes = "mk,kn,n->mn"});
}

/// x · W + b for a matrix x with one row per example; without b if `bias` is false.
inline tensor dense(const std::string& name, const tensor& x, std::uint64_t units, bool bias = true) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto weights = net.make_variable("weights", {x.dims().at(1), units});
  if (!bias) {
    return matmul(x, weights);
  }
  const auto biases = net.make_variable("biases", {units});
  return net.kernels() == kernel_set::separate ? matmul(x, weights) + biases : gemm(x, weights, biases);
}

/// Options of a convolution layer.
struct conv_options {
  std::uint64_t filters = 0;
  std::uint64_t kernel_height = 3;
  std::uint64_t kernel_width = 3;
  sliding slide = {};
  bool bias = true; ///< off where batch normalisation follows
};

/// A convolution with its kernel and bias.
inline tensor conv_layer(const std::string& name, const tensor& x, const conv_options& o) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto kernel = net.make_variable("weights", {o.kernel_height, o.kernel_width, x.dims().at(3), o.filters});
  const auto y = conv2d(x, kernel, o.slide);
  return o.bias ? bias_add(y, net.make_variable("biases", {o.filters})) : y;
}

/// A transposed convolution with its kernel and bias: makes a height × width image of o.filters channels. Throws
/// `value_error` unless a convolution with o.slide makes an image of that size as small as x.
inline tensor conv_transpose_layer(const std::string& name, const tensor& x, std::uint64_t height, std::uint64_t width,
                                   const conv_options& o) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto kernel = net.make_variable("weights", {o.kernel_height, o.kernel_width, o.filters, x.dims().at(3)});
  const auto y = conv2d_transpose(x, kernel, {x.dims()[0], height, width, o.filters}, o.slide);
  return o.bias ? bias_add(y, net.make_variable("biases", {o.filters})) : y;
}

/// Batch normalisation with trainable scale and offset, and moving averages that are updated beside the step; a
/// network that is not trained normalises with them.
inline tensor batch_norm(const std::string& name, const tensor& x) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const extents channels{x.dims().back()};
  const auto gamma = net.make_variable("gamma", channels);
  const auto beta = net.make_variable("beta", channels);
  if (!net.training()) {
    const auto mean = net.make_variable("moving_mean", channels, false);
    const auto variance = net.make_variable("moving_variance", channels, false);
    return detail::known_batch_norm(x, gamma, beta, mean, variance);
  }
  const auto out = fused_batch_norm(x, gamma, beta);
  if (net.kernels() != kernel_set::separate) { // the op itself updates the averages
    net.add_variable("moving_mean", channels, false);
    net.add_variable("moving_variance", channels, false);
    return out.y;
  }
  const auto track = [&](const std::string& average_name, const tensor& statistic) {
    const auto state = net.add_variable(average_name, channels, false);
    const auto averaging = net.scope("AssignMovingAvg");
    const auto decay = net.data("Const", "decay", {});
    const auto change = (state.value - statistic) * decay;
    const op_id update = net.add({.type = "AssignSub",
                                  .inputs = {state.ref, change},
                                  .outputs = {{{2}, 4}},
                                  .work = detail::flop(statistic.elements())});
    net.colocate(state.op, update);
    net.add_update(update);
  };
  track("moving_mean", out.mean);
  track("moving_variance", out.variance);
  return out.y;
}

/// A convolution without a bias, which the batch normalisation after it would cancel.
inline tensor conv_norm(const std::string& name, const tensor& x, conv_options o) {
  o.bias = false;
  const auto y = conv_layer(name, x, o);
  const auto scope = x.net().scope(name);
  return batch_norm("norm", y);
}

namespace detail {

/// A batch normalisation, an addition if there is something to add, and a ReLU in one op. FLOP: 10 per element, or 9
/// without an addition; the gradient 12.
inline tensor batch_norm_relu_kernel(const tensor& x, const tensor& added) {
  auto& net = x.net();
  const extents channels{x.dims().back()};
  op_spec o{.type = "BatchNormRelu",
            .inputs = {x, net.make_variable("gamma", channels), net.make_variable("beta", channels)},
            .outputs = {{x.dims()}, {channels}, {channels}},
            .work = (added ? 10 : 9) * flop(x.elements()),
            .axes = "...c,c,c"};
  if (added) {
    o.inputs.push_back(added);
    o.axes += ",...c";
  }
  o.axes += "->...c,c,c";
  net.add_variable("moving_mean", channels, false); // the op itself updates them
  net.add_variable("moving_variance", channels, false);
  o.gradient = [adds = bool{added}](const gradient_call& call) -> std::vector<tensor> {
    const auto image = call.input(0).type(), parameter = call.input(1).type();
    op_spec g{.type = "BatchNormReluGrad",
              .inputs = {call.dy[0], call.input(0), call.output(0), call.input(1), call.output(1), call.output(2)},
              .outputs = {image, parameter, parameter},
              .work = 12 * flop(call.input(0).elements()),
              .axes = "...c,...c,...c,c,c,c->...c,c,c"};
    if (adds) {
      g.outputs.push_back(image);
      g.axes += ",...c";
    }
    return outputs_of(call.net, call.net.add(std::move(g)));
  };
  return net.add_tensor(std::move(o));
}

/// The same with a mean and a variance that are known. FLOP: 3 per element, and 1 for an addition.
inline tensor known_batch_norm_relu_kernel(const tensor& x, const tensor& added) {
  auto& net = x.net();
  op_spec o{.type = "BatchNormInference",
            .inputs = {x},
            .outputs = {{x.dims()}},
            .work = (added ? 4 : 3) * flop(x.elements()),
            .axes = "nhwc,c,c,c,c"};
  for (const char* name : {"gamma", "beta", "moving_mean", "moving_variance"}) {
    o.inputs.push_back(net.make_variable(name, {x.dims().back()}, o.inputs.size() < 3));
  }
  if (added) {
    o.inputs.push_back(added);
    o.axes += ",nhwc";
  }
  o.axes += "->nhwc";
  return net.add_tensor(std::move(o));
}

} // namespace detail

/// The ReLU of a convolution without a bias that is normalised (`conv_norm`), plus `added` if there is one. Where
/// kernels are compiled, all after the convolution is one op.
inline tensor conv_norm_relu(const std::string& name, const tensor& x, conv_options o, const tensor& added = {}) {
  auto& net = x.net();
  if (net.kernels() != kernel_set::compiled) {
    const auto y = conv_norm(name, x, o);
    return relu(added ? y + added : y);
  }
  o.bias = false;
  const auto y = conv_layer(name, x, o);
  const auto scope = net.scope(name);
  const auto norm = net.scope("norm");
  return net.training() ? detail::batch_norm_relu_kernel(y, added) : detail::known_batch_norm_relu_kernel(y, added);
}

namespace detail {

/// Dropout in one op, with a byte per element that says what is kept, or with a seed from which that is made again.
inline tensor native_dropout(const std::string& name, const tensor& x) {
  const bool keeps_mask = x.net().kernels() == kernel_set::framework;
  const auto axes = letters(x.dims().size());
  const auto gradient = [axes, keeps_mask](const gradient_call& call) -> std::vector<tensor> {
    op_spec o{.type = "NativeDropoutGrad",
              .inputs = {call.dy[0]},
              .outputs = {call.input().type()},
              .work = flop(call.dy[0].elements()),
              .axes = axes + "->" + axes};
    if (keeps_mask) {
      o.inputs.push_back(call.output(1));
      o.axes = axes + "," + o.axes;
    }
    return {call.net.add_tensor(std::move(o))};
  };
  op_spec o{.type = "NativeDropout",
            .inputs = {x},
            .outputs = {x.type()},
            .work = 3 * flop(x.elements()),
            .gradient = gradient,
            .name = name,
            .axes = axes + "->" + axes};
  if (keeps_mask) {
    o.outputs.push_back({x.dims(), 1});
    o.axes += "," + axes;
  }
  return x.net().add_tensor(std::move(o));
}

} // namespace detail

/// Zeroes a random part of x and scales the rest. In a network that is not trained, x itself. Of separate kernels as
/// tf.nn.dropout does: the mask is the floor of a uniform number plus the share that is kept. Drawing a number counts
/// as 1 FLOP. Of others one op (as `torch.native_dropout`): 3 FLOP per element, its gradient 1.
inline tensor dropout(const std::string& name, const tensor& x) {
  auto& net = x.net();
  if (!net.training()) {
    return x;
  }
  if (net.kernels() != kernel_set::separate) {
    return detail::native_dropout(name, x);
  }
  const auto scope = net.scope(name);
  const auto keep = net.data("Const", "keep_prob", {});
  const auto random = [&] {
    const auto uniform = net.scope("random_uniform");
    const auto drawn = net.add_tensor({.type = "RandomUniform",
                                       .inputs = {detail::shape_constant(net, x, "shape")},
                                       .outputs = {{x.dims()}},
                                       .work = detail::flop(x.elements())});
    const auto low = net.data("Const", "min", {});
    const auto high = net.data("Const", "max", {});
    return drawn * (high - low) + low;
  }();
  const auto mask = detail::elementwise("Floor", {keep + random}, x.dims());
  return (x / keep) * mask;
}

/// x · A · B, where A (`lora_a`) has as many columns as the rank says, and B is `lora_b`: what low-rank adaptation
/// (LoRA) adds to a product of x with a matrix that it leaves as it is.
/// Source: Hu et al., *LoRA: Low-Rank Adaptation of Large Language Models*, arXiv 2106.09685.
inline tensor low_rank(const std::string& name, const tensor& x, std::uint64_t rank, std::uint64_t units) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto narrow = matmul(x, net.make_variable("lora_a", {x.dims().at(1), rank}));
  return matmul(narrow, net.make_variable("lora_b", {rank, units}));
}

} // namespace weft::nn
