// SPDX-License-Identifier: BSL-1.0
/// The graph of a TensorFlow model, with the shapes that were found out when it was read.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/tensorflow/index_expressions.hpp"
#include "weft/interop/tensorflow/inference.hpp"
#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/translation.hpp"
#include "weft/model/graph.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// Makes the graph of nodes whose shapes are known. `weight` has for each the parameter that it shows, or `none`.
class graph_of_nodes {
public:
  graph_of_nodes(const graph& g, const inference& shapes, const workload& w, std::span<const op_id> weight)
      : g_{g}, shapes_{shapes}, w_{w}, weight_{weight}, is_read_(g.num_nodes(), false) {}

  /// The graph, with the nodes as its ops; null where a node reads what a later one makes, or tensors are larger than
  /// anything.
  std::shared_ptr<const model_graph> operator()() && {
    try {
      find_read();
      for (const op_id v : ids(g_.num_nodes())) {
        if (!add(v)) {
          return nullptr;
        }
      }
    } catch (const error&) { // the workload needs less of it
      return nullptr;
    }
    return std::make_shared<const model_graph>(std::move(made_));
  }

private:
  /// Variables that are read by others than updates hold parameters, the others an optimiser's state.
  void find_read() {
    for (const op_id v : ids(g_.num_nodes())) {
      for (const auto& s : g_.inputs(v)) {
        if (!s.is_control() && !is_update(g_[v].op) && !updates_variable(g_[v].op)) {
          is_read_[s.from] = true;
        }
      }
    }
  }
  static model_graph::extents dims_of(const tensor_info& t) { return {t.dims.begin(), t.dims.end()}; }

  bool add(op_id v) {
    const auto& n = g_[v];
    model_graph::op o{.type = std::string{known_type_of(n.op)},
                      .name = std::string{n.name},
                      .work = w_.work(v),
                      .resident_bytes = weight_[v] == none && is_variable(n.op) ? w_.resident_bytes(v) : 0,
                      .kinds = w_.kinds(v)};
    std::vector<const tensor_info*> inputs;
    for (const auto& s : g_.inputs(v)) {
      if (s.is_control()) {
        continue;
      }
      if (s.from >= v) {
        return false;
      }
      inputs.push_back(&shapes_.output(s));
      o.inputs.push_back(*made_.outputs(s.from).begin() + static_cast<tensor_id>(shapes_.position(s.from, s.port)));
    }
    std::vector<model_graph::tensor> outputs;
    for (std::size_t i = 0; i < shapes_.ports(v).size(); ++i) {
      const auto& t = shapes_.output(v, i);
      const bool is_number = t.dims.empty(); // such as a rate or a count
      const bool refers = !is_variable(n.op) && is_reference(t.type); // to what an update has changed
      outputs.push_back({.dims = refers ? model_graph::extents{} : dims_of(t),
                         .role = !is_variable(n.op)         ? tensor_role::computed
                                 : is_read_[v] && !is_number ? tensor_role::parameter
                                                             : tensor_role::state,
                         .bytes = bytes_of(t)});
    }
    if (weight_[v] != none) {
      show(v, o, outputs);
    } else {
      set_expression(v, inputs, o);
    }
    (void)made_.add_op(std::move(o), outputs);
    return true;
  }
  /// A constant that is a parameter, or what passes it on.
  void show(op_id v, model_graph::op& o, const std::vector<model_graph::tensor>& outputs) {
    o.form = storage_form::view;
    if (weight_[v] == v) {
      auto t = outputs.front();
      t.role = tensor_role::parameter;
      t.name = o.name;
      o.inputs.assign(1, made_.add_tensor(std::move(t)));
    }
    const auto rank = outputs.front().dims.size();
    if (rank <= index_expressions::max_rank) {
      const auto all = index_expressions::letters(rank);
      o.texts["axes"] = all + "->" + all;
    }
  }
  void set_expression(op_id v, std::span<const tensor_info* const> inputs, model_graph::op& o) const {
    const auto* const rule = index_expressions::rule_of(g_[v].op);
    const auto given = attribute(g_[v], "_weft_axes");
    if (rule == nullptr && !given) {
      return;
    }
    auto call = call_of(g_[v], inputs, rule != nullptr);
    for (std::size_t i = 0; i < shapes_.ports(v).size(); ++i) {
      call.outputs.push_back(extents_of(shapes_.output(v, i)));
    }
    auto text = std::string{given ? text_field(*given, 2) : std::string_view{}};
    if (!given || !index_expressions::fits(text, call)) {
      text = rule != nullptr ? index_expressions::of(*rule, call) : index_expressions::whole();
    }
    if (!text.empty()) {
      o.texts["axes"] = std::move(text);
    }
  }

  const graph& g_;
  const inference& shapes_;
  const workload& w_;
  std::span<const op_id> weight_;
  std::vector<bool> is_read_;
  model_graph made_;
};

} // namespace weft::tensorflow::detail
