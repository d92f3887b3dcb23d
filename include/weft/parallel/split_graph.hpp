// SPDX-License-Identifier: BSL-1.0
/// The axes of the ops of a model's graph.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/traced_workload.hpp"
#include "weft/ops/axes.hpp"
#include "weft/parallel/axis_units.hpp"
#include "weft/parallel/detail/graph_parameters.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/workload/step_origins.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::parallel {

namespace detail {

class split_model_builder : graph_parameters {
public:
  split_model_builder(const model_graph& g, const workload& w, std::span<const op_id> origin, const step_origins* step)
      : graph_parameters{g}, w_{w}, origin_{origin}, step_{step} {}

  split_model make() {
    find_places();
    split_model m{&w_, std::vector<split_axes>(w_.num_ops()), std::vector<bool>(w_.num_ops(), false),
                  std::vector<bool>(w_.num_ops(), false)};
    std::vector<bool> seen(g_.num_ops(), false); // copies, such as of what is made again, come after what they are of
    for (const op_id v : ids(w_.num_ops())) {
      if (const op_id from = origin_of(v); from != none) {
        m.axes[v] = axes_of_op(v);
        const bool is_own = role_of(v) == step_role::forward;
        m.is_state[v] = is_own && is_variable(from);
        m.is_parameter[v] = m.is_state[v] && !seen[from] && role_of_output(from) == tensor_role::parameter;
        seen[from] = true;
      }
      m.axes[v].inputs.resize(w_.inputs(v).size());
      m.axes[v].outputs.resize(w_.outputs(v).size());
    }
    add_held(m);
    add_uses(m);
    add_replacements(m);
    find_units(m);
    return m;
  }

private:
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
    const auto found = axes_in_graph(origin_of(v));
    split_axes a{.extents = found.extents};
    if (!is_variable(origin_of(v)) && w_.resident_bytes(v) > 0) {
      a.resident_parts = resident_parts(v, found);
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
    const auto found = axes_in_graph(from);
    const auto axes_of = [&](tensor_id t) {
      auto axes = axes_of_operand(made, t, found.outputs);
      return axes.empty() ? axes_of_operand(op.inputs, t, found.inputs) : axes;
    };
    split_axes a{.extents = found.extents};
    for (const tensor_id t : w_.inputs(v)) {
      a.inputs.push_back(axes_of(t));
    }
    const tensor_id held = role_of(v) == step_role::parameter_gradient ? held_by(step_->holder[v]) : tensor_id{none};
    for (const tensor_id t : w_.outputs(v)) {
      const bool of_held = held != none && w_.bytes(t) > 0;
      const auto is_of = [&](tensor_id x) {
        return x != none && (of_held ? forms_[x].of == held : x == tensor_of(t));
      };
      a.repeated.push_back(repeated(op.inputs, is_of, found));
      a.outputs.push_back(of_held ? axes_of_held(from, found, held) : axes_of(t));
    }
    if (is_sum(op) || moves(op)) { // linear in the gradient that arrives
      for (const tensor_id t : w_.inputs(v)) {
        a.terms.push_back(w_.bytes(t) > 0);
      }
    }
    return a;
  }

  /// The axes along which each part makes the whole gradient of an operand: of what is added to a sum, those that are
  /// summed up.
  template <class IsOf>
  static std::vector<std::uint32_t> repeated(const std::vector<tensor_id>& operands, const IsOf& is_of,
                                             const ops::axes& found) {
    std::vector<std::uint32_t> axes;
    for (std::size_t k = 0; !found.outputs.empty() && k < std::min(operands.size(), found.added.size()); ++k) {
      for (std::uint32_t axis = 0; found.added[k] && is_of(operands[k]) && axis < found.extents.size(); ++axis) {
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
    const auto found = axes_in_graph(from);
    const auto dims = axes_of_held(from, found, held);
    split_axes a{.extents = found.extents};
    const auto all = static_cast<double>(w_.resident_bytes(holder));
    const auto parts = is_variable(from) ? std::vector<byte_count>(a.extents.size(), w_.resident_bytes(holder))
                                         : resident_parts(holder, found);
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

  /// The largest of the parameters that an op holds, which the gradients of all of them lie like.
  tensor_id held_by(op_id holder) const {
    const op_id from = holder != none ? origin_of(holder) : op_id{none};
    if (from == none) {
      return none;
    }
    if (is_variable(from)) {
      return *g_.outputs(from).begin();
    }
    tensor_id largest = none;
    for (const tensor_id t : read_by(from)) {
      const bool trains = g_.role(t) == tensor_role::parameter && holds(from, t);
      largest = trains && (largest == none || g_.bytes(t) > g_.bytes(largest)) ? t : largest;
    }
    return largest;
  }
  /// The parameters that an op holds, and the share of their bytes that it takes: numbers may have been given another
  /// format since the graph was read.
  struct holding {
    std::vector<tensor_id> parameters;
    double scale;

    byte_count bytes(const model_graph& g, tensor_id t) const {
      return static_cast<byte_count>(scale * static_cast<double>(g.bytes(t)));
    }
  };
  holding held_at(op_id v) const {
    auto held = read_by(origin_of(v));
    std::erase_if(held, [&](tensor_id t) { return !holds(origin_of(v), t); });
    double all = 0;
    for (const tensor_id t : held) {
      all += static_cast<double>(g_.bytes(t));
    }
    return {std::move(held), all > 0 ? std::min(1.0, static_cast<double>(w_.resident_bytes(v)) / all) : 1};
  }

  /// The resident bytes of an op that are in parts with it, by axis: all but the parameters that it reads as a whole.
  std::vector<byte_count> resident_parts(op_id v, const ops::axes& found) const {
    const auto held = held_at(v);
    std::vector<byte_count> parts(found.extents.size(), w_.resident_bytes(v));
    for (const tensor_id t : held.parameters) {
      const auto dims = parts_of(origin_of(v), found, t);
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        parts[axis] -= dims[axis] != none ? 0 : std::min(parts[axis], held.bytes(g_, t));
      }
    }
    return parts;
  }
  void add_held(split_model& m) const {
    std::vector<bool> is_listed(g_.num_tensors(), false);
    for (const op_id v : ids(w_.num_ops())) {
      const op_id from = origin_of(v);
      if (from == none || w_.resident_bytes(v) == 0 || role_of(v) != step_role::forward || is_variable(from) ||
          is_form(from)) {
        continue;
      }
      const auto found = axes_in_graph(from);
      const auto held = held_at(v);
      for (const tensor_id t : held.parameters) {
        if (g_.name(t).empty()) { // it counts as the rest of what the op holds
          continue;
        }
        m.held.push_back({v, g_.name(t), shape_of(t), held.bytes(g_, t), parts_of(from, found, t), is_listed[t]});
        is_listed[t] = true;
      }
    }
  }

  /// Finds where ops of the graph are in the workload.
  void find_places() {
    at_.assign(g_.num_ops(), none);
    for (const op_id v : ids(w_.num_ops())) {
      if (const op_id from = origin_of(v); from != none && role_of(v) == step_role::forward && at_[from] == none) {
        at_[from] = v;
      }
    }
  }
  /// Notes that an op uses a parameter where it is: with the first op that reads it, or as a variable.
  void add_use(split_model& m, tensor_id parameter, op_id user, dimensions needed, bool changes) const {
    const op_id from = holder_[parameter] != none ? holder_[parameter] : g_.producer(parameter);
    const op_id by = from != none ? at_[from] : op_id{none};
    const bool is_copied = is_given(parameter) && g_.bytes(parameter) <= traced_workload::copied;
    if (by != none && by != user && !is_copied) {
      m.uses.push_back({by, user, parts_of(from, axes_in_graph(from), parameter), std::move(needed), changes});
    }
  }
  void add_uses(split_model& m) const {
    for (const op_id v : ids(w_.num_ops())) {
      const op_id from = origin_of(v);
      if (from == none || is_form(from) || g_[from].is_known) {
        continue;
      }
      const auto role = role_of(v);
      if (role == step_role::update) {
        if (const tensor_id t = held_by(step_->holder[v]); t != none) {
          const auto parts = parts_of(from, axes_in_graph(from), t); // of the op that holds it
          m.uses.push_back({step_->holder[v], v, parts, parts, true});
        }
        continue;
      }
      const bool reads = role == step_role::forward || role == step_role::again ||
                         (role == step_role::gradient && step_->holder[v] != none);
      const auto held = reads ? read_by(from) : std::vector<tensor_id>{};
      const auto found = held.empty() ? ops::axes{} : axes_in_graph(from);
      const tensor_id written = written_by(from);
      for (const tensor_id t : held) {
        add_use(m, t, v, parts_of(from, found, t), written == t);
      }
      if (written != none && role == step_role::forward) {
        keep_whole(m.axes[v], 0);
      }
    }
  }
  void add_replacements(split_model& m) const {
    for (const auto& [old, by] : g_.replacements()) {
      const op_id from = g_.producer(by);
      if (from == none || at_[from] == none || forms_[old].of != old || g_.dims(old) != g_.dims(by)) {
        continue;
      }
      const auto found = axes_in_graph(from);
      const auto k = by - *g_.outputs(from).begin();
      dimensions needed(found.extents.size(), none);
      for (std::size_t d = 0; k < found.outputs.size() && d < found.outputs[k].size(); ++d) {
        if (const auto axis = found.outputs[k][d]; axis != none) {
          needed[axis] = static_cast<std::uint32_t>(d);
        }
      }
      add_use(m, old, at_[from], std::move(needed), true);
      keep_whole(m.axes[at_[from]], k);
    }
  }
  /// Leaves an op the axes that its output has: the new numbers of a parameter are no terms of a sum.
  static void keep_whole(split_axes& a, std::size_t output) {
    for (std::uint32_t axis = 0; axis < a.extents.size() && output < a.outputs.size(); ++axis) {
      const auto& dims = a.outputs[output];
      a.extents[axis] = std::find(dims.begin(), dims.end(), axis) != dims.end() ? a.extents[axis] : 1;
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

  const workload& w_;
  std::span<const op_id> origin_;
  const step_origins* step_;
  std::vector<op_id> at_;     // by op of the graph: the one of the workload
};

} // namespace detail

/// The axes of a workload that was made of a model's graph: `origin` has the graph's op of each of its first ops,
/// several of which may be copies of one; further ones, and what nobody knows how to split, stay whole. Variables (ops
/// whose first output is a parameter, a state or a constant) can be split along any of their dimensions.
/// Of a `step` that was made of such a workload, `origin` has the graph's ops of the forward ops; a gradient op has the
/// axes of its forward op, and the gradient and the update of what an op holds those of the largest of its parameters.
/// `step` has the first ops of the workload, or all. Parameters that several ops use are in `split_model::uses`. Throws
/// `value_error` for an attribute `axes` that does not fit its op. Complexity: linear in dimensions, and in the product
/// of an op's inputs in the workload and in the graph.
inline split_model make_split_model(const model_graph& g, const workload& w, std::span<const op_id> origin,
                                    const step_origins* step = nullptr) {
  return detail::split_model_builder{g, w, origin, step}.make();
}

} // namespace weft::parallel
