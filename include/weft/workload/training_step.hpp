// SPDX-License-Identifier: BSL-1.0
/// Training steps: of a network as TensorFlow 1.x would run it (gradients, their accumulation, updates), and of any
/// forward workload (graph_training_step.hpp).
#pragma once

#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/nn/gradients.hpp"
#include "weft/workload/nn/layers.hpp"
#include "weft/workload/nn/loss.hpp"
#include "weft/workload/nn/lstm.hpp"
#include "weft/workload/nn/optimizer.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Something that a training step makes smaller, and what it changes for that.
struct training_objective {
  nn::tensor loss;                        ///< a scalar
  std::vector<nn::tensor> variables = {}; ///< values of the variables to change; empty: all trainable ones
};

/// Gets the gradients of one objective and returns as many of the same shapes, e.g. `nn::clip_by_global_norm`.
using gradient_transform = std::function<std::vector<nn::tensor>(std::vector<nn::tensor>)>;

/// Options of making a training step of a network.
struct training_options {
  optimizer rule = optimizer::adam;
  bool colocate_gradients = false;   ///< gradient ops run where their forward op runs (`colocate_gradients_with_ops`)
  gradient_transform transform = {}; ///< what happens to gradients before the updates; empty: nothing
  std::vector<nn::tensor> frozen = {}; ///< values of variables that no objective changes
};

/// The objectives that a network is trained for, and options.
struct training_task {
  std::vector<training_objective> objectives;
  training_options options = {};
};

namespace nn::detail {

/// The variables that an objective changes, with their gradients.
inline std::vector<std::pair<variable, tensor>> trained_gradients(network& net, const training_objective& o,
                                                                  const training_options& options) {
  const auto contains = [](const std::vector<tensor>& list, const tensor& t) {
    return std::find(list.begin(), list.end(), t) != list.end();
  };
  std::vector<variable> chosen;
  std::size_t num_listed = 0;
  for (const auto& x : net.variables()) {
    const bool listed = contains(o.variables, x.value);
    num_listed += listed ? 1 : 0;
    if ((o.variables.empty() ? x.trainable : listed) && !contains(options.frozen, x.value)) {
      chosen.push_back(x);
    }
  }
  require(num_listed == o.variables.size(), "training_step",
          "an objective lists something that is not the value of a variable of the network, or lists it twice");
  std::vector<tensor> values;
  for (const auto& x : chosen) {
    values.push_back(x.value);
  }
  const auto all = gradients(net, o.loss, values, options.colocate_gradients, options.frozen);
  std::vector<variable> trained;
  std::vector<tensor> given;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]) {
      trained.push_back(chosen[i]);
      given.push_back(all[i]);
    }
  }
  require(!trained.empty(), "training_step",
          std::string{"the loss depends on no trainable variable"} +
            (options.frozen.empty() ? "" : " that is not frozen"));
  if (options.transform) {
    given = options.transform(std::move(given));
    require(given.size() == trained.size(), "training_step", "the gradient transform lost or added a gradient");
  }
  std::vector<std::pair<variable, tensor>> result;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    require(given[i].dims() == trained[i].value.dims(), "training_step", "the gradient transform changed a shape");
    result.emplace_back(trained[i], given[i]);
  }
  return result;
}

} // namespace nn::detail

/// The workload of one training step, and per op of it the op of the network that it came from: the forward ops, per
/// objective the gradients of its loss, one update op per variable that it changes, and an op that waits for all its
/// updates. All losses are those of the parameters before the step. A variable, its read, its slot variables and its
/// update are colocated. Initialisers are not part of a step. Adds the ops to the network as well.
/// Throws `value_error` if a loss is not a scalar or depends on none of its variables.
/// Complexity: O(k (n + m)) for k objectives.
/// ```
/// const training_objective objectives[] = {{d_loss, discriminator_variables}, {g_loss, generator_variables}};
/// const auto [step, origin] = training_step_with_origins(net, objectives);
/// net[origin[0]].op.outputs; // the shapes of what the step's first op makes
/// ```
inline nn::built_workload training_step_with_origins(nn::network& net, std::span<const training_objective> objectives,
                                                     const training_options& options = {}) {
  std::vector<op_id> roots;
  for (const auto& o : objectives) {
    const auto trained = nn::detail::trained_gradients(net, o, options);
    roots.push_back(nn::detail::add_updates(net, trained, options.rule));
    roots.push_back(o.loss.op());
  }
  return net.build_with_origins(roots);
}

/// The same workload alone.
inline workload training_step(nn::network& net, std::span<const training_objective> objectives,
                              const training_options& options = {}) {
  return training_step_with_origins(net, objectives, options).graph;
}

/// One training step that changes all trainable variables to make one loss smaller.
/// ```
/// nn::network net;
/// const auto batch = net.input_pipeline({{{64, 784}}, {{64, 10}}}); // images and labels
/// const auto hidden = relu(nn::dense("hidden", batch[0], 500));
/// const auto loss = reduce_mean(softmax_cross_entropy(nn::dense("out", hidden, 10), batch[1]));
/// const workload step = training_step(net, loss);
/// ```
inline workload training_step(nn::network& net, const nn::tensor& loss, const training_options& options = {}) {
  const training_objective objectives[] = {{loss}};
  return training_step(net, objectives, options);
}

/// The workload of the forward ops that `outputs` depend on.
inline workload inference(const nn::network& net, std::span<const nn::tensor> outputs) {
  std::vector<op_id> roots;
  for (const auto& t : outputs) {
    roots.push_back(t.op());
  }
  return net.build(roots);
}

/// The workload of the forward ops that the outputs depend on which the network marked (`nn::network::output`). Make
/// the network with `{.training = false}`, so that nothing is dropped.
inline workload inference(const nn::network& net) {
  return inference(net, net.outputs());
}

} // namespace weft
