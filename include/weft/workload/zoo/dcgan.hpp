// SPDX-License-Identifier: BSL-1.0
/// DCGAN: a generator of images and a discriminator, which are trained against each other.
#pragma once

#include "weft/workload/training_step.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::zoo {

/// Sizes of a DCGAN; the defaults are for MNIST.
struct dcgan_options {
  std::uint64_t image_size = 28; ///< height and width, pixels; 64 in the paper
  std::uint64_t channels = 1;    ///< of an image; 3 in the paper
  std::uint64_t latent = 100;    ///< numbers that the generator starts from
  std::uint64_t generator_filters = 64;     ///< of its last but one layer; each layer before has twice as many
  std::uint64_t discriminator_filters = 64; ///< of its first layer; each layer after has twice as many
};

namespace detail {

inline constexpr nn::conv_options dcgan_conv(std::uint64_t filters) {
  return {.filters = filters, .kernel_height = 5, .kernel_width = 5, .slide = {.stride = 2}};
}

/// A dense layer and four 5×5 transposed convolutions, each of which doubles the image; batch normalisation and ReLU
/// between them, tanh at the end.
inline nn::tensor dcgan_generator(const nn::tensor& latent, const dcgan_options& o) {
  auto& net = latent.net();
  const auto scope = net.scope("generator");
  std::array<std::uint64_t, 5> extent{o.image_size};
  for (std::size_t i = 1; i < extent.size(); ++i) {
    extent[i] = (extent[i - 1] + 1) / 2;
  }
  auto filters = 8 * o.generator_filters;
  auto x = nn::dense("layer0", latent, extent[4] * extent[4] * filters);
  x = nn::reshape(x, {latent.dims()[0], extent[4], extent[4], filters});
  for (std::size_t i = 1; i < extent.size(); ++i) {
    x = relu(nn::batch_norm("norm" + std::to_string(i - 1), x));
    filters = i == 4 ? o.channels : filters / 2;
    const auto size = extent[4 - i];
    x = nn::conv_transpose_layer("layer" + std::to_string(i), x, size, size, dcgan_conv(filters));
  }
  return tanh(x);
}

/// Four 5×5 convolutions, each of which halves the image, with leaky ReLU and, but for the first, batch normalisation;
/// a dense layer gives one logit per image.
inline nn::tensor dcgan_discriminator(const nn::tensor& image, const dcgan_options& o) {
  auto& net = image.net();
  const auto scope = net.scope("discriminator");
  auto x = leaky_relu(nn::conv_layer("layer0", image, dcgan_conv(o.discriminator_filters)));
  for (std::uint64_t i = 1; i < 4; ++i) {
    const auto number = std::to_string(i);
    x = nn::conv_layer("layer" + number, x, dcgan_conv(o.discriminator_filters << i));
    x = leaky_relu(nn::batch_norm("norm" + number, x));
  }
  const auto& dims = x.dims();
  return nn::dense("layer4", nn::reshape(x, {dims[0], dims[1] * dims[2] * dims[3]}), 1);
}

/// The values of the trainable variables from number `first` on.
inline std::vector<nn::tensor> trainable_since(const nn::network& net, std::size_t first) {
  std::vector<nn::tensor> values;
  for (std::size_t i = first; i < net.variables().size(); ++i) {
    if (net.variables()[i].trainable) {
      values.push_back(net.variables()[i].value);
    }
  }
  return values;
}

} // namespace detail

/// Its training objectives: the discriminator's loss (sigmoid cross entropy of real images against 1 and of
/// generated ones against 0) by the discriminator's variables, and the generator's (of generated ones against 1) by
/// the generator's, both with Adam. Both losses are of the same parameters and the same generated images, as when one
/// `Session.run` fetches both updates. Adds the forward ops to the network. 8,818,818 parameters with the default
/// sizes. Throws `value_error` for extents of zero.
/// Source: Radford, Metz, Chintala, *Unsupervised Representation Learning with Deep Convolutional Generative
/// Adversarial Networks*, arXiv 1511.06434; 5×5 kernels, filters and losses: `carpedm20/DCGAN-tensorflow`, without
/// labels.
inline training_task dcgan_task(nn::network& net, std::uint64_t batch, const dcgan_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.image_size, o.image_size, o.channels}}, {{batch, o.latent}}});
  const auto generated = net.output(detail::dcgan_generator(fed[1], o));
  const auto generator_variables = detail::trainable_since(net, 0);
  const auto first = net.variables().size();
  const auto real_logits = detail::dcgan_discriminator(fed[0], o);
  const auto discriminator_variables = detail::trainable_since(net, first);
  const auto fake_logits = [&] {
    const auto sharing = net.reuse_variables();
    return detail::dcgan_discriminator(generated, o);
  }();
  const auto ones = net.data("Const", "ones_like", real_logits.type());
  const auto zeros = net.data("Const", "zeros_like", real_logits.type());
  const auto real = reduce_mean(sigmoid_cross_entropy(real_logits, ones));
  const auto fake = reduce_mean(sigmoid_cross_entropy(fake_logits, zeros));
  const auto fooled = reduce_mean(sigmoid_cross_entropy(fake_logits, ones));
  return {{{real + fake, discriminator_variables}, {fooled, generator_variables}}, {.rule = optimizer::adam}};
}

/// One training step of it, an update of the discriminator and one of the generator, on a batch of images.
inline workload dcgan(std::uint64_t batch = 64, const dcgan_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = dcgan_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
