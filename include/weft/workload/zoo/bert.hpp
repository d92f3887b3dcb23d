// SPDX-License-Identifier: BSL-1.0
/// BERT: a stack of transformer encoders, pre-trained on masked words and on pairs of sentences.
#pragma once

#include "weft/workload/nn/attention.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo/sizes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace weft::zoo {

/// Sizes of a BERT; the defaults are those of its base version.
struct bert_options {
  std::uint64_t layers = 12;
  std::uint64_t hidden = 768;
  std::uint64_t heads = 12;
  std::uint64_t ffn = 0;           ///< units of a feed-forward layer; 0: four times the hidden ones
  std::uint64_t length = 128;      ///< tokens per sequence
  std::uint64_t predictions = 0;   ///< masked tokens per sequence; 0: 15 % of the tokens, rounded up
  std::uint64_t vocabulary = 30'522;
  std::uint64_t positions = 512;   ///< the longest sequence; 0: 512, or `length` if that is more
  bool dropout = true;
};

template <>
inline constexpr auto sizes_of<bert_options> = std::to_array<named_size<bert_options>>(
  {{"layers", &bert_options::layers, max_repeats},
   {"hidden", &bert_options::hidden},
   {"heads", &bert_options::heads},
   {"ffn", &bert_options::ffn},
   {"predictions", &bert_options::predictions},
   {"vocabulary", &bert_options::vocabulary},
   {"positions", &bert_options::positions},
   {"dropout", &bert_options::dropout}});

/// The versions of the source: 110 and 340 million parameters.
inline constexpr bert_options bert_base_sizes{};
inline constexpr bert_options bert_large_sizes{.layers = 24, .hidden = 1024, .heads = 16};

/// Those of a BERT whose sizes are given.
inline constexpr bert_options bert_given_sizes{.positions = 0};

namespace detail {

/// Attention and two dense layers, each added to what went in and normalised. Rows: batch × length.
inline nn::tensor bert_layer(const nn::tensor& x, const nn::tensor& mask, std::uint64_t batch, const bert_options& o) {
  auto& net = x.net();
  const auto attended = [&] {
    const nn::attention_options sizes{
      .heads = o.heads, .head_size = o.hidden / o.heads, .dropout = o.dropout, .mask = mask};
    const auto y = nn::attention("attention", x, x, batch, sizes);
    const auto scope = net.scope("attention/output");
    nn::residual_sum sum{x};
    sum.add(y, o.dropout);
    return sum.layer_norm("norm");
  }();
  const auto scope = net.scope("ffn");
  const auto y = nn::dense("output", gelu(nn::dense("hidden", attended, o.ffn > 0 ? o.ffn : 4 * o.hidden)), o.hidden);
  nn::residual_sum sum{attended};
  sum.add(y, o.dropout);
  return sum.layer_norm("norm");
}

/// The sum of the embeddings of words, segments and positions, a row per token, and the matrix of word embeddings.
struct bert_embedding {
  nn::tensor rows;
  nn::tensor words;
};
inline bert_embedding bert_embed(const nn::tensor& words, const nn::tensor& segments, const bert_options& o) {
  auto& net = words.net();
  const auto scope = net.scope("embeddings");
  const auto batch = words.dims()[0];
  const auto table = net.make_variable("word", {o.vocabulary, o.hidden});
  const auto of_words = gather(table, words);
  const auto of_segments = gather(net.make_variable("segment", {2, o.hidden}), segments);
  const auto table_of_positions = net.make_variable("position", {o.positions, o.hidden});
  const auto of_positions = gather(table_of_positions, net.data("Const", "positions", {{o.length}}));
  const auto content = of_words + of_segments;
  auto rows = nn::reshape(content + of_positions, {batch * o.length, o.hidden});
  rows = nn::layer_norm("norm", rows);
  return {o.dropout ? nn::dropout("dropout", rows) : rows, table};
}

} // namespace detail

/// Embeddings; encoder layers (`layer_0/attention/…`, `layer_0/ffn/…`, `layer_1/…`); a head that predicts masked words
/// (`mlm/…`, sharing the word embeddings) and one that judges whether two sentences follow each other (`pooler/…`,
/// `nsp/…`). 110,106,428 parameters with the default sizes. Returns the loss, the sum of both heads' cross entropies;
/// the outputs are both heads' logits.
/// Throws `value_error` for extents of zero, heads that do not divide the hidden units, sequences that are too long.
/// Source: Devlin, Chang, Lee, Toutanova, *BERT*, arXiv 1810.04805; `google-research/bert`, `modeling.py` and
/// `run_pretraining.py`.
inline nn::tensor bert_loss(nn::network& net, std::uint64_t batch, bert_options o = {}) {
  o.positions = o.positions > 0 ? o.positions : std::max<std::uint64_t>(512, o.length);
  nn::detail::require(o.heads > 0 && o.hidden % o.heads == 0, "bert", "the heads do not divide the hidden units");
  nn::detail::require(o.length <= o.positions, "bert",
                      "sequences have at most " + std::to_string(o.positions) + " tokens");
  const auto predictions = o.predictions > 0 ? o.predictions : (o.length * 15 + 99) / 100;
  // words, segments, which tokens are words; where masked words are, which words they were; whether sentences follow
  const auto fed = net.input_pipeline({{{batch, o.length}},
                                       {{batch, o.length}},
                                       {{batch, o.length}},
                                       {{batch * predictions}},
                                       {{batch * predictions}},
                                       {{batch}}});
  const auto embedded = detail::bert_embed(fed[0], fed[1], o);
  const auto mask = [&] {
    const auto scope = net.scope("mask");
    const auto words = nn::reshape(fed[2], {batch, 1, 1, o.length});
    const auto others = net.data("Const", "sub/x", {}) - words;
    return others * net.data("Const", "mul/y", {});
  }();
  auto x = embedded.rows;
  for (std::uint64_t i = 0; i < o.layers; ++i) {
    const auto scope = net.scope("layer_" + std::to_string(i));
    x = detail::bert_layer(x, mask, batch, o);
  }
  const auto of_words = [&] {
    const auto scope = net.scope("mlm");
    const auto masked = gelu(nn::dense("transform", gather(x, fed[3]), o.hidden));
    const auto scores = matmul(nn::layer_norm("norm", masked), embedded.words, false, true);
    const auto logits = net.output(bias_add(scores, net.make_variable("biases", {o.vocabulary})));
    return reduce_mean(sparse_softmax_cross_entropy(logits, fed[4]));
  }();
  const auto firsts = gather(x, net.data("Const", "pooler/first", {{batch}}));
  const auto pooled = tanh(nn::dense("pooler", firsts, o.hidden));
  const auto logits = net.output(nn::dense("nsp", pooled, 2));
  const auto of_pairs = [&] {
    const auto scope = net.scope("nsp");
    return reduce_mean(sparse_softmax_cross_entropy(logits, fed[5]));
  }();
  return of_words + of_pairs;
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task bert_task(nn::network& net, std::uint64_t batch, const bert_options& o = {}) {
  return {{{bert_loss(net, batch, o)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of sequences.
inline workload bert(std::uint64_t batch = 16, const bert_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = bert_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
