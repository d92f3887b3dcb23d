// SPDX-License-Identifier: BSL-1.0
/// Optimisers: the ops that update a network's variables from their gradients, and gradient clipping.
#pragma once

#include "weft/workload/nn/loss.hpp"
#include "weft/workload/nn/reduce.hpp"
#include "weft/workload/nn/shape_ops.hpp"
#include "weft/workload/optimizer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weft::nn {
namespace detail {

inline std::vector<const char*> hyperparameters(optimizer rule) {
  switch (rule) {
  case optimizer::sgd: return {"learning_rate"};
  case optimizer::momentum: return {"learning_rate", "momentum"};
  case optimizer::rmsprop: return {"learning_rate", "decay", "momentum", "epsilon"};
  case optimizer::adam: break;
  }
  return {"learning_rate", "beta1", "beta2", "epsilon"};
}

inline tensor reference_to(network& net, op_id v) {
  return {net, v, 0};
}

/// Adam's β₁ᵗ and β₂ᵗ: scalars that live with the first variable and advance when all updates are done.
class beta_powers {
public:
  beta_powers(network& net, op_id first_variable) : net_{net} {
    for (const char* name : {"beta1_power", "beta2_power"}) {
      const op_id state = net.add_state(name, 4);
      const op_id read = net.add({.type = "Identity",
                                  .inputs = {reference_to(net, state)},
                                  .outputs = {{}},
                                  .name = net[state].op.name + "/read"});
      net.colocate(first_variable, state);
      net.colocate(first_variable, read);
      state_.push_back(reference_to(net, state));
      value_.push_back(reference_to(net, read));
    }
  }
  const std::vector<tensor>& values() const { return value_; }

  std::vector<op_id> advance(const std::vector<op_id>& updates, const std::vector<tensor>& betas) const {
    std::vector<op_id> done;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      const auto after = net_.after(updates);
      const auto next = value_[i] * betas[i];
      done.push_back(net_.add({.type = "Assign", .inputs = {state_[i], next}, .outputs = {{{2}, 4}}}));
      net_.colocate(state_[i].op(), next.op());
      net_.colocate(state_[i].op(), done.back());
    }
    return done;
  }

private:
  network& net_;
  std::vector<tensor> state_;
  std::vector<tensor> value_;
};

/// One update op per variable that has a gradient, with its slot variables, and a final op that waits for them.
inline op_id add_updates(network& net, const std::vector<std::pair<variable, tensor>>& gradients, optimizer rule) {
  const auto traits = cost_of(rule);
  const std::string name = traits.name;
  std::vector<tensor> shared;
  std::vector<tensor> betas;
  std::vector<beta_powers> powers;
  if (rule == optimizer::adam) {
    powers.emplace_back(net, gradients.front().first.op);
    shared = powers.front().values();
  }
  for (const char* h : hyperparameters(rule)) {
    shared.push_back(net.data("Const", name + "/" + h, {}));
  }
  std::vector<op_id> updates;
  for (const auto& [x, gradient] : gradients) {
    const auto variable_name = net[x.op].op.name;
    op_spec update{.type = traits.update_type,
                   .inputs = {x.ref},
                   .outputs = {{{2}, 4}},
                   .work = traits.flop_per_parameter * flop(x.value.elements()),
                   .name = name + "/update_" + variable_name + "/" + traits.update_type};
    for (std::size_t i = 0; i < traits.slots; ++i) {
      const op_id slot = net.add_state(variable_name + "/" + name, x.value.bytes());
      net.colocate(x.op, slot);
      update.inputs.push_back(reference_to(net, slot));
    }
    update.inputs.insert(update.inputs.end(), shared.begin(), shared.end());
    update.inputs.push_back(gradient);
    updates.push_back(net.add(std::move(update)));
    net.colocate(x.op, updates.back());
  }
  auto awaited = updates;
  if (rule == optimizer::adam) {
    const auto scope = net.scope(name);
    const auto advanced = powers.front().advance(updates, {shared[3], shared[4]});
    awaited.insert(awaited.end(), advanced.begin(), advanced.end());
  }
  awaited.insert(awaited.end(), net.updates().begin(), net.updates().end());
  const op_id all = net.add({.type = "NoOp", .name = name});
  for (const op_id v : awaited) {
    net.add_control(v, all);
  }
  return all;
}

} // namespace detail

/// Scales all gradients by one number, so that their joint Euclidean norm is at most a constant: a
/// `training_options::transform`. FLOP: 3 per element, and some for the norm.
/// Source: Pascanu, Mikolov, Bengio, *On the difficulty of training recurrent neural networks*, ICML 2013;
/// `tf.clip_by_global_norm`.
inline std::vector<tensor> clip_by_global_norm(std::vector<tensor> gradients) {
  auto& net = gradients.front().net();
  const auto scope = net.scope("clip_by_global_norm");
  std::vector<tensor> squares;
  for (const auto& g : gradients) {
    squares.push_back(l2_loss(g));
  }
  const auto two = net.data("Const", "mul/y", {});
  const auto norm = detail::elementwise("Sqrt", {reduce_sum(stack(squares)) * two}, {}, {}, "global_norm");
  const auto limit = net.data("Const", "clip_norm", {});
  const auto one = net.data("Const", "truediv/x", {});
  const auto inverse = one / norm;
  const auto scale = limit * detail::elementwise("Minimum", {inverse, one / limit}, {});
  for (auto& g : gradients) {
    g = g * scale;
  }
  return gradients;
}

} // namespace weft::nn
