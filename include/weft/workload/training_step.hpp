// SPDX-License-Identifier: BSL-1.0
/// Expands a network to the training step that TensorFlow 1.x would run: gradients, their accumulation, updates.
#pragma once

#include "weft/workload/nn/gradients.hpp"
#include "weft/workload/nn/layers.hpp"
#include "weft/workload/nn/optimizer.hpp"

#include <span>
#include <utility>
#include <vector>

namespace weft {

/// How a network becomes a training step.
struct training_options {
  optimizer rule = optimizer::adam;
  bool colocate_gradients = false; ///< gradient ops run where their forward op runs (`colocate_gradients_with_ops`)
};

/// The workload of one training step: the forward ops, the gradients of the loss, one update op per trainable
/// variable, and an op that waits for all updates. A variable, its read, its slot variables and its update are
/// colocated. Initialisers are not part of a step. Adds the ops to the network as well.
/// Throws `value_error` if the loss is not a scalar or depends on no variable.
/// ```
/// nn::network net;
/// const auto batch = net.input_pipeline({{{64, 784}}, {{64, 10}}}); // images and labels
/// const auto hidden = relu(nn::dense("hidden", batch[0], 500));
/// const auto loss = reduce_mean(softmax_cross_entropy(nn::dense("out", hidden, 10), batch[1]));
/// const workload step = training_step(net, loss);
/// ```
inline workload training_step(nn::network& net, const nn::tensor& loss, const training_options& options = {}) {
  std::vector<nn::tensor> parameters;
  for (const auto& x : net.variables()) {
    parameters.push_back(x.value);
  }
  const auto gradients = nn::gradients(net, loss, parameters, options.colocate_gradients);
  std::vector<std::pair<nn::variable, nn::tensor>> trained;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (net.variables()[i].trainable && gradients[i]) {
      trained.emplace_back(net.variables()[i], gradients[i]);
    }
  }
  nn::detail::require(!trained.empty(), "training_step", "the loss depends on no trainable variable");
  const op_id done = nn::detail::add_updates(net, trained, options.rule);
  const op_id roots[] = {done, loss.op()};
  return net.build(roots);
}

/// The workload of the forward ops that `outputs` depend on.
inline workload inference(const nn::network& net, std::span<const nn::tensor> outputs) {
  std::vector<op_id> roots;
  for (const auto& t : outputs) {
    roots.push_back(t.op());
  }
  return net.build(roots);
}

} // namespace weft
