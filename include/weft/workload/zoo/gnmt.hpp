// SPDX-License-Identifier: BSL-1.0
/// GNMT: Google's translation network of stacked LSTM cells with attention, unrolled.
#pragma once

#include "weft/workload/nn/attention.hpp"
#include "weft/workload/training_step.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::zoo {

/// Sizes of a GNMT.
struct gnmt_options {
  std::uint64_t layers = 8;    ///< of the encoder, whose first one reads both ways, and of the decoder
  std::uint64_t units = 1024;
  std::uint64_t length = 20;   ///< words of a sentence, in both languages
  std::uint64_t vocabulary = 32'000;
  bool fused_cell = true;      ///< an LSTMBlockCell per step instead of a dozen ops
};

namespace detail {

class gnmt_builder {
public:
  gnmt_builder(nn::network& net, std::uint64_t batch, const gnmt_options& o) : net_{net}, batch_{batch}, o_{o} {}

  /// The embeddings of the words of each step.
  std::vector<nn::tensor> embed(const nn::tensor& words) {
    const auto scope = net_.scope("embeddings");
    const auto table = net_.make_variable("word", {o_.vocabulary, o_.units});
    return unstack(gather(table, words), 1);
  }

  /// The output of the encoder's last layer at each step.
  std::vector<nn::tensor> encode(std::vector<nn::tensor> sequence) {
    const auto encoder = net_.scope("encoder");
    for (std::uint64_t i = 0; i < o_.layers; ++i) {
      const auto layer = net_.scope(layer_name(i));
      const auto below = sequence;
      if (i == 0) {
        auto backward = sequence;
        std::ranges::reverse(backward);
        backward = run("backward", backward);
        std::ranges::reverse(backward);
        const auto forward = run("forward", sequence);
        for (std::size_t t = 0; t < sequence.size(); ++t) {
          const auto step = net_.scope(step_name(t));
          sequence[t] = nn::concat({forward[t], backward[t]}, 1);
        }
        continue;
      }
      sequence = run("", below);
      for (std::size_t t = 0; i >= 2 && t < sequence.size(); ++t) {
        const auto step = net_.scope(step_name(t));
        sequence[t] = sequence[t] + below[t];
      }
    }
    return sequence;
  }

  /// The output of the decoder's last layer at each step. The first layer's output asks the attention, whose answer
  /// goes to the first layer's next step and to all other layers.
  std::vector<nn::tensor> decode(std::vector<nn::tensor> sequence, const std::vector<nn::tensor>& encoded) {
    const auto decoder = net_.scope("decoder");
    const auto answers = attend(encoded, sequence);
    for (std::uint64_t i = 1; i < o_.layers; ++i) {
      const auto layer = net_.scope(layer_name(i));
      const auto cell = make_cell(2 * o_.units);
      auto state = cell.zero_state(batch_);
      for (std::size_t t = 0; t < sequence.size(); ++t) {
        const auto step = net_.scope(step_name(t));
        state = cell.step(nn::concat({sequence[t], answers[t]}, 1), state);
        sequence[t] = i >= 2 ? state.h + sequence[t] : state.h;
      }
    }
    return sequence;
  }

private:
  static std::string layer_name(std::uint64_t i) { return "layer_" + std::to_string(i); }
  static std::string step_name(std::size_t t) { return "step_" + std::to_string(t); }

  nn::lstm_cell make_cell(std::uint64_t inputs) {
    const auto make = o_.fused_cell ? nn::fused_lstm_cell : nn::basic_lstm_cell;
    return make(net_, inputs, o_.units);
  }

  std::vector<nn::tensor> run(const std::string& direction, std::vector<nn::tensor> sequence) {
    const auto prefix = direction.empty() ? direction : direction + "/";
    const auto cell = [&] {
      if (direction.empty()) {
        return make_cell(sequence.front().dims()[1]);
      }
      const auto scope = net_.scope(direction);
      return make_cell(sequence.front().dims()[1]);
    }();
    auto state = cell.zero_state(batch_);
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const auto step = net_.scope(prefix + step_name(t));
      state = cell.step(sequence[t], state);
      sequence[t] = state.h;
    }
    return sequence;
  }

  /// Runs the first layer of the decoder: `sequence` becomes what it shows; returns what the attention answers.
  std::vector<nn::tensor> attend(const std::vector<nn::tensor>& encoded, std::vector<nn::tensor>& sequence) {
    const auto layer = net_.scope(layer_name(0));
    const auto cell = make_cell(2 * o_.units);
    const auto length = encoded.size();
    const auto [memory, keys, query_weights, score_weights] = [&] {
      struct made {
        nn::tensor memory, keys, query_weights, score_weights;
      };
      const auto scope = net_.scope("attention");
      const auto rows = nn::stack(encoded, 1);
      const auto flat = nn::reshape(rows, {batch_ * length, o_.units});
      const auto projected = nn::dense("memory", flat, o_.units, false);
      const auto shaped = nn::reshape(projected, {batch_, length, o_.units});
      const auto query = net_.make_variable("query/weights", {o_.units, o_.units});
      return made{rows, shaped, query, net_.make_variable("score/weights", {o_.units})};
    }();
    auto state = cell.zero_state(batch_);
    auto answer = net_.data("Fill", "zeros", {{batch_, o_.units}});
    std::vector<nn::tensor> answers;
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const auto step = net_.scope(step_name(t));
      state = cell.step(nn::concat({sequence[t], answer}, 1), state);
      sequence[t] = state.h;
      const auto scope = net_.scope("attention");
      const auto query = nn::reshape(matmul(state.h, query_weights), {batch_, 1, o_.units});
      const auto scores = reduce_sum(tanh(keys + query) * score_weights, {2});
      const auto weights = nn::reshape(softmax(scores), {batch_, 1, length});
      answer = nn::reshape(batch_matmul(weights, memory), {batch_, o_.units});
      answers.push_back(answer);
    }
    return answers;
  }

  nn::network& net_;
  std::uint64_t batch_;
  gnmt_options o_;
};

} // namespace detail

/// An encoder and a decoder of LSTM layers (`encoder/layer_0/forward/step_3/…`, `decoder/layer_5/step_3/…`), unrolled
/// over the words. The encoder's first layer reads both ways; from the third layer on, what went in is added to what a
/// layer shows. The first decoder layer asks the attention (`decoder/layer_0/step_3/attention/…`, a dense layer of 1024
/// and a tanh, after Bahdanau), whose answer all decoder layers read. A dense layer of the size of the vocabulary on
/// all outputs. 280,858,880 parameters with the default sizes. Returns the loss, the cross entropy summed over the
/// words and averaged over the batch; the output is the logits.
/// Sentences are shorter here than the source's, to keep the graph small. Throws `value_error` for extents of zero.
/// Source: Wu et al., *Google's Neural Machine Translation System*, arXiv 1609.08144.
inline nn::tensor gnmt_loss(nn::network& net, std::uint64_t batch, const gnmt_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.length}}, {{batch, o.length}}, {{batch, o.length}}});
  nn::detail::require(o.layers > 0, "gnmt", "needs a layer");
  detail::gnmt_builder build{net, batch, o};
  const auto words = [&] {
    const auto scope = net.scope("encoder");
    return build.embed(fed[0]);
  }();
  const auto encoded = build.encode(words);
  const auto translated = [&] {
    const auto scope = net.scope("decoder");
    return build.embed(fed[1]);
  }();
  const auto shown = build.decode(translated, encoded);
  const auto scope = net.scope("head");
  const auto rows = nn::reshape(nn::concat(shown, 1), {batch * o.length, o.units});
  const auto logits = net.output(nn::dense("softmax", rows, o.vocabulary));
  const auto losses = sparse_softmax_cross_entropy(logits, nn::reshape(fed[2], {batch * o.length}));
  const auto sum = reduce_sum(losses);
  return sum / net.data("Const", "batch_size", {});
}

/// Its training objective: the loss, with Adam on gradients clipped by their global norm. Adds the forward ops to
/// the network.
inline training_task gnmt_task(nn::network& net, std::uint64_t batch, const gnmt_options& o = {}) {
  return {{{gnmt_loss(net, batch, o)}}, {.rule = optimizer::adam, .transform = nn::clip_by_global_norm}};
}

/// One training step of it on a batch of sentences.
inline workload gnmt(std::uint64_t batch = 64, const gnmt_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = gnmt_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
