// SPDX-License-Identifier: BSL-1.0
/// The graph of a neural network that was built with nn.
#pragma once

#include "weft/model/graph.hpp"
#include "weft/workload/nn/network.hpp"
#include "weft/workload/role.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

namespace detail {

/// The extents of what a network's variables hold, by op; empty of other ops, and of single numbers. Variables have
/// those of the value that is read, an optimiser's state those of the gradient.
inline std::vector<nn::extents> held_extents(const nn::network& net) {
  std::vector<nn::extents> held(net.num_ops());
  for (const auto& x : net.variables()) {
    held[x.op] = x.value.dims();
  }
  for (const op_id v : ids(net.num_ops())) {
    const auto& update = net[v].op;
    if (!is_update(update.type)) {
      continue;
    }
    const auto& dims = update.inputs.back().dims();
    for (const auto& t : update.inputs) {
      const auto& from = net[t.op()].op;
      if (from.type == "VariableV2" && held[t.op()].empty() && from.resident_bytes == 4 * nn::element_count(dims)) {
        held[t.op()] = dims;
      }
    }
  }
  return held;
}

} // namespace detail

/// The graph of a network, with its ops by their ids there. Variables are ops that hold a parameter, or the state of an
/// optimiser; the attribute `axes` of an op has its index expression, if it has one.
/// Complexity: O(n + m).
inline model_graph graph_of(const nn::network& net) {
  const auto held = detail::held_extents(net);
  std::vector<tensor_role> role(net.num_ops(), tensor_role::computed);
  for (const op_id v : ids(net.num_ops())) {
    role[v] = net[v].op.type == "VariableV2" ? tensor_role::state : tensor_role::computed;
  }
  for (const auto& x : net.variables()) {
    role[x.op] = tensor_role::parameter;
  }
  model_graph g;
  const auto extents_of = [](const nn::extents& dims) { return model_graph::extents(dims.begin(), dims.end()); };
  for (const op_id v : ids(net.num_ops())) {
    const auto& from = net[v].op;
    model_graph::op o{.type = from.type, .name = from.name, .work = from.work, .resident_bytes = from.resident_bytes,
                      .kinds = from.kinds};
    for (const auto& t : from.inputs) {
      o.inputs.push_back(*g.outputs(t.op()).begin() + t.output());
    }
    if (!from.axes.empty()) {
      o.texts["axes"] = from.axes;
    }
    std::vector<model_graph::tensor> outputs;
    for (const auto& t : from.outputs) {
      outputs.push_back({.dims = extents_of(role[v] == tensor_role::computed ? t.dims : held[v]),
                         .element = t.element_bytes == 1 ? ops::elements::boolean : ops::elements::float32,
                         .role = role[v],
                         .bytes = nn::element_count(t.dims) * t.element_bytes});
    }
    (void)g.add_op(std::move(o), outputs);
  }
  for (const op_id v : ids(net.num_ops())) {
    for (const op_id before : net[v].control_inputs) {
      g.order(before, v);
    }
  }
  for (const auto& [a, b] : net.colocations()) {
    g.colocate(a, b);
  }
  return g;
}

} // namespace weft
