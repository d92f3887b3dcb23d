// SPDX-License-Identifier: BSL-1.0
/// Inception-v3: wide blocks of parallel convolutions.
#pragma once

#include "weft/workload/training_step.hpp"

#include <string>
#include <vector>

namespace weft::zoo {

/// Sizes of an Inception-v3.
struct inception_v3_options {
  std::uint64_t image_size = 299; ///< height and width, pixels; at least 75
  std::uint64_t classes = 1000;
  bool auxiliary = true; ///< a second classifier on the 17×17 image, for training only
};

namespace detail {

/// A convolution, batch normalisation and ReLU; by default 1×1.
struct inception_conv {
  std::uint64_t filters;
  std::uint64_t height = 1;
  std::uint64_t width = 1;
  nn::sliding slide = {};
};
inline constexpr nn::sliding inception_halve{.stride = 2, .pad = nn::padding::valid};
inline constexpr nn::sliding inception_valid{.stride = 1, .pad = nn::padding::valid};

/// Adds the parts of one block under its name; convolutions are numbered in the order in which they are added.
class inception_block {
public:
  inception_block(const nn::tensor& x, const std::string& name) : x_{x}, scope_{x.net().scope(name)} {}

  nn::tensor conv(const nn::tensor& x, const inception_conv& c) {
    return relu(nn::conv_norm("conv" + std::to_string(++count_), x,
                              {.filters = c.filters, .kernel_height = c.height, .kernel_width = c.width,
                               .slide = c.slide}));
  }
  /// Convolutions one after the other, the first on the block's input.
  nn::tensor branch(const std::vector<inception_conv>& convs) {
    auto y = x_;
    for (const auto& c : convs) {
      y = conv(y, c);
    }
    return y;
  }
  nn::tensor pooled_branch(std::uint64_t filters) { return conv(avg_pool(x_, 3, {}), {filters}); }
  nn::tensor halving_pool() { return max_pool(x_, 3, inception_halve); }
  /// The 1×3 and the 3×1 convolution of the same image.
  std::vector<nn::tensor> fork(const nn::tensor& x) {
    const auto wide = conv(x, {384, 1, 3});
    return {wide, conv(x, {384, 3, 1})};
  }

private:
  nn::tensor x_;
  nn::detail::scoped_value<std::string> scope_;
  int count_ = 0;
};

/// 35×35: 1×1; 5×5; two 3×3; pool (figure 5 of the paper).
inline nn::tensor inception_a(const nn::tensor& x, const std::string& name, std::uint64_t pool_filters) {
  inception_block b{x, name};
  const auto one = b.branch({{64}});
  const auto five = b.branch({{48}, {64, 5, 5}});
  const auto three = b.branch({{64}, {96, 3, 3}, {96, 3, 3}});
  return nn::concat({one, five, three, b.pooled_branch(pool_filters)}, 3);
}

/// 35×35 to 17×17 (figure 10).
inline nn::tensor inception_b(const nn::tensor& x, const std::string& name) {
  inception_block b{x, name};
  const auto three = b.branch({{384, 3, 3, inception_halve}});
  const auto twice = b.branch({{64}, {96, 3, 3}, {96, 3, 3, inception_halve}});
  return nn::concat({three, twice, b.halving_pool()}, 3);
}

/// 17×17: 7×7 as 1×7 and 7×1, once and twice (figure 6).
inline nn::tensor inception_c(const nn::tensor& x, const std::string& name, std::uint64_t narrow) {
  inception_block b{x, name};
  const auto one = b.branch({{192}});
  const auto seven = b.branch({{narrow}, {narrow, 1, 7}, {192, 7, 1}});
  const auto twice = b.branch({{narrow}, {narrow, 7, 1}, {narrow, 1, 7}, {narrow, 7, 1}, {192, 1, 7}});
  return nn::concat({one, seven, twice, b.pooled_branch(192)}, 3);
}

/// 17×17 to 8×8.
inline nn::tensor inception_d(const nn::tensor& x, const std::string& name) {
  inception_block b{x, name};
  const auto three = b.branch({{192}, {320, 3, 3, inception_halve}});
  const auto seven = b.branch({{192}, {192, 1, 7}, {192, 7, 1}, {192, 3, 3, inception_halve}});
  return nn::concat({three, seven, b.halving_pool()}, 3);
}

/// 8×8: 3×3 as 1×3 beside 3×1 (figure 7).
inline nn::tensor inception_e(const nn::tensor& x, const std::string& name) {
  inception_block b{x, name};
  const auto one = b.branch({{320}});
  const auto three = nn::concat(b.fork(b.branch({{384}})), 3);
  const auto twice = nn::concat(b.fork(b.branch({{448}, {384, 3, 3}})), 3);
  return nn::concat({one, three, twice, b.pooled_branch(192)}, 3);
}

/// Five convolutions and two max pools, 299×299×3 to 35×35×192.
inline nn::tensor inception_stem(const nn::tensor& image) {
  inception_block b{image, "stem"};
  auto x = b.branch({{32, 3, 3, inception_halve}, {32, 3, 3, inception_valid}, {64, 3, 3}});
  x = max_pool(x, 3, inception_halve);
  x = b.conv(b.conv(x, {80}), {192, 3, 3, inception_valid});
  return max_pool(x, 3, inception_halve);
}

/// The logits of the classifier on the 17×17 image.
inline nn::tensor inception_auxiliary(const nn::tensor& x, std::uint64_t classes) {
  inception_block b{x, "auxiliary"};
  const auto small = avg_pool(x, 5, {.stride = 3, .pad = nn::padding::valid});
  const auto wide = b.conv(b.conv(small, {128}), {768, small.dims()[1], small.dims()[2], inception_valid});
  return nn::dense("out", nn::reshape(wide, {x.dims()[0], 768}), classes);
}

} // namespace detail

/// The stem, eleven blocks (3 of 35×35, 5 of 17×17, 3 of 8×8, two of which halve the image), a global average pool,
/// dropout and a dense layer; softmax cross entropy, and that of the auxiliary classifier. Batch normalisation follows
/// each of the 94 convolutions (96 with the auxiliary classifier). 27,161,264 parameters with the auxiliary classifier
/// and 1000 classes, 23,834,568 without. Returns the loss. Throws `value_error` for images that are too small.
/// Source: Szegedy, Vanhoucke, Ioffe, Shlens, Wojna, *Rethinking the Inception Architecture for Computer Vision*,
/// arXiv 1512.00567; numbers of filters: torchvision and TensorFlow-Slim, `inception_v3.py`.
inline nn::tensor inception_v3_loss(nn::network& net, std::uint64_t batch, const inception_v3_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.image_size, o.image_size, 3}}, {{batch, o.classes}}});
  auto x = detail::inception_stem(fed[0]);
  x = detail::inception_a(x, "mixed_5b", 32);
  x = detail::inception_a(x, "mixed_5c", 64);
  x = detail::inception_a(x, "mixed_5d", 64);
  x = detail::inception_b(x, "mixed_6a");
  x = detail::inception_c(x, "mixed_6b", 128);
  x = detail::inception_c(x, "mixed_6c", 160);
  x = detail::inception_c(x, "mixed_6d", 160);
  const auto middle = detail::inception_c(x, "mixed_6e", 192);
  x = detail::inception_d(middle, "mixed_7a");
  x = detail::inception_e(x, "mixed_7b");
  x = detail::inception_e(x, "mixed_7c");
  const auto logits = net.output(nn::dense("out", nn::dropout("dropout", global_avg_pool(x)), o.classes));
  const auto loss = reduce_mean(softmax_cross_entropy(logits, fed[1]));
  if (!o.auxiliary) {
    return loss;
  }
  const auto second = reduce_mean(softmax_cross_entropy(detail::inception_auxiliary(middle, o.classes), fed[1]));
  const auto weight = net.data("Const", "auxiliary/weight", {});
  return loss + second * weight;
}

/// Its training objective: the loss, with RMSProp as in the paper. Adds the forward ops to the network.
inline training_task inception_v3_task(nn::network& net, std::uint64_t batch, const inception_v3_options& o = {}) {
  return {{{inception_v3_loss(net, batch, o)}}, {.rule = optimizer::rmsprop}};
}

/// One training step of it on a batch of images.
inline workload inception_v3(std::uint64_t batch = 16, const inception_v3_options& o = {},
                             const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = inception_v3_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
