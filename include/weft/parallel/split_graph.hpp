// SPDX-License-Identifier: BSL-1.0
/// The axes of the ops of a model's graph.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/model/graph.hpp"
#include "weft/ops/axes.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/workload/graph_training_step.hpp"
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
  split_model_builder(const model_graph& g, const workload& w, std::span<const op_id> origin, const step_origins* step)
      : g_{g}, w_{w}, origin_{origin}, step_{step} {}

  split_model make() {
    find_held();
    split_model m{&w_, std::vector<split_axes>(w_.num_ops()), std::vector<bool>(w_.num_ops(), false),
                  std::vector<bool>(w_.num_ops(), false)};
    std::vector<bool> seen(g_.num_ops(), false); // copies, such as of what is made again, come after what they are of
    for (const op_id v : ids(w_.num_ops())) {
      if (const op_id from = origin_of(v); from != none) {
        m.axes[v] = axes_of_op(v);
        const bool is_own = role_of(v) == step_role::forward;
        m.is_state[v] = is_own && is_variable(from);
        m.is_parameter[v] = is_own && !seen[from] && role_of_output(from) == tensor_role::parameter;
        seen[from] = true;
      }
      m.axes[v].inputs.resize(w_.inputs(v).size());
      m.axes[v].outputs.resize(w_.outputs(v).size());
    }
    if (step_ != nullptr) {
      tie_to_holders(m);
    }
    return m;
  }

private:
  using dimensions = std::vector<std::uint32_t>; // by dimension of a tensor: its axis, or `none`

  /// The op of the graph that op v is, is a copy of, or makes gradients for.
  op_id origin_of(op_id v) const {
    const op_id forward = step_ == nullptr ? v : v < step_->op.size() ? step_->op[v] : op_id{none};
    return forward < origin_.size() ? origin_[forward] : op_id{none};
  }
  step_role role_of(op_id v) const { return step_ == nullptr ? step_role::forward : step_->role[v]; }
  /// The tensor of the graph that t is, or is a copy or the gradient of.
  tensor_id tensor_of(tensor_id t) const {
    const op_id from = w_.producer(t);
    forward_output of{from, t - *w_.outputs(from).begin()};
    if (step_ != nullptr) {
      of = t < step_->of.size() ? step_->of[t] : forward_output{};
    }
    if (of.op >= origin_.size()) {
      return none;
    }
    const auto& made = g_.outputs(origin_[of.op]);
    return of.output < made.size() ? *made.begin() + of.output : tensor_id{none};
  }
  tensor_role role_of_output(op_id of_graph) const {
    const auto outputs = g_.outputs(of_graph);
    return outputs.empty() ? tensor_role::computed : g_.role(*outputs.begin());
  }
  bool is_variable(op_id of_graph) const { return role_of_output(of_graph) != tensor_role::computed; }
  ops::shape shape_of(tensor_id of_graph) const {
    const auto& dims = g_.dims(of_graph);
    return {dims.begin(), dims.end()};
  }
  static dimensions all_of(const ops::shape& dims) {
    dimensions all(dims.size());
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }

  /// The axes of an op of the graph, by its operands there; of a variable each dimension of what it holds.
  ops::axes axes_in_graph(op_id of_graph) const {
    const auto& op = g_[of_graph];
    if (is_variable(of_graph)) {
      const auto held = shape_of(*g_.outputs(of_graph).begin());
      return {.extents = held, .outputs = {all_of(held)}};
    }
    auto found = ops::axes_of(call_of(g_, of_graph));
    if (is_update(op.type) && !found.extents.empty()) { // state as the gradient
      const auto& gradient = g_.dims(op.inputs.back());
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        const op_id from = op.inputs[k] != none ? g_.producer(op.inputs[k]) : op_id{none};
        if (from != none && is_variable(from) && g_.dims(op.inputs[k]) == gradient) {
          found.inputs[k] = found.inputs.back();
        }
      }
    }
    return found;
  }

  split_axes axes_of_op(op_id v) const {
    switch (role_of(v)) {
    case step_role::forward:
    case step_role::again:
      return axes_of_forward(v);
    case step_role::gradient:
    case step_role::parameter_gradient:
      return axes_of_gradient(v);
    case step_role::sum:
    case step_role::parameter_sum:
      return axes_of_sum(v);
    case step_role::loss:
      return axes_of_loss(v);
    case step_role::update:
      return axes_of_update(v);
    }
    return {};
  }

  split_axes axes_of_forward(op_id v) const {
    auto found = axes_in_graph(origin_of(v));
    split_axes a{.extents = std::move(found.extents)};
    if (!is_variable(origin_of(v)) && w_.resident_bytes(v) > 0) {
      a.resident_parts = resident_parts(v, found.inputs, a.extents.size());
    }
    a.terms = inputs_with_terms(v);
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(axes_of_operand(g_[origin_of(v)].inputs, t, found.inputs));
    }
    for (std::size_t k = 0; k < w_.outputs(v).size(); ++k) {
      a.outputs.push_back(k < found.outputs.size() ? found.outputs[k] : dimensions{});
    }
    return a;
  }

  /// A gradient has the dimensions of what it is of, and a gradient op the axes of its forward op: what that op sums
  /// up, the gradient repeats, and the other way round.
  split_axes axes_of_gradient(op_id v) const {
    const op_id from = origin_of(v);
    const auto& op = g_[from];
    const std::vector<tensor_id> made(g_.outputs(from).begin(), g_.outputs(from).end());
    auto found = axes_in_graph(from);
    const auto axes_of = [&](tensor_id t) {
      auto axes = axes_of_operand(made, t, found.outputs);
      return axes.empty() ? axes_of_operand(op.inputs, t, found.inputs) : axes;
    };
    split_axes a{.extents = std::move(found.extents)};
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(axes_of(t));
    }
    const auto held = held_by(step_->holder[v]);
    for (const tensor_id t : w_.outputs(v)) {
      a.repeated.push_back(repeated(t, op.inputs, found, a.extents.size()));
      const auto at = std::find(op.inputs.begin(), op.inputs.end(), held);
      const bool of_held = role_of(v) == step_role::parameter_gradient && held != none && at != op.inputs.end();
      const auto k = static_cast<std::size_t>(at - op.inputs.begin());
      a.outputs.push_back(!of_held ? axes_of(t) : k < found.inputs.size() ? found.inputs[k] : dimensions{});
    }
    if (is_sum(op) || moves(op)) { // linear in the gradient that arrives
      for (const tensor_id t : w_.inputs(v)) {
        a.terms.push_back(w_.bytes(t) > 0);
      }
    }
    return a;
  }

  /// The axes along which each part makes the whole gradient: of what is added to a sum, those that are summed up.
  std::vector<std::uint32_t> repeated(tensor_id gradient, const std::vector<tensor_id>& operands, const ops::axes& found,
                                      std::size_t num_axes) const {
    const tensor_id of = tensor_of(gradient);
    std::vector<std::uint32_t> axes;
    for (std::size_t k = 0; of != none && k < found.added.size(); ++k) {
      for (std::uint32_t axis = 0; found.added[k] && operands[k] == of && axis < num_axes; ++axis) {
        const auto& made = found.outputs[0];
        if (std::find(made.begin(), made.end(), axis) == made.end()) {
          axes.push_back(axis);
        }
      }
    }
    return axes;
  }

  split_axes axes_of_sum(op_id v) const {
    const auto& made = w_.outputs(v);
    const tensor_id of = role_of(v) == step_role::sum && !made.empty() ? tensor_of(*made.begin())
                                                                       : held_by(step_->holder[v]);
    if (of == none) {
      return {};
    }
    split_axes a{.extents = shape_of(of)};
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(w_.bytes(t) > 0 ? all_of(a.extents) : dimensions{});
      a.terms.push_back(w_.bytes(t) > 0);
    }
    a.outputs.assign(made.size(), all_of(a.extents));
    return a;
  }

  /// A loss sums up over all that the op makes, if it makes one tensor.
  split_axes axes_of_loss(op_id v) const {
    const auto& made = g_.outputs(origin_of(v));
    if (made.size() != 1) {
      return {};
    }
    split_axes a{.extents = shape_of(*made.begin())};
    const auto axes_of = [&](tensor_id t) {
      return tensor_of(t) == *made.begin() ? all_of(a.extents) : dimensions{};
    };
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(axes_of(t));
    }
    for (const tensor_id t : w_.outputs(v)) {
      a.outputs.push_back(axes_of(t));
    }
    return a;
  }

  /// An update has the axes of the op that holds what it changes, but those along which that is not in parts.
  split_axes axes_of_update(op_id v) const {
    const op_id holder = step_->holder[v];
    const tensor_id held = held_by(holder);
    if (held == none) {
      return {};
    }
    const op_id from = origin_of(holder);
    auto found = axes_in_graph(from);
    const auto& read = g_[from].inputs;
    const bool is_own = is_variable(from);
    const auto k = static_cast<std::size_t>(std::find(read.begin(), read.end(), held) - read.begin());
    const auto dims = is_own ? found.outputs[0] : k < found.inputs.size() ? found.inputs[k] : dimensions{};
    split_axes a{.extents = std::move(found.extents)};
    const auto all = static_cast<double>(w_.resident_bytes(holder));
    const auto parts = is_own ? std::vector<byte_count>(a.extents.size(), w_.resident_bytes(holder))
                              : resident_parts(holder, found.inputs, a.extents.size());
    for (std::size_t axis = 0; axis < a.extents.size(); ++axis) {
      const double share = static_cast<double>(parts[axis]) / all;
      if (share < 0.875 || std::find(dims.begin(), dims.end(), axis) == dims.end()) { // some biases may be whole
        a.extents[axis] = 1;
      }
      a.resident_parts.push_back(static_cast<byte_count>(share * static_cast<double>(w_.resident_bytes(v))));
    }
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(w_.bytes(t) > 0 ? dims : dimensions{});
    }
    return a;
  }

  /// The largest of the parameters that an op holds, as it reads it, which the gradients of all of them lie like.
  tensor_id held_by(op_id holder) const {
    const op_id from = holder != none ? origin_of(holder) : op_id{none};
    if (from == none) {
      return none;
    }
    if (is_variable(from)) {
      return *g_.outputs(from).begin();
    }
    const auto bytes = [this](tensor_id t) {
      const auto of = t != none ? held_[t] : tensor_id{none};
      return of != none && g_.role(of) == tensor_role::parameter ? g_.bytes(of) : 0;
    };
    tensor_id largest = none;
    for (const tensor_id t : g_[from].inputs) {
      largest = bytes(t) > bytes(largest) ? t : largest;
    }
    return largest;
  }

  /// Ops of a step read and change parameters where they are: in the same parts as the op that holds them. What is held
  /// for an op of another kind is whole.
  void tie_to_holders(split_model& m) const {
    m.holder.assign(w_.num_ops(), none);
    for (const op_id v : ids(step_->op.size())) {
      const op_id holder = step_->holder[v];
      const auto role = role_of(v);
      const bool makes_gradient = role == step_role::parameter_gradient || role == step_role::parameter_sum;
      if (holder == none || holder == v || makes_gradient) {
        continue;
      }
      if (role == step_role::update || origin_of(v) == origin_of(holder)) {
        m.holder[v] = holder;
      } else {
        m.axes[holder].resident_parts.assign(m.axes[holder].extents.size(), 0);
      }
    }
  }

  /// The resident bytes of an op that are in parts with it, by axis: all but the parameters among its inputs that do
  /// not have the axis, and those that others read, too, which lie whole where the first reader is.
  std::vector<byte_count> resident_parts(op_id v, const std::vector<dimensions>& axes_of_inputs,
                                         std::size_t num_axes) const {
    const auto& inputs = g_[origin_of(v)].inputs;
    std::vector<byte_count> parts(num_axes, w_.resident_bytes(v));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const tensor_id t = inputs[k] != none ? held_[inputs[k]] : tensor_id{none};
      if (t == none) {
        continue;
      }
      for (std::uint32_t axis = 0; axis < num_axes; ++axis) {
        const auto has_axis = [&](const dimensions& dims) {
          return std::find(dims.begin(), dims.end(), axis) != dims.end();
        };
        const bool is_split = readers_[t] == 1 && k < axes_of_inputs.size() && has_axis(axes_of_inputs[k]);
        parts[axis] -= is_split ? 0 : std::min(parts[axis], g_.bytes(t));
      }
    }
    return parts;
  }
  /// Finds which tensors are parameters that no op makes, or forms of one, such as a transposed weight; and how often
  /// each is read, in whichever form.
  void find_held() {
    held_.assign(g_.num_tensors(), none);
    readers_.assign(g_.num_tensors(), 0);
    for (const tensor_id t : ids(g_.num_tensors())) {
      held_[t] = g_.producer(t) == none && g_.role(t) != tensor_role::input ? t : tensor_id{none};
    }
    for (const op_id v : ids(g_.num_ops())) {
      const auto& op = g_[v];
      const bool is_form = (op.form == storage_form::view || op.form == storage_form::copy) && op.inputs.size() == 1 &&
                           op.captured.empty() && op.inputs.front() != none && held_[op.inputs.front()] != none;
      for (const tensor_id t : is_form ? g_.outputs(v) : id_range{}) {
        held_[t] = held_[op.inputs.front()];
      }
      for (const auto* list : {&op.inputs, &op.captured}) {
        for (const tensor_id t : *list) {
          if (!is_form && t != none && held_[t] != none) {
            ++readers_[held_[t]];
          }
        }
      }
    }
  }

  /// True for a sum of tensors; what adds a number to one has fewer inputs.
  static bool is_sum(const model_graph::op& op) {
    const auto type = ops::plain_type(op.type);
    const bool adds = type == "Add" || type == "Sub" || type == "add" || type == "sub" || type == "subtract";
    return type == "AddN" || type == "Neg" || type == "neg" || type == "negate" || (adds && op.inputs.size() > 1);
  }
  /// True if numbers are moved and nothing else.
  static bool moves(const model_graph::op& op) {
    constexpr std::string_view movers[] = {
      "ExpandDims", "Flatten", "Identity", "Reshape",  "Squeeze", "Transpose", "Unsqueeze",   "clone",    "contiguous",
      "detach",     "expand",  "flatten",  "permute",  "reshape", "squeeze",   "transpose",   "unsafe_view",
      "unsqueeze",  "view"};
    return !op.inputs.empty() &&
           std::find(std::begin(movers), std::end(movers), ops::plain_type(op.type)) != std::end(movers);
  }

  /// Sums take terms of all their inputs, what only moves numbers those of the first one.
  std::vector<bool> inputs_with_terms(op_id v) const {
    const auto& op = g_[origin_of(v)];
    const bool sums = is_sum(op);
    if (!sums && !moves(op)) {
      return {};
    }
    const auto is = [&](tensor_id t, tensor_id x) { return x != none && tensor_of(t) == x; };
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

  /// The axes of a tensor that operands may name twice: where they do not agree, it is needed as a whole.
  dimensions axes_of_operand(std::span<const tensor_id> operands, tensor_id t,
                             const std::vector<dimensions>& by_operand) const {
    dimensions axes;
    bool first = true;
    const tensor_id of = tensor_of(t);
    for (std::size_t k = 0; of != none && k < operands.size() && k < by_operand.size(); ++k) {
      if (operands[k] != of) {
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
  const step_origins* step_;
  std::vector<tensor_id> held_;        // by tensor: the parameter that it is or shows, or `none`
  std::vector<std::uint32_t> readers_; // by parameter
};

} // namespace detail

/// The axes of a workload that was made of a model's graph: `origin` has the graph's op of each of its first ops,
/// several of which may be copies of one; further ones, and what nobody knows how to split, stay whole. Variables (ops
/// whose first output is a parameter, a state or a constant) can be split along any of their dimensions.
/// Of a `step` that was made of such a workload, `origin` has the graph's ops of the forward ops; a gradient op has the
/// axes of its forward op, and the gradient and the update of what an op holds those of the largest of its parameters.
/// Complexity: linear in dimensions.
inline split_model make_split_model(const model_graph& g, const workload& w, std::span<const op_id> origin,
                                    const step_origins* step = nullptr) {
  return detail::split_model_builder{g, w, origin, step}.make();
}

} // namespace weft::parallel
