// SPDX-License-Identifier: BSL-1.0
/// A small pair of networks that train each other.
#pragma once

#include "kernels/networks.hpp"

namespace kernels {

/// A generator of images of 28×28 and its discriminator.
struct dcgan_options {
  std::uint64_t batch = 16;
  std::uint64_t noise = 64;
  std::uint64_t width = 32; ///< channels of the first convolution of the discriminator
  weft::nn::network_options lowering = {};
};

namespace detail {

/// From noise to images with values from -1 to 1.
inline tensor generate(const tensor& noise, const dcgan_options& o) {
  auto& net = noise.net();
  const auto scope = net.scope("generator");
  const auto deconvolve = [&](const std::string& name, const tensor& x, std::uint64_t extent, std::uint64_t channels) {
    const auto kernel = net.make_variable(name + "/weights", {5, 5, channels, x.dims()[3]});
    return weft::nn::conv2d_transpose(x, kernel, {o.batch, extent, extent, channels}, {.stride = 2});
  };
  auto x = weft::nn::reshape(weft::nn::dense("project", noise, 7 * 7 * 4 * o.width), {o.batch, 7, 7, 4 * o.width});
  x = relu(weft::nn::batch_norm("norm1", x));
  x = relu(weft::nn::batch_norm("norm2", deconvolve("deconv1", x, 14, 2 * o.width)));
  return tanh(deconvolve("deconv2", x, 28, 1));
}

/// Two logits per image: made by the generator, or real.
inline tensor discriminate(const tensor& images, const dcgan_options& o) {
  const auto scope = images.net().scope("discriminator");
  auto x = relu(weft::nn::conv_layer("conv1", images, square_conv(o.width, 5, {.stride = 2})));
  x = relu(weft::nn::conv_layer("conv2", x, square_conv(2 * o.width, 5, {.stride = 2})));
  return weft::nn::dense("out", weft::nn::reshape(x, {o.batch, 7 * 7 * 2 * o.width}), 2);
}

/// The values of the variables whose names begin like that.
inline std::vector<tensor> variables_in(const weft::nn::network& net, const std::string& scope) {
  std::vector<tensor> found;
  for (const auto& x : net.variables()) {
    if (x.trainable && net[x.op].op.name.starts_with(scope + "/")) {
      found.push_back(x.value);
    }
  }
  return found;
}

/// Labels that say the same of each image.
inline std::vector<float> equal_labels(std::uint64_t batch, bool real) {
  std::vector<float> labels(2 * batch, 0.0f);
  for (std::size_t i = real; i < labels.size(); i += 2) {
    labels[i] = 1;
  }
  return labels;
}

} // namespace detail

/// One step of both. Source: Radford, Metz, Chintala, *Unsupervised Representation Learning with Deep Convolutional
/// Generative Adversarial Networks*, ICLR 2016; with rectifiers that do not leak; with Adam.
inline training_net dcgan(const dcgan_options& o = {}) {
  auto net = new_network(o.lowering);
  const auto fed = net->input_pipeline({{{o.batch, 28, 28, 1}}, {{o.batch, o.noise}}});
  const auto label = [&](const char* name) { return net->data("Const", name, {{o.batch, 2}}); };
  const auto made = label("made"), real = label("real");
  const auto loss_of = [](const weft::nn::tensor& logits, const weft::nn::tensor& labels) {
    return reduce_mean(softmax_cross_entropy(logits, labels));
  };
  const auto images = detail::generate(fed[1], o);
  const auto of_real = detail::discriminate(fed[0], o);
  const auto of_made = [&] {
    const auto shared = net->reuse_variables();
    return detail::discriminate(images, o);
  }();
  const auto real_loss = loss_of(of_real, real), made_loss = loss_of(of_made, made);
  const auto discriminator_loss = real_loss + made_loss;
  const auto generator_loss = loss_of(of_made, real);
  const std::vector<weft::training_objective> objectives{
    {discriminator_loss, detail::variables_in(*net, "discriminator")},
    {generator_loss, detail::variables_in(*net, "generator")}};
  starting_point start{.learning_rate = 0.0005f};
  start.given = {{"made", detail::equal_labels(o.batch, false)}, {"real", detail::equal_labels(o.batch, true)}};
  return make_training_net("dcgan", std::move(net), objectives, {.rule = weft::optimizer::adam}, std::move(start));
}

} // namespace kernels
