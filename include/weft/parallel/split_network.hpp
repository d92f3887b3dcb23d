// SPDX-License-Identifier: BSL-1.0
/// The axes of the ops of a network.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/workload/nn/network.hpp"
#include "weft/ops/axes.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::parallel {

namespace detail {

class split_model_builder {
public:
  split_model_builder(const nn::network& net, const workload& w, std::span<const op_id> origin)
      : net_{net}, w_{w}, origin_{origin}, state_dims_(w.num_ops()) {}

  split_model make() {
    number_.assign(net_.num_ops(), none);
    for (const op_id v : ids(origin_.size())) { // copies, such as of what is made again, come after what they are of
      number_[origin_[v]] = number_[origin_[v]] == none ? v : number_[origin_[v]];
    }
    find_state();
    split_model m{&w_, std::vector<split_axes>(w_.num_ops()), std::vector<bool>(w_.num_ops(), false),
                  std::vector<bool>(w_.num_ops(), false)};
    for (const auto& x : net_.variables()) {
      if (number_[x.op] != none) {
        m.is_parameter[number_[x.op]] = true;
      }
    }
    for (const op_id v : ids(w_.num_ops())) {
      if (v < origin_.size()) {
        m.axes[v] = axes_of_op(v);
        m.is_state[v] = spec(v).type == "VariableV2";
      }
      m.axes[v].inputs.resize(w_.inputs(v).size());
      m.axes[v].outputs.resize(w_.outputs(v).size());
    }
    return m;
  }

private:
  const nn::op_spec& spec(op_id v) const { return net_[origin_[v]].op; }
  bool is_state(op_id v) const { return !state_dims_[v].empty(); }
  /// True if t is a value of the network, or a copy of it.
  template <class Value>
  bool is(tensor_id t, const Value& value) const {
    const op_id from = w_.producer(t);
    return from < origin_.size() && origin_[from] == value.op() && t - *w_.outputs(from).begin() == value.output();
  }

  /// Variables have the dimensions of the value that is read, their optimiser's state those of the gradient.
  void find_state() {
    for (const auto& x : net_.variables()) {
      if (const op_id v = number_[x.op]; v != none) {
        state_dims_[v] = x.value.dims();
      }
    }
    for (const op_id v : ids(origin_.size())) {
      const auto& op = spec(v);
      if (!is_update(op.type)) {
        continue;
      }
      const auto& dims = op.inputs.back().dims();
      for (const auto& t : op.inputs) {
        const op_id from = number_[t.op()];
        const bool as_large = net_[t.op()].op.resident_bytes == 4 * nn::element_count(dims);
        if (net_[t.op()].op.type == "VariableV2" && as_large && state_dims_[from].empty()) {
          state_dims_[from] = dims;
        }
      }
    }
  }

  split_axes axes_of_op(op_id v) const {
    const auto& op = spec(v);
    std::vector<weft::ops::shape> inputs, outputs;
    for (const auto& t : op.inputs) {
      const op_id from = number_[t.op()];
      inputs.push_back(is_state(from) ? state_dims_[from] : t.dims());
    }
    for (const auto& t : op.outputs) {
      outputs.push_back(t.dims);
    }
    auto found = ops::axes_of(op.type, op.axes, inputs, outputs);
    if (is_state(v)) { // any of its dimensions
      found = {};
      found.extents = state_dims_[v];
      found.outputs.emplace_back(state_dims_[v].size());
      std::iota(found.outputs[0].begin(), found.outputs[0].end(), 0u);
    } else if (is_update(op.type) && !found.extents.empty()) { // state as the gradient
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        if (is_state(number_[op.inputs[k].op()]) && inputs[k] == inputs.back()) {
          found.inputs[k] = found.inputs.back();
        }
      }
    }
    split_axes a{.extents = std::move(found.extents)};
    a.terms = inputs_with_terms(v);
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(axes_of_input(v, t, found.inputs));
    }
    for (std::size_t k = 0; k < w_.outputs(v).size(); ++k) {
      a.outputs.push_back(k < found.outputs.size() ? found.outputs[k] : std::vector<std::uint32_t>{});
    }
    return a;
  }

  /// Sums take terms of all their inputs, what only moves numbers those of the first one.
  std::vector<bool> inputs_with_terms(op_id v) const {
    const auto& op = spec(v);
    const bool sums = op.type == "Add" || op.type == "AddN" || op.type == "Neg" || op.type == "Sub";
    const bool moves = op.type == "Identity" || op.type == "Reshape" || op.type == "Transpose";
    if (!(sums || moves) || op.inputs.empty()) {
      return {};
    }
    std::vector<bool> terms;
    for (const tensor_id t : w_.inputs(v)) {
      terms.push_back(w_.bytes(t) > 0 && (sums || is(t, op.inputs.front())));
    }
    return terms;
  }

  /// The axes of a tensor that the op may name twice: where it does not agree with itself, it needs the whole.
  std::vector<std::uint32_t> axes_of_input(op_id v, tensor_id t,
                                           const std::vector<std::vector<std::uint32_t>>& by_operand) const {
    std::vector<std::uint32_t> axes;
    bool first = true;
    const auto& op = spec(v);
    for (std::size_t k = 0; k < op.inputs.size() && k < by_operand.size(); ++k) {
      if (!is(t, op.inputs[k])) {
        continue;
      }
      if (first) {
        axes = by_operand[k];
      }
      for (std::size_t d = 0; d < axes.size(); ++d) {
        axes[d] = axes[d] == by_operand[k][d] ? axes[d] : std::uint32_t{none};
      }
      first = false;
    }
    return axes;
  }

  const nn::network& net_;
  const workload& w_;
  std::span<const op_id> origin_;
  std::vector<op_id> number_;
  std::vector<nn::extents> state_dims_; ///< by op; empty: it is no state
};

} // namespace detail

/// The axes of a workload that was built of a network: `origin` has the network's op of each of its first ops, several
/// of which may be copies of one; further ones, and what nobody knows how to split, stay whole. Complexity: linear in
/// dimensions.
inline split_model make_split_model(const nn::network& net, const workload& w, std::span<const op_id> origin) {
  return detail::split_model_builder{net, w, origin}.make();
}

} // namespace weft::parallel
