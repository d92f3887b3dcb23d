// SPDX-License-Identifier: BSL-1.0
/// The axes of the ops of a model's graph.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/model/graph.hpp"
#include "weft/ops/axes.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::parallel {

namespace detail {

class split_model_builder {
public:
  split_model_builder(const model_graph& g, const workload& w, std::span<const op_id> origin)
      : g_{g}, w_{w}, origin_{origin} {}

  split_model make() {
    count_readers();
    split_model m{&w_, std::vector<split_axes>(w_.num_ops()), std::vector<bool>(w_.num_ops(), false),
                  std::vector<bool>(w_.num_ops(), false)};
    std::vector<bool> seen(g_.num_ops(), false); // copies, such as of what is made again, come after what they are of
    for (const op_id v : ids(w_.num_ops())) {
      if (v < origin_.size()) {
        m.axes[v] = axes_of_op(v);
        m.is_state[v] = is_variable(origin_[v]);
        m.is_parameter[v] = !seen[origin_[v]] && role_of(origin_[v]) == tensor_role::parameter;
        seen[origin_[v]] = true;
      }
      m.axes[v].inputs.resize(w_.inputs(v).size());
      m.axes[v].outputs.resize(w_.outputs(v).size());
    }
    return m;
  }

private:
  using shapes = std::vector<ops::shape>;

  const model_graph::op& op_of(op_id v) const { return g_[origin_[v]]; }
  tensor_role role_of(op_id of_graph) const {
    const auto outputs = g_.outputs(of_graph);
    return outputs.empty() ? tensor_role::computed : g_.role(*outputs.begin());
  }
  bool is_variable(op_id of_graph) const { return role_of(of_graph) != tensor_role::computed; }
  /// True if t is a tensor of the graph, or a copy of it.
  bool is(tensor_id t, tensor_id of_graph) const {
    const op_id from = w_.producer(t);
    return of_graph != none && from < origin_.size() && origin_[from] == g_.producer(of_graph) &&
           t - *w_.outputs(from).begin() == of_graph - *g_.outputs(origin_[from]).begin();
  }
  ops::shape shape_of(tensor_id of_graph) const {
    const auto& dims = g_.dims(of_graph);
    return {dims.begin(), dims.end()};
  }

  split_axes axes_of_op(op_id v) const {
    const auto& op = op_of(v);
    shapes inputs, outputs;
    for (const tensor_id t : op.inputs) {
      inputs.push_back(t != none ? shape_of(t) : ops::shape{});
    }
    for (const tensor_id t : g_.outputs(origin_[v])) {
      outputs.push_back(shape_of(t));
    }
    const auto text = op.texts.find("axes");
    const auto expression = text == op.texts.end() ? std::string_view{} : std::string_view{text->second};
    const bool holds = is_variable(origin_[v]);
    auto found = holds ? ops::axes{} : ops::axes_of(op.type, expression, inputs, outputs);
    if (holds) { // any of its dimensions
      found.extents = outputs[0];
      found.outputs.emplace_back(outputs[0].size());
      std::iota(found.outputs[0].begin(), found.outputs[0].end(), 0u);
    } else if (is_update(op.type) && !found.extents.empty()) { // state as the gradient
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        const op_id from = op.inputs[k] != none ? g_.producer(op.inputs[k]) : op_id{none};
        if (from != none && is_variable(from) && inputs[k] == inputs.back()) {
          found.inputs[k] = found.inputs.back();
        }
      }
    }
    split_axes a{.extents = std::move(found.extents)};
    if (!holds && w_.resident_bytes(v) > 0) {
      a.resident_parts = resident_parts(v, found.inputs, a.extents.size());
    }
    a.terms = inputs_with_terms(v);
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(axes_of_input(v, t, found.inputs));
    }
    for (std::size_t k = 0; k < w_.outputs(v).size(); ++k) {
      a.outputs.push_back(k < found.outputs.size() ? found.outputs[k] : std::vector<std::uint32_t>{});
    }
    return a;
  }

  /// The resident bytes of an op that are in parts with it, by axis: all but the parameters among its inputs that do
  /// not have the axis, and those that others read, too, which lie whole where the first reader is.
  std::vector<byte_count> resident_parts(op_id v, const std::vector<std::vector<std::uint32_t>>& axes_of_inputs,
                                         std::size_t num_axes) const {
    const auto& inputs = op_of(v).inputs;
    std::vector<byte_count> parts(num_axes, w_.resident_bytes(v));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const tensor_id t = inputs[k];
      if (t == none || readers_[t] == 0) {
        continue;
      }
      for (std::uint32_t axis = 0; axis < num_axes; ++axis) {
        const auto has_axis = [&](const std::vector<std::uint32_t>& dims) {
          return std::find(dims.begin(), dims.end(), axis) != dims.end();
        };
        const bool is_split = readers_[t] == 1 && k < axes_of_inputs.size() && has_axis(axes_of_inputs[k]);
        parts[axis] -= is_split ? 0 : std::min(parts[axis], g_.bytes(t));
      }
    }
    return parts;
  }
  /// The number of times that parameters that no op makes are named as an input.
  void count_readers() {
    readers_.assign(g_.num_tensors(), 0);
    for (const op_id v : ids(g_.num_ops())) {
      for (const auto* list : {&g_[v].inputs, &g_[v].captured}) {
        for (const tensor_id t : *list) {
          if (t != none && g_.producer(t) == none && g_.role(t) != tensor_role::input) {
            ++readers_[t];
          }
        }
      }
    }
  }

  /// Sums take terms of all their inputs, what only moves numbers those of the first one.
  std::vector<bool> inputs_with_terms(op_id v) const {
    const auto& op = op_of(v);
    const bool sums = op.type == "Add" || op.type == "AddN" || op.type == "Neg" || op.type == "Sub";
    constexpr std::string_view movers[] = {"ExpandDims", "Flatten",   "Identity", "Reshape",
                                           "Squeeze",    "Transpose", "Unsqueeze"};
    const bool moves = std::find(std::begin(movers), std::end(movers), op.type) != std::end(movers);
    if (!(sums || moves) || op.inputs.empty()) {
      return {};
    }
    const auto is_sent = [&](tensor_id x) { // else each part would add it again
      const auto& read = w_.inputs(v);
      return std::any_of(read.begin(), read.end(), [&](tensor_id t) { return w_.bytes(t) > 0 && is(t, x); });
    };
    if (sums && !std::all_of(op.inputs.begin(), op.inputs.end(), is_sent)) {
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
    const auto& op = op_of(v);
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

  const model_graph& g_;
  const workload& w_;
  std::span<const op_id> origin_;
  std::vector<std::uint32_t> readers_; // by tensor
};

} // namespace detail

/// The axes of a workload that was made of a model's graph: `origin` has the graph's op of each of its first ops,
/// several of which may be copies of one; further ones, and what nobody knows how to split, stay whole. Variables (ops
/// whose first output is a parameter, a state or a constant) can be split along any of their dimensions. Complexity:
/// linear in dimensions.
inline split_model make_split_model(const model_graph& g, const workload& w, std::span<const op_id> origin) {
  return detail::split_model_builder{g, w, origin}.make();
}

} // namespace weft::parallel
