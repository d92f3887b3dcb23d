// SPDX-License-Identifier: BSL-1.0
/// Small recurrent networks.
#pragma once

#include "kernels/networks.hpp"

namespace kernels {

/// A language model: predicts a class after each step of a sequence.
struct lstm_options {
  bool fused = false; ///< one op per step and layer instead of a dozen
  std::uint64_t batch = 20;
  std::uint64_t steps = 20;
  std::uint64_t layers = 2;
  std::uint64_t hidden = 200; ///< also the width of the input
  std::uint64_t classes = 128;
  weft::nn::network_options lowering = {};
};

/// Layers of LSTM cells, unrolled; layer l at step t needs layer l - 1 at step t and layer l at step t - 1. Sizes as
/// in the small model of Zaremba, Sutskever, Vinyals, *Recurrent Neural Network Regularization*, arXiv 1409.2329,
/// with a smaller vocabulary; with Adam.
inline training_net lstm(const lstm_options& o = {}) {
  auto net = new_network(o.lowering);
  const auto fed = net->input_pipeline({{{o.steps, o.batch, o.hidden}}, {{o.steps * o.batch, o.classes}}});
  auto rows = weft::nn::unstack(fed[0], 0);
  for (std::uint64_t layer = 0; layer < o.layers; ++layer) {
    const auto arithmetic = o.fused ? weft::nn::fused_lstm_step : weft::nn::basic_lstm_step;
    const auto name = "layer" + std::to_string(layer);
    const weft::nn::lstm_cell cell{*net, o.hidden, o.hidden, name, arithmetic};
    auto state = cell.zero_state(o.batch);
    for (auto& x : rows) {
      const auto scope = net->scope(name);
      state = cell.step(x, state);
      x = state.h;
    }
  }
  const auto outputs = weft::nn::reshape(weft::nn::concat(rows, 0), {o.steps * o.batch, o.hidden});
  const auto loss = reduce_mean(softmax_cross_entropy(weft::nn::dense("out", outputs, o.classes), fed[1]));
  return make_training_net(o.fused ? "lstm_fused" : "lstm", std::move(net), {{loss}}, {.rule = weft::optimizer::adam},
                           {.learning_rate = 0.002f});
}

} // namespace kernels
