// SPDX-License-Identifier: BSL-1.0
/// ResNet-50, for ImageNet or for smaller images.
#pragma once

#include "weft/workload/training_step.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace weft::zoo {

/// The convolution of a block that halves the image: the first 1×1 as in the paper (v1), or the 3×3 (v1.5), which costs
/// 6 % more and is what frameworks ship today.
enum class resnet_stride { in_1x1, in_3x3 };

/// Sizes of a ResNet-50. For CIFAR-10: `{.image_size = 32, .classes = 10}`.
struct resnet50_options {
  std::uint64_t image_size = 224; ///< height and width, pixels
  std::uint64_t classes = 1000;
  resnet_stride stride = resnet_stride::in_3x3;
  bool weight_decay = true; ///< adds the L2 loss of all kernels to the loss, unless updates do (joined kernels)
};

namespace detail {

/// 1×1, 3×3 and 1×1 convolutions beside a shortcut, which is a convolution where the extents change.
inline nn::tensor bottleneck(const nn::tensor& x, std::uint64_t filters, std::uint64_t stride, resnet_stride place) {
  const nn::sliding at_first{.stride = place == resnet_stride::in_1x1 ? stride : 1};
  const nn::sliding at_second{.stride = place == resnet_stride::in_3x3 ? stride : 1};
  const bool changes = stride != 1 || x.dims()[3] != 4 * filters;
  const auto shortcut =
    changes
      ? nn::conv_norm("shortcut", x,
                      {.filters = 4 * filters, .kernel_height = 1, .kernel_width = 1, .slide = {.stride = stride}})
      : x;
  auto y =
    nn::conv_norm_relu("conv1", x, {.filters = filters, .kernel_height = 1, .kernel_width = 1, .slide = at_first});
  y = nn::conv_norm_relu("conv2", y, {.filters = filters, .slide = at_second});
  return nn::conv_norm_relu("conv3", y, {.filters = 4 * filters, .kernel_height = 1, .kernel_width = 1}, shortcut);
}

} // namespace detail

/// A 7×7 convolution with stride 2, a 3×3 max pool with stride 2, stages of 3, 4, 6 and 3 bottleneck blocks of 64,
/// 128, 256 and 512 filters, each followed by four times as many, a global average pool, and a dense layer; softmax
/// cross entropy and weight decay. Batch normalisation follows each of the 53 convolutions. 25,557,032 parameters for
/// 1000 classes. Returns the loss. Throws `value_error` for extents of zero.
/// Source: He, Zhang, Ren, Sun, *Deep Residual Learning for Image Recognition*, arXiv 1512.03385, table 1; stride in
/// the 3×3: torchvision, TensorFlow's official models (v1.5).
inline nn::tensor resnet50_loss(nn::network& net, std::uint64_t batch, const resnet50_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.image_size, o.image_size, 3}}, {{batch}}});
  auto x = nn::conv_norm_relu(
    "conv1", fed[0], {.filters = 64, .kernel_height = 7, .kernel_width = 7, .slide = {.stride = 2}});
  x = max_pool(x, 3, {.stride = 2});
  std::uint64_t filters = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int i = 0; i < blocks; ++i) {
      const auto scope = net.scope("stage" + std::to_string(filters) + "/block" + std::to_string(i + 1));
      x = detail::bottleneck(x, filters, i == 0 && filters > 64 ? 2 : 1, o.stride);
    }
    filters *= 2;
  }
  const auto logits = net.output(nn::dense("out", global_avg_pool(x), o.classes));
  const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, fed[1]));
  return o.weight_decay && net.kernels() == nn::kernel_set::separate ? loss + nn::weight_decay(net) : loss;
}

/// Its training objective: the loss, with momentum. Adds the forward ops to the network.
inline training_task resnet50_task(nn::network& net, std::uint64_t batch, const resnet50_options& o = {}) {
  return {{{resnet50_loss(net, batch, o)}}, {.rule = optimizer::momentum}};
}

/// One training step of it on a batch of images.
inline workload resnet50(std::uint64_t batch = 64, const resnet50_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = resnet50_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
