// SPDX-License-Identifier: BSL-1.0
/// An LSTM over a sequence of fixed length: the rows of an image, one per step.
#pragma once

#include "weft/workload/training_step.hpp"

namespace weft::zoo {

/// Sizes of an LSTM classifier.
struct lstm_options {
  std::uint64_t steps = 28;
  std::uint64_t inputs = 28;
  std::uint64_t hidden = 128;
  std::uint64_t classes = 10;
};

/// A BasicLSTMCell unrolled over the steps, kernel and bias shared, and a dense layer on the last output; softmax cross
/// entropy. 81,674 parameters with the default sizes. Returns the loss.
/// Source: TensorFlow-Examples, `recurrent_network.py`.
inline nn::tensor lstm_loss(nn::network& net, std::uint64_t batch, const lstm_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.steps, o.inputs}}, {{batch, o.classes}}});
  const auto rows = unstack(fed[0], 1);
  const auto output = [&] {
    const auto scope = net.scope("lstm");
    const auto cell = nn::basic_lstm_cell(net, o.inputs, o.hidden);
    auto state = cell.zero_state(batch);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto step = net.scope("step_" + std::to_string(i));
      state = cell.step(rows[i], state);
    }
    return state.h;
  }();
  return reduce_mean(softmax_cross_entropy(net.output(nn::dense("out", output, o.classes)), fed[1]));
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task lstm_task(nn::network& net, std::uint64_t batch, const lstm_options& o = {}) {
  return {{{lstm_loss(net, batch, o)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of sequences.
inline workload lstm(std::uint64_t batch = 128, const lstm_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = lstm_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
