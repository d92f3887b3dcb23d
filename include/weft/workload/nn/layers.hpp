// SPDX-License-Identifier: BSL-1.0
/// Layers with their variables: dense, convolution, transposed convolution, batch normalisation, dropout.
#pragma once

#include "weft/workload/nn/conv.hpp"
#include "weft/workload/nn/shape_ops.hpp"

namespace weft::nn {

/// x · W + b for a matrix x with one row per example; without b if `bias` is false.
inline tensor dense(const std::string& name, const tensor& x, std::uint64_t units, bool bias = true) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto weights = net.make_variable("weights", {x.dims().at(1), units});
  if (!bias) {
    return matmul(x, weights);
  }
  const auto biases = net.make_variable("biases", {units});
  return matmul(x, weights) + biases;
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

/// Zeroes a random part of x and scales the rest, as tf.nn.dropout does: the mask is the floor of a uniform number
/// plus the share that is kept. Drawing a number counts as 1 FLOP. In a network that is not trained, x itself.
inline tensor dropout(const std::string& name, const tensor& x) {
  auto& net = x.net();
  if (!net.training()) {
    return x;
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

} // namespace weft::nn
