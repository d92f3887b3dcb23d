// SPDX-License-Identifier: BSL-1.0
/// The parameters of a model's graph: the forms in which ops read them, the ops that hold them, and their axes.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/traced_workload.hpp"
#include "weft/ops/axes.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft::parallel::detail {

/// Finds them. Ops are those of the graph.
class graph_parameters {
public:
  explicit graph_parameters(const model_graph& g) : g_{g} {
    find_forms();
    find_holders();
  }

protected:
  using dimensions = std::vector<std::uint32_t>; // by dimension of a tensor: its axis, or `none`
  /// The parameter that a tensor is or shows, and by dimension the one of the parameter that it is.
  struct form {
    tensor_id of = none;
    dimensions dims = {};
  };

  tensor_role role_of_output(op_id of_graph) const {
    const auto outputs = g_.outputs(of_graph);
    return outputs.empty() ? tensor_role::computed : g_.role(*outputs.begin());
  }
  /// True for an op that holds what it makes.
  bool is_variable(op_id of_graph) const {
    return !g_[of_graph].is_known && role_of_output(of_graph) != tensor_role::computed;
  }
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
    if (is_update(op.type)) { // state as the gradient
      const auto split = std::find_if(found.inputs.begin(), found.inputs.end(), [](const dimensions& axes) {
        return std::any_of(axes.begin(), axes.end(), [](std::uint32_t axis) { return axis != none; });
      });
      for (std::size_t k = 0; split != found.inputs.end() && k < op.inputs.size(); ++k) {
        const op_id from = op.inputs[k] != none ? g_.producer(op.inputs[k]) : op_id{none};
        const auto gradient = op.inputs[static_cast<std::size_t>(split - found.inputs.begin())];
        if (from != none && is_variable(from) && g_.dims(op.inputs[k]) == g_.dims(gradient)) {
          found.inputs[k] = *split;
        }
      }
    }
    return found;
  }

  bool holds(op_id of_graph, tensor_id parameter) const {
    return holder_[parameter] == of_graph || g_.bytes(parameter) <= traced_workload::copied;
  }
  /// The parameters that an op reads in some form, also for graphs inside of it, each once.
  std::vector<tensor_id> read_by(op_id of_graph) const {
    std::vector<tensor_id> all;
    for (const auto* list : {&g_[of_graph].inputs, &g_[of_graph].captured}) {
      for (const tensor_id t : *list) {
        if (t != none && forms_[t].of != none) {
          all.push_back(forms_[t].of);
        }
      }
    }
    sort_unique(all);
    return all;
  }
  /// By axis of an op: the dimension of a parameter of which it reads a part; `none`: all of it.
  dimensions parts_of(op_id of_graph, const ops::axes& found, tensor_id parameter) const {
    dimensions parts(found.extents.size(), none);
    if (is_variable(of_graph)) {
      return all_of(found.extents);
    }
    const auto& inputs = g_[of_graph].inputs;
    for (const tensor_id t : g_[of_graph].captured) {
      if (t != none && forms_[t].of == parameter) {
        return parts;
      }
    }
    std::vector<bool> is_first(parts.size(), true);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] == none || forms_[inputs[k]].of != parameter) {
        continue;
      }
      for (std::uint32_t axis = 0; axis < parts.size(); ++axis) {
        const auto& dims = found.inputs[k];
        const auto at = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), axis) - dims.begin());
        const auto part = at < dims.size() ? forms_[inputs[k]].dims[at] : std::uint32_t{none};
        parts[axis] = is_first[axis] || parts[axis] == part ? part : std::uint32_t{none};
        is_first[axis] = false;
      }
    }
    return parts;
  }
  /// The other way round: by dimension of the parameter, the axis along which the op reads a part of it.
  dimensions axes_of_held(op_id of_graph, const ops::axes& found, tensor_id parameter) const {
    dimensions axes(g_.dims(parameter).size(), none);
    const auto parts = parts_of(of_graph, found, parameter);
    for (std::uint32_t axis = 0; axis < parts.size(); ++axis) {
      if (parts[axis] < axes.size()) {
        axes[parts[axis]] = axis;
      }
    }
    return axes;
  }

  /// The only tensor that an op reads, or `none`; other inputs may be absent.
  tensor_id only_input(op_id of_graph) const {
    tensor_id only = none;
    for (const auto* list : {&g_[of_graph].inputs, &g_[of_graph].captured}) {
      for (const tensor_id t : *list) {
        if (t != none && only != none) {
          return none;
        }
        only = t != none ? t : only;
      }
    }
    return only;
  }
  /// The tensor that an op shows or copies, or `none`.
  tensor_id shown_by(op_id of_graph) const {
    const auto& op = g_[of_graph];
    if (op.form != storage_form::view && op.form != storage_form::copy) {
      return none;
    }
    const auto is_shown = [&](tensor_id t) {
      return t != none && g_.storage(t) == g_.storage(*g_.outputs(of_graph).begin());
    };
    const bool may_read_more = op.is_known && !g_.outputs(of_graph).empty(); // such as a shape
    const auto shown = may_read_more ? std::find_if(op.inputs.begin(), op.inputs.end(), is_shown) : op.inputs.end();
    return shown != op.inputs.end() ? *shown : only_input(of_graph);
  }
  /// True for an op that shows or copies one parameter.
  bool is_form(op_id of_graph) const {
    const auto read = shown_by(of_graph);
    return read != none && forms_[read].of != none;
  }

  /// The parameter into which an op of the graph writes its first output, or `none`.
  tensor_id written_by(op_id of_graph) const {
    const auto& read = g_[of_graph].inputs;
    const auto first = std::find_if(read.begin(), read.end(), [](tensor_id t) { return t != none; });
    const bool writes = g_[of_graph].form == storage_form::writes && first != read.end();
    return writes ? forms_[*first].of : tensor_id{none};
  }
  /// True for a parameter that no op makes, or that one makes of parameters alone in a storage of its own.
  bool is_given(tensor_id t) const {
    const op_id from = g_.producer(t);
    return g_.role(t) != tensor_role::input && g_.role(t) != tensor_role::computed && g_.storage(t) == t &&
           (from == none || g_[from].is_known);
  }

  const model_graph& g_;
  std::vector<form> forms_;   // by tensor
  std::vector<op_id> holder_; // by parameter: the op of the graph that holds it

private:
  /// Finds the tensors that are parameters which no op makes, or made of parameters alone in a storage of their own, or
  /// forms of one, such as a transposed weight.
  void find_forms() {
    forms_.resize(g_.num_tensors());
    for (const tensor_id t : ids(g_.num_tensors())) {
      if (is_given(t)) {
        forms_[t] = {t, all_of(shape_of(t))};
      }
    }
    for (const op_id v : ids(g_.num_ops())) {
      if (!is_form(v)) {
        continue;
      }
      const auto& inputs = g_[v].inputs;
      const tensor_id only = shown_by(v);
      const auto& of = forms_[only];
      const auto found = axes_in_graph(v);
      const auto read = static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), only) - inputs.begin());
      if (read == inputs.size()) { // graphs inside of it read it
        continue;
      }
      std::size_t k = 0;
      for (const tensor_id t : g_.outputs(v)) {
        auto& made = forms_[t] = {of.of, dimensions(g_.dims(t).size(), none)};
        for (std::size_t d = 0; d < made.dims.size() && k < found.outputs.size(); ++d) {
          const auto& dims = found.inputs[read];
          const auto axis = found.outputs[k][d];
          const auto at = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), axis) - dims.begin());
          made.dims[d] = axis != none && at < dims.size() ? of.dims[at] : std::uint32_t{none};
        }
        ++k;
      }
    }
  }
  /// Finds the ops that hold parameters: the first that read them.
  void find_holders() {
    holder_.assign(g_.num_tensors(), none);
    for (const op_id v : ids(g_.num_ops())) {
      for (const tensor_id t : is_form(v) || g_[v].is_known ? std::vector<tensor_id>{} : read_by(v)) {
        holder_[t] = holder_[t] == none ? v : holder_[t];
      }
    }
  }
};

} // namespace weft::parallel::detail
