// SPDX-License-Identifier: BSL-1.0
/// An LSTM over sequences of different lengths: unrolled to the longest, masked where a sequence is over.
#pragma once

#include "weft/workload/training_step.hpp"

namespace weft::zoo {

/// Sizes of an LSTM classifier for sequences of different lengths.
struct dynamic_rnn_options {
  std::uint64_t max_steps = 20;
  std::uint64_t inputs = 1;
  std::uint64_t hidden = 64;
  std::uint64_t classes = 2;
};

/// A BasicLSTMCell unrolled over the steps. In each, where a sequence is over, select ops keep the old state and give
/// zeros as output. A dense layer reads each sequence's last valid output, gathered from all of them; softmax cross
/// entropy. 17,026 parameters with the default sizes. Returns the loss.
/// Source: TensorFlow-Examples, `dynamic_rnn.py`; masking as in `tf.nn.dynamic_rnn` with `sequence_length`.
inline nn::tensor dynamic_rnn_loss(nn::network& net, std::uint64_t batch, const dynamic_rnn_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.max_steps, o.inputs}}, {{batch, o.classes}}, {{batch}}});
  const auto& length = fed[2];
  const auto rows = unstack(fed[0], 1);
  const auto outputs = [&] {
    const auto scope = net.scope("rnn");
    const auto cell = nn::basic_lstm_cell(net, o.inputs, o.hidden);
    auto state = cell.zero_state(batch);
    const auto zeros = net.data("Fill", "zeros", {{batch, o.hidden}});
    std::vector<nn::tensor> shown;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto step = net.scope("step_" + std::to_string(i));
      const auto time = net.data("Const", "time", {});
      const auto over = greater_equal(time, length);
      const auto next = cell.step(rows[i], state);
      shown.push_back(select(over, zeros, next.h));
      const auto c = select(over, state.c, next.c);
      const auto h = select(over, state.h, next.h);
      state = {c, h};
    }
    return shown;
  }();
  const auto by_sequence = transpose(stack(outputs), {1, 0, 2});
  const auto flat = reshape(by_sequence, {batch * o.max_steps, o.hidden});
  const auto numbers = net.data("Range", "range", {{batch}});
  const auto start = numbers * net.data("Const", "mul/y", {});
  const auto last = length - net.data("Const", "sub/y", {});
  const auto relevant = gather(flat, start + last);
  return reduce_mean(softmax_cross_entropy(net.output(nn::dense("out", relevant, o.classes)), fed[1]));
}

/// Its training objective: the loss, with gradient descent. Adds the forward ops to the network.
inline training_task dynamic_rnn_task(nn::network& net, std::uint64_t batch, const dynamic_rnn_options& o = {}) {
  return {{{dynamic_rnn_loss(net, batch, o)}}, {.rule = optimizer::sgd}};
}

/// One training step of it on a batch of sequences.
inline workload dynamic_rnn(std::uint64_t batch = 128, const dynamic_rnn_options& o = {},
                            const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = dynamic_rnn_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
