// SPDX-License-Identifier: BSL-1.0
/// A language model for the Penn Treebank: words, stacked LSTM cells, the next word.
#pragma once

#include "weft/workload/training_step.hpp"

#include <string>
#include <vector>

namespace weft::zoo {

/// Sizes of the language model; the defaults are those of its small version.
struct ptb_lstm_options {
  std::uint64_t steps = 20;  ///< words per sequence
  std::uint64_t layers = 2;  ///< LSTM cells on top of each other
  std::uint64_t hidden = 200; ///< units of a cell, and numbers per word
  std::uint64_t vocabulary = 10'000;
  bool dropout = false;    ///< on the inputs of all cells and on what the last one shows
  bool fused_cell = false; ///< an LSTMBlockCell per step instead of a dozen ops
};

/// The versions of the source: 4,651,600, 19,775,200 and 66,022,000 parameters.
inline constexpr ptb_lstm_options ptb_small{};
inline constexpr ptb_lstm_options ptb_medium{.steps = 35, .hidden = 650, .dropout = true};
inline constexpr ptb_lstm_options ptb_large{.steps = 35, .hidden = 1500, .dropout = true};

/// Each word's row of an embedding matrix is gathered; the sequence goes through the cells, unrolled over the steps;
/// a dense layer of the size of the vocabulary on all outputs; softmax cross entropy against the next words, summed
/// over the steps and averaged over the batch. 4,651,600 parameters with the default sizes. Returns the loss.
/// The gradient of the embedding is one dense matrix. Throws `value_error` for extents of zero.
/// Source: Zaremba, Sutskever, Vinyals, *Recurrent Neural Network Regularization*, arXiv 1409.2329; TensorFlow
/// tutorial, `ptb_word_lm.py`.
inline nn::tensor ptb_lstm_loss(nn::network& net, std::uint64_t batch, const ptb_lstm_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.steps}}, {{batch, o.steps}}});
  const auto dropped = [&o](const std::string& name, const nn::tensor& x) {
    return o.dropout ? nn::dropout(name, x) : x;
  };
  const auto embedding = net.make_variable("embedding", {o.vocabulary, o.hidden});
  auto sequence = unstack(dropped("dropout", gather(embedding, fed[0])), 1);
  for (std::uint64_t layer = 0; layer < o.layers; ++layer) {
    const auto scope = net.scope("layer" + std::to_string(layer));
    const auto make_cell = o.fused_cell ? nn::fused_lstm_cell : nn::basic_lstm_cell;
    const auto cell = make_cell(net, o.hidden, o.hidden);
    auto state = cell.zero_state(batch);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const auto step = net.scope("step_" + std::to_string(i));
      state = cell.step(sequence[i], state);
      sequence[i] = dropped("dropout", state.h);
    }
  }
  const auto outputs = nn::reshape(nn::concat(sequence, 1), {batch * o.steps, o.hidden});
  const auto logits = net.output(nn::dense("softmax", outputs, o.vocabulary));
  const auto losses = sparse_softmax_cross_entropy(logits, nn::reshape(fed[1], {batch * o.steps}));
  const auto sum = reduce_sum(losses);
  return sum / net.data("Const", "batch_size", {});
}

/// Its training objective: the loss, with gradient descent on gradients clipped by their global norm. Adds the
/// forward ops to the network.
inline training_task ptb_lstm_task(nn::network& net, std::uint64_t batch, const ptb_lstm_options& o = {}) {
  return {{{ptb_lstm_loss(net, batch, o)}}, {.rule = optimizer::sgd, .transform = nn::clip_by_global_norm}};
}

/// One training step of it on a batch of sequences.
inline workload ptb_lstm(std::uint64_t batch = 20, const ptb_lstm_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = ptb_lstm_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
