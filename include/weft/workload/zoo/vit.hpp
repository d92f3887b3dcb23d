// SPDX-License-Identifier: BSL-1.0
/// Vision Transformer: a stack of transformer encoders that reads the patches of an image.
#pragma once

#include "weft/workload/nn/attention.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo/sizes.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace weft::zoo {

/// Sizes of a Vision Transformer; the defaults are those of its base version with patches of 16×16.
struct vit_options {
  std::uint64_t layers = 12;
  std::uint64_t hidden = 768;
  std::uint64_t heads = 12;
  std::uint64_t ffn = 0;          ///< units of a feed-forward layer; 0: four times the hidden ones
  std::uint64_t image_size = 224; ///< height and width, pixels
  std::uint64_t patch_size = 16;  ///< the same of a patch
  std::uint64_t classes = 1000;
  bool dropout = false;
};

template <>
inline constexpr auto sizes_of<vit_options> = std::to_array<named_size<vit_options>>(
  {{"layers", &vit_options::layers, max_repeats},
   {"hidden", &vit_options::hidden},
   {"heads", &vit_options::heads},
   {"ffn", &vit_options::ffn},
   {"image", &vit_options::image_size},
   {"patch", &vit_options::patch_size},
   {"classes", &vit_options::classes},
   {"dropout", &vit_options::dropout}});

/// The versions of the source: 87 and 304 million parameters.
inline constexpr vit_options vit_b_16_sizes{};
inline constexpr vit_options vit_l_16_sizes{.layers = 24, .hidden = 1024, .heads = 16};

namespace detail {

/// A row for each image's class, followed by one for each of its patches, with what is learnt of their positions.
inline nn::tensor vit_embed(const nn::tensor& images, const vit_options& o) {
  auto& net = images.net();
  const auto scope = net.scope("embeddings");
  const auto batch = images.dims()[0], side = o.image_size / o.patch_size;
  const auto patches = nn::conv_layer("patch", images,
                                      {.filters = o.hidden,
                                       .kernel_height = o.patch_size,
                                       .kernel_width = o.patch_size,
                                       .slide = {.stride = o.patch_size, .pad = nn::padding::valid}});
  const auto classes = gather(net.make_variable("class", {1, o.hidden}), net.data("Const", "first", {{batch, 1}}));
  const auto all = nn::concat({classes, nn::reshape(patches, {batch, side * side, o.hidden})}, 1);
  const auto placed = all + net.make_variable("position", {side * side + 1, o.hidden});
  const auto rows = nn::reshape(placed, {batch * (side * side + 1), o.hidden});
  return o.dropout ? nn::dropout("dropout", rows) : rows;
}

} // namespace detail

/// The patches of an image as rows (one convolution that does not overlap), with a row for its class in front; encoder
/// layers (`layer_0/attention/…`, `layer_0/ffn/…`, `layer_1/…`), each of whose two parts is normalised before and added
/// to what went in; a last normalisation, and a dense layer that reads the row of the class (`head/…`). 86,567,656
/// parameters with the default sizes. Returns the loss, the mean cross entropy; the output is the logits.
/// Throws `value_error` for extents of zero, heads that do not divide the hidden units, patches that do not divide the
/// image.
/// Source: Dosovitskiy et al., *An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale*, arXiv
/// 2010.11929; torchvision, `vision_transformer.py`, which drops nothing out by default.
inline nn::tensor vit_loss(nn::network& net, std::uint64_t batch, const vit_options& o = {}) {
  nn::detail::require(o.heads > 0 && o.hidden % o.heads == 0, "vit", "the heads do not divide the hidden units");
  nn::detail::require(o.patch_size > 0 && o.image_size % o.patch_size == 0, "vit",
                      "the patches do not divide the image");
  const auto fed = net.input_pipeline({{{batch, o.image_size, o.image_size, 3}}, {{batch}}});
  const auto dropped = [&o](const nn::tensor& x) { return o.dropout ? nn::dropout("dropout", x) : x; };
  auto x = detail::vit_embed(fed[0], o);
  const nn::attention_options attention{.heads = o.heads, .head_size = o.hidden / o.heads, .dropout = o.dropout};
  for (std::uint64_t i = 0; i < o.layers; ++i) {
    const auto layer = net.scope("layer_" + std::to_string(i));
    const auto seen = nn::layer_norm("attention/norm", x);
    const auto attended = nn::attention("attention", seen, seen, batch, attention);
    {
      const auto scope = net.scope("attention/output");
      x = x + dropped(attended);
    }
    const auto scope = net.scope("ffn");
    const auto hidden = gelu(nn::dense("hidden", nn::layer_norm("norm", x), o.ffn > 0 ? o.ffn : 4 * o.hidden));
    x = x + dropped(nn::dense("output", dropped(hidden), o.hidden));
  }
  const auto scope = net.scope("head");
  const auto classes = gather(nn::layer_norm("norm", x), net.data("Const", "first", {{batch}}));
  const auto logits = net.output(nn::dense("logits", classes, o.classes));
  return reduce_mean(sparse_softmax_cross_entropy(logits, fed[1]));
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task vit_task(nn::network& net, std::uint64_t batch, const vit_options& o = {}) {
  return {{{vit_loss(net, batch, o)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of images.
inline workload vit(std::uint64_t batch = 64, const vit_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = vit_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
