// SPDX-License-Identifier: BSL-1.0
/// The convolutional network for handwritten digits of TensorFlow's tutorial.
#pragma once

#include "weft/workload/training_step.hpp"

namespace weft::zoo {

/// Two 5×5 convolutions with 32 and 64 filters, each followed by a 2×2 max pool, a dense layer of 1024 with dropout,
/// and one of 10; softmax cross entropy. 3,274,634 parameters. Returns the loss.
/// Source: *Deep MNIST for Experts* (TensorFlow tutorial); TensorFlow-Examples, `convolutional_network.py`.
inline nn::tensor mnist_conv_loss(nn::network& net, std::uint64_t batch) {
  const auto fed = net.input_pipeline({{{batch, 784}}, {{batch, 10}}});
  const nn::conv_options conv1{.filters = 32, .kernel_height = 5, .kernel_width = 5};
  const nn::conv_options conv2{.filters = 64, .kernel_height = 5, .kernel_width = 5};
  const nn::sliding halve{.stride = 2};
  auto x = reshape(fed[0], {batch, 28, 28, 1});
  x = max_pool(relu(conv_layer("conv1", x, conv1)), 2, halve);
  x = max_pool(relu(conv_layer("conv2", x, conv2)), 2, halve);
  x = reshape(x, {batch, 7 * 7 * 64});
  x = relu(nn::dense("fc1", x, 1024));
  x = nn::dropout("dropout", x);
  return reduce_mean(softmax_cross_entropy(net.output(nn::dense("fc2", x, 10)), fed[1]));
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task mnist_conv_task(nn::network& net, std::uint64_t batch) {
  return {{{mnist_conv_loss(net, batch)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of images.
inline workload mnist_conv(std::uint64_t batch = 50, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = mnist_conv_task(net, batch);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
