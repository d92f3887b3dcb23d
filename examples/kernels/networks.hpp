// SPDX-License-Identifier: BSL-1.0
/// Small versions of well-known networks, of sizes that take a core some 10 ms per training step.
#pragma once

#include "kernels/bound_step.hpp"

#include "weft/workload/training_step.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace kernels {

/// A network with its training step.
struct training_net {
  std::string name;
  std::unique_ptr<weft::nn::network> net;
  weft::nn::built_workload step;
  std::vector<weft::tensor_id> losses; ///< scalars, tensors of the step
  starting_point start;

  /// Memory and kernels for it; `net` and `step` must stay where they are.
  bound_step bind() const { return bound_step{*net, step, start}; }
};

/// The training step of a network for its objectives, in which updates wait for all that reads the old values.
inline training_net make_training_net(std::string name, std::unique_ptr<weft::nn::network> net,
                                      const std::vector<weft::training_objective>& objectives,
                                      const weft::training_options& options, starting_point start) {
  auto step = with_ordered_updates(*net, weft::training_step_with_origins(*net, objectives, options));
  std::vector<weft::tensor_id> losses;
  for (const auto& o : objectives) {
    const auto at = std::lower_bound(step.origin.begin(), step.origin.end(), o.loss.op());
    const auto v = static_cast<weft::op_id>(at - step.origin.begin());
    losses.push_back(*step.graph.outputs(v).begin() + o.loss.output());
  }
  return {std::move(name), std::move(net), std::move(step), std::move(losses), std::move(start)};
}

/// A network whose layers become ops in that way, without the small ops around the arithmetic.
inline std::unique_ptr<weft::nn::network> new_network(weft::nn::network_options lowering = {}) {
  lowering.bookkeeping = false;
  return std::make_unique<weft::nn::network>(lowering);
}

namespace detail {

using weft::nn::conv_norm_relu;
using weft::nn::tensor;

} // namespace detail

/// A residual network for small images.
struct resnet_options {
  std::uint64_t batch = 8;
  std::uint64_t image = 32;
  std::uint64_t width = 16; ///< channels of the first stage; each further one halves the image and doubles them
  std::uint64_t stages = 3;
  std::uint64_t blocks_per_stage = 2;
  std::uint64_t classes = 10;
  weft::nn::network_options lowering = {}; ///< the way in which layers become ops
};

namespace detail {

/// Two convolutions beside a shortcut, which is a convolution of its own where the shape changes.
inline tensor residual_block(const std::string& name, const tensor& x, std::uint64_t filters, std::uint64_t stride) {
  const auto y = conv_norm_relu(name + "/conv1", x, {.filters = filters, .slide = {.stride = stride}});
  const bool same_shape = x.dims() == y.dims();
  const weft::nn::conv_options projection{
    .filters = filters, .kernel_height = 1, .kernel_width = 1, .slide = {.stride = stride}};
  const auto shortcut = same_shape ? x : weft::nn::conv_norm(name + "/shortcut", x, projection);
  return conv_norm_relu(name + "/conv2", y, {.filters = filters}, shortcut);
}

inline tensor classifier_loss(const tensor& features, const tensor& labels) {
  return reduce_mean(softmax_cross_entropy(weft::nn::dense("out", features, labels.dims()[1]), labels));
}

} // namespace detail

/// The residual network of He et al. for CIFAR-10 (*Deep Residual Learning for Image Recognition*, CVPR 2016,
/// section 4.2), with momentum.
inline training_net resnet_block_stack(const resnet_options& o = {}) {
  auto net = new_network(o.lowering);
  const auto fed = net->input_pipeline({{{o.batch, o.image, o.image, 3}}, {{o.batch, o.classes}}});
  auto x = detail::conv_norm_relu("stem", fed[0], {.filters = o.width});
  for (std::uint64_t stage = 0; stage < o.stages; ++stage) {
    for (std::uint64_t block = 0; block < o.blocks_per_stage; ++block) {
      const auto name = "stage" + std::to_string(stage) + "/block" + std::to_string(block);
      x = detail::residual_block(name, x, o.width << stage, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  const auto loss = detail::classifier_loss(weft::nn::global_avg_pool(x), fed[1]);
  return make_training_net("resnet", std::move(net), {{loss}}, {.rule = weft::optimizer::momentum},
                           {.learning_rate = 0.02f});
}

/// Convolutions without normalisation, so that examples of a batch do not depend on each other.
struct convolutions_options {
  std::uint64_t batch = 8;
  std::uint64_t image = 24;
  std::uint64_t width = 16; ///< channels of the first one; the second has twice as many
  std::uint64_t classes = 10;
};

/// Two convolutions with max pools and a dense layer, with momentum.
inline training_net convolutions(const convolutions_options& o = {}) {
  auto net = new_network();
  const auto fed = net->input_pipeline({{{o.batch, o.image, o.image, 3}}, {{o.batch, o.classes}}});
  auto x = fed[0];
  for (const std::uint64_t stage : {0u, 1u}) {
    const auto name = "conv" + std::to_string(stage);
    x = weft::nn::relu(weft::nn::conv_layer(name, x, {.filters = o.width << stage}));
    x = weft::nn::max_pool(x, 2, {.stride = 2});
  }
  const auto loss = detail::classifier_loss(weft::nn::global_avg_pool(x), fed[1]);
  return make_training_net("convolutions", std::move(net), {{loss}}, {.rule = weft::optimizer::momentum},
                           {.learning_rate = 0.02f});
}

/// Inception blocks on small images.
struct inception_options {
  std::uint64_t batch = 2;
  std::uint64_t image = 17;
  std::uint64_t channels = 128; ///< of the images
  std::uint64_t blocks = 2;     ///< before and after a reduction to half the extents
  std::uint64_t width = 32;     ///< channels of each branch
  std::uint64_t classes = 10;
  weft::nn::network_options lowering = {};
};

namespace detail {

inline weft::nn::conv_options square_conv(std::uint64_t filters, std::uint64_t extent, weft::nn::sliding slide = {}) {
  return {.filters = filters, .kernel_height = extent, .kernel_width = extent, .slide = slide};
}

/// Four branches that do not depend on each other: 1×1; 5×5; two 3×3; mean pool.
inline tensor inception_block(const std::string& name, const tensor& x, std::uint64_t width) {
  const auto direct = conv_norm_relu(name + "/1x1", x, square_conv(2 * width, 1));
  const auto narrow = conv_norm_relu(name + "/5x5_reduce", x, square_conv(width, 1));
  const auto wide = conv_norm_relu(name + "/5x5", narrow, square_conv(2 * width, 5));
  const auto entry = conv_norm_relu(name + "/3x3_reduce", x, square_conv(width, 1));
  const auto once = conv_norm_relu(name + "/3x3_1", entry, square_conv(2 * width, 3));
  const auto twice = conv_norm_relu(name + "/3x3_2", once, square_conv(2 * width, 3));
  const auto pooled = conv_norm_relu(name + "/pool_1x1", weft::nn::avg_pool(x, 3, {}), square_conv(width, 1));
  return weft::nn::concat(std::vector{direct, wide, twice, pooled}, 3);
}

/// Halves the extents: a strided convolution beside a max pool.
inline tensor reduction_block(const std::string& name, const tensor& x, std::uint64_t width) {
  const weft::nn::sliding halve{.stride = 2, .pad = weft::nn::padding::valid};
  const auto entry = conv_norm_relu(name + "/reduce", x, square_conv(width, 1));
  const auto y = conv_norm_relu(name + "/3x3", entry, square_conv(2 * width, 3, halve));
  return weft::nn::concat(std::vector{y, weft::nn::max_pool(x, 3, halve)}, 3);
}

} // namespace detail

/// Blocks like those of Szegedy et al., *Rethinking the Inception Architecture for Computer Vision*, CVPR 2016,
/// figure 5 and 10, on features that a stem would make; with momentum.
inline training_net inception_block(const inception_options& o = {}) {
  auto net = new_network(o.lowering);
  const auto fed = net->input_pipeline({{{o.batch, o.image, o.image, o.channels}}, {{o.batch, o.classes}}});
  auto x = detail::conv_norm_relu("stem", fed[0], detail::square_conv(o.channels, 1));
  for (std::uint64_t block = 0; block < o.blocks; ++block) {
    x = detail::inception_block("large" + std::to_string(block), x, o.width);
  }
  x = detail::reduction_block("reduction", x, o.width);
  for (std::uint64_t block = 0; block < o.blocks; ++block) {
    x = detail::inception_block("small" + std::to_string(block), x, o.width);
  }
  const auto loss = detail::classifier_loss(weft::nn::global_avg_pool(x), fed[1]);
  return make_training_net("inception", std::move(net), {{loss}}, {.rule = weft::optimizer::momentum},
                           {.learning_rate = 0.02f});
}

} // namespace kernels
