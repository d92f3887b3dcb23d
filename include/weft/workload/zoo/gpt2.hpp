// SPDX-License-Identifier: BSL-1.0
/// GPT-2: a stack of transformer decoders that predicts the next token.
#pragma once

#include "weft/workload/nn/attention.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo/sizes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace weft::zoo {

/// Sizes of a GPT-2; the defaults are those of its small version.
struct gpt2_options {
  std::uint64_t layers = 12;
  std::uint64_t hidden = 768;
  std::uint64_t heads = 12;
  std::uint64_t ffn = 0;          ///< units of a feed-forward layer; 0: four times the hidden ones
  std::uint64_t length = 1024;    ///< tokens per sequence
  std::uint64_t vocabulary = 50'257;
  std::uint64_t positions = 1024; ///< the longest sequence; 0: 1024, or `length` if that is more
  bool tied = true;               ///< one matrix for embeddings and logits
  bool dropout = true;
  std::uint64_t lora = 0;         ///< rank of matrices beside those to queries and values; 0: none
};

template <>
inline constexpr auto sizes_of<gpt2_options> = std::to_array<named_size<gpt2_options>>(
  {{"layers", &gpt2_options::layers, max_repeats},
   {"hidden", &gpt2_options::hidden},
   {"heads", &gpt2_options::heads},
   {"ffn", &gpt2_options::ffn},
   {"vocabulary", &gpt2_options::vocabulary},
   {"positions", &gpt2_options::positions},
   {"tied", &gpt2_options::tied},
   {"dropout", &gpt2_options::dropout},
   {"lora", &gpt2_options::lora}});

/// The versions of the source: 124, 355, 774 and 1558 million parameters.
inline constexpr gpt2_options gpt2_small_sizes{};
inline constexpr gpt2_options gpt2_medium_sizes{.layers = 24, .hidden = 1024, .heads = 16};
inline constexpr gpt2_options gpt2_large_sizes{.layers = 36, .hidden = 1280, .heads = 20};
inline constexpr gpt2_options gpt2_xl_sizes{.layers = 48, .hidden = 1600, .heads = 25};

/// GPT-3, the same network but for its attention, half of which is sparse in the source and none of it here: 13 and 175
/// billion parameters. The smaller one has 5120 hidden units, as many as its heads have; the source's table says 5140.
/// Source: Brown et al., *Language Models are Few-Shot Learners*, arXiv 2005.14165, table 2.1.
inline constexpr gpt2_options gpt3_13b_sizes{
  .layers = 40, .hidden = 5120, .heads = 40, .length = 2048, .positions = 2048};
inline constexpr gpt2_options gpt3_175b_sizes{
  .layers = 96, .hidden = 12'288, .heads = 96, .length = 2048, .positions = 2048};

/// Those of a GPT-2 whose sizes are given.
inline constexpr gpt2_options gpt2_given_sizes{.positions = 0};

/// The logits of tokens (batch × o.length, or if it `decodes`, one for each sequence after those in a cache).
inline nn::tensor gpt2_logits(nn::network& net, const nn::tensor& read, const gpt2_options& o, bool decodes) {
  nn::detail::require(o.heads > 0 && o.hidden % o.heads == 0, "gpt2", "the heads do not divide the hidden units");
  const auto positions = o.positions > 0 ? o.positions : std::max<std::uint64_t>(1024, o.length);
  nn::detail::require(o.length <= positions, "gpt2", "sequences have at most " + std::to_string(positions) + " tokens");
  const auto batch = read.dims().at(0), length = read.dims().at(1);
  nn::tensor tokens;
  nn::residual_sum x{[&] {
    const auto scope = net.scope("embeddings");
    tokens = net.make_variable("token", {o.vocabulary, o.hidden});
    const auto of_tokens = gather(tokens, read);
    const auto table = net.make_variable("position", {positions, o.hidden});
    const auto of_positions = gather(table, net.data("Const", "positions", {{length}}));
    const auto rows = nn::reshape(of_tokens + of_positions, {batch * length, o.hidden});
    return o.dropout ? nn::dropout("dropout", rows) : rows;
  }()};
  nn::attention_options attention{.heads = o.heads, .head_size = o.hidden / o.heads, .dropout = o.dropout,
                                  .causal = true, .lora = o.lora};
  if (!decodes && net.kernels() == nn::kernel_set::separate) {
    attention.mask = net.data("Const", "mask/past", {{1, 1, length, length}});
  }
  for (std::uint64_t i = 0; i < o.layers; ++i) {
    const auto layer = net.scope("layer_" + std::to_string(i));
    const auto seen = x.layer_norm("attention/norm");
    const auto attended = decodes ? nn::cached_attention("attention", seen, o.length, attention)
                                  : nn::attention("attention", seen, seen, batch, attention);
    {
      const auto scope = net.scope("attention/output");
      x.add(attended, o.dropout);
    }
    const auto scope = net.scope("ffn");
    const auto hidden = gelu(nn::dense("hidden", x.layer_norm("norm"), o.ffn > 0 ? o.ffn : 4 * o.hidden));
    x.add(nn::dense("output", hidden, o.hidden), o.dropout);
  }
  const auto scope = net.scope("head");
  const auto last = x.layer_norm("norm");
  return net.output(o.tied ? matmul(last, tokens, false, true) : nn::dense("logits", last, o.vocabulary, false));
}

/// Embeddings of tokens and positions; decoder layers (`layer_0/attention/…`, `layer_0/ffn/…`, `layer_1/…`), each of
/// whose two parts is normalised before and added to what went in; a last normalisation, and the product with the token
/// embeddings (`head/…`). 124,439,808 parameters with the default sizes. Returns the loss, the mean cross entropy
/// against the next tokens; the output is the logits. The three projections of an attention are products of their own,
/// where the source has one and splits it.
/// Throws `value_error` for extents of zero, heads that do not divide the hidden units, sequences that are too long.
/// Source: Radford, Wu, Child, Luan, Amodei, Sutskever, *Language Models are Unsupervised Multitask Learners*, 2019;
/// `openai/gpt-2`, `model.py`.
inline nn::tensor gpt2_loss(nn::network& net, std::uint64_t batch, const gpt2_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.length}}, {{batch * o.length}}}); // tokens, and the next ones
  const auto logits = gpt2_logits(net, fed[0], o, false);
  const auto scope = net.scope("head");
  return reduce_mean(sparse_softmax_cross_entropy(logits, fed[1]));
}

/// The step that makes the next token of each of `batch` sequences, o.length tokens of which are in a cache when it is
/// done (`nn::cached_attention`). The output is the logits. Throws as above.
inline void gpt2_decode(nn::network& net, std::uint64_t batch, const gpt2_options& o = {}) {
  gpt2_logits(net, net.input_pipeline({{{batch, 1}}})[0], o, true);
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task gpt2_task(nn::network& net, std::uint64_t batch, const gpt2_options& o = {}) {
  return {{{gpt2_loss(net, batch, o)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of sequences.
inline workload gpt2(std::uint64_t batch = 4, const gpt2_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = gpt2_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
