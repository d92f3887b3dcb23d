// SPDX-License-Identifier: BSL-1.0
/// The gradients of a network's loss, as ops of the network.
#pragma once

#include "weft/workload/nn/reduce.hpp"

#include <span>
#include <string>
#include <vector>

namespace weft::nn {

namespace detail {

/// Reverse accumulation over the ops that lie between the targets and the loss.
class backward_pass {
public:
  backward_pass(network& net, const tensor& loss, std::span<const tensor> targets, bool colocate,
                std::span<const tensor> frozen)
      : net_{net}, colocate_{colocate}, scope_{net.fresh_name("gradients")}, num_forward_ops_{net.num_ops()},
        is_target_(num_forward_ops_, false), is_frozen_(num_forward_ops_, false), depends_(num_forward_ops_, false),
        arrived_(num_forward_ops_) {
    for (const auto& x : frozen) {
      is_frozen_[x.op()] = true;
    }
    for (const auto& x : targets) {
      is_target_[x.op()] = true;
    }
    for (const op_id v : ids(num_forward_ops_)) {
      depends_[v] = is_target_[v];
      if (!depends_[v] && net[v].op.gradient) {
        const auto& inputs = net[v].op.inputs;
        depends_[v] = std::any_of(inputs.begin(), inputs.end(), [this](const tensor& t) { return depends_[t.op()]; });
      }
    }
    start(loss);
    for (op_id v = loss.op() + 1; v-- > 0;) {
      if (depends_[v] && !is_target_[v] && !arrived_[v].empty()) {
        differentiate(v);
      }
    }
  }

  /// The gradient of a target; no tensor if the loss does not depend on it.
  tensor gradient(const tensor& x) { return arrived_[x.op()].empty() ? tensor{} : accumulate(x.op(), x.output()); }

private:
  void start(const tensor& loss) {
    const auto scope = net_.scope(scope_);
    const auto shape = shape_constant(net_, loss);
    const auto one = net_.constant("Const");
    const auto seed = net_.add_tensor({.type = "Fill", .inputs = {shape, one}, .outputs = {loss.type()}, .work = 0});
    arrive(loss, seed);
  }

  void arrive(const tensor& at, const tensor& gradient) {
    auto& outputs = arrived_[at.op()];
    outputs.resize(net_[at.op()].op.outputs.size());
    outputs[at.output()].push_back(gradient);
  }

  /// The sum of what arrived at one output.
  tensor accumulate(op_id v, std::uint32_t output) {
    const auto& terms = arrived_[v][output];
    if (terms.size() < 2) {
      return terms.empty() ? tensor{} : terms.front();
    }
    const auto scope = net_.scope(scope_);
    const auto sum = add_n(terms);
    if (net_.bookkeeping()) {
      net_.colocate(terms.front().op(), sum.op());
    }
    return sum;
  }

  void differentiate(op_id v) {
    std::vector<tensor> dy;
    for (std::uint32_t i = 0; i < arrived_[v].size(); ++i) {
      dy.push_back(accumulate(v, i));
    }
    const auto& forward = net_[v].op;
    std::vector<bool> wanted;
    for (const auto& x : forward.inputs) { // TensorFlow computes all the others, and its tuple barriers keep them alive
      wanted.push_back(depends_[x.op()] || (net_.bookkeeping() && !is_frozen_[x.op()]));
    }
    const auto scope = net_.scope(scope_ + "/" + forward.name + "_grad");
    const auto first = static_cast<op_id>(net_.num_ops());
    auto gradients = forward.gradient({net_, v, dy, wanted});
    const auto given = std::count_if(gradients.begin(), gradients.end(), [](const tensor& t) { return bool{t}; });
    if (net_.bookkeeping() && given > 1) {
      add_barrier(gradients);
    }
    for (op_id made = first; colocate_ && made < net_.num_ops(); ++made) {
      net_.colocate(v, made);
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (const auto& x = forward.inputs[i]; gradients[i] && depends_[x.op()]) {
        require(gradients[i].dims() == x.dims(), "gradient",
                "of '" + forward.name + "' for input " + std::to_string(i) + " has shape " + text(gradients[i].dims()) +
                  " instead of " + text(x.dims()));
        arrive(x, gradients[i]);
      }
    }
  }

  /// TensorFlow releases the gradients of one op only when all are there (`GATE_OP`).
  void add_barrier(std::vector<tensor>& gradients) {
    const auto scope = net_.scope("tuple");
    const op_id barrier = net_.add({.type = "NoOp", .name = "group_deps"});
    for (const auto& g : gradients) {
      if (g) {
        net_.add_control(g.op(), barrier);
      }
    }
    for (auto& g : gradients) {
      if (g) {
        const auto released =
          net_.add_tensor({.type = "Identity", .inputs = {g}, .outputs = {g.type()}, .name = "control_dependency"});
        net_.add_control(barrier, released.op());
        net_.colocate(g.op(), released.op());
        g = released;
      }
    }
  }

  network& net_;
  bool colocate_;
  std::string scope_; // another one for each loss
  std::size_t num_forward_ops_;
  std::vector<bool> is_target_;
  std::vector<bool> is_frozen_;
  std::vector<bool> depends_;                             // whether a target influences the op
  std::vector<std::vector<std::vector<tensor>>> arrived_; // gradients per op and output
};

} // namespace detail

/// Adds to the network what computes the gradient of a scalar with respect to each of some tensors, and returns these
/// gradients; no tensor where the loss does not depend on one. Where a tensor has several consumers, an AddN op sums
/// their gradients. Gradients of what is `frozen` are not made, not even beside others. Complexity: O(n + m) ops.
/// Source: TensorFlow 1.x, `tf.gradients`.
inline std::vector<tensor> gradients(network& net, const tensor& loss, std::span<const tensor> with_respect_to,
                                     bool colocate = false, std::span<const tensor> frozen = {}) {
  detail::require(loss && loss.elements() == 1, "gradients", "the loss must be a scalar; take its mean first");
  detail::backward_pass pass{net, loss, with_respect_to, colocate, frozen};
  std::vector<tensor> result;
  for (const auto& x : with_respect_to) {
    result.push_back(pass.gradient(x));
  }
  return result;
}

} // namespace weft::nn
