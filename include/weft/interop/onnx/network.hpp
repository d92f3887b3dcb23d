// SPDX-License-Identifier: BSL-1.0
/// Writes networks as ONNX models.
#pragma once

#include "weft/interop/onnx/op_costs.hpp"
#include "weft/interop/onnx/wire.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/nn/network.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::onnx {

namespace detail {

using io::protobuf::message;

/// Encodes the model of a network.
class network_writer {
public:
  network_writer(const nn::network& net, const nn::built_workload& built)
      : net_{net}, w_{built.graph}, origin_{built.origin} {}

  std::string model() {
    std::string graph;
    std::string types;
    std::string outputs;
    for (const op_id v : ids(w_.num_ops())) {
      wire::put(graph, 1, node_of(v));
      add_types(v, outputs, types);
    }
    return message(1, 7, 2, "weft", 7, graph + message(2, "network") + outputs + types, 8, message(1, "", 2, 13), 8,
                   message(1, "ai.weft", 2, 1));
  }

private:
  const nn::network::node& node(op_id v) const { return net_[origin_[v]]; }
  bool has_control_output(op_id v) const { return w_.outputs(v).size() > node(v).op.outputs.size(); }
  bool is_control(tensor_id t) const {
    const auto outputs = w_.outputs(w_.producer(t));
    return has_control_output(w_.producer(t)) && t + 1 == *outputs.begin() + outputs.size();
  }

  static std::string tensor_name(const std::string& op, std::uint32_t output) {
    return output == 0 ? op : op + ":" + std::to_string(output);
  }

  /// Whether ONNX has this op under this name, with this meaning and this cost. A product counts as such only where the
  /// shapes rule out that an operand is transposed.
  bool is_standard(op_id v) const {
    static constexpr std::string_view elementwise[] = {"Add", "Sub", "Mul",  "Neg",   "Relu",     "Sigmoid", "Tanh",
                                                       "Exp", "Log", "Sqrt", "Floor", "Identity", "Softmax"};
    const auto& o = node(v).op;
    const auto is_float = [](const nn::tensor_type& t) { return t.element_bytes == 4; };
    if (w_.group(v) != none || !w_.kinds(v).is_all() || w_.resident_bytes(v) != 0 || o.inputs.empty() ||
        o.outputs.size() != 1 || has_control_output(v) ||
        std::ranges::any_of(w_.inputs(v), [this](tensor_id t) { return is_control(t); }) || !is_float(o.outputs[0]) ||
        !std::ranges::all_of(o.inputs, is_float, &nn::tensor::type)) {
      return false;
    }
    const auto& dims = o.outputs[0].dims;
    const auto& a = o.inputs[0].dims();
    if (o.type == "MatMul") {
      const auto fits = [&](bool first, bool second) {
        const auto& b = o.inputs[1].dims();
        return a[first ? 0 : 1] == b[second ? 1 : 0] && a[first ? 1 : 0] == dims[0] && b[second ? 0 : 1] == dims[1];
      };
      if (o.inputs.size() != 2 || a.size() != 2 || o.inputs[1].dims().size() != 2 || !fits(false, false) ||
          fits(true, false) || fits(false, true) || fits(true, true)) {
        return false;
      }
    } else {
      const bool binary = o.type == "Add" || o.type == "Sub" || o.type == "Mul";
      if (std::ranges::find(elementwise, o.type) == std::end(elementwise) || o.inputs.size() != (binary ? 2u : 1u) ||
          !(binary ? is_broadcast(a, o.inputs[1].dims(), dims) : a == dims)) {
        return false;
      }
    }
    ops::call call{.type = o.type};
    for (const auto& t : o.inputs) {
      call.inputs.emplace_back(std::in_place, t.dims().begin(), t.dims().end());
    }
    call.outputs.emplace_back(std::in_place, dims.begin(), dims.end());
    return flop_of(call) == w_.work(v);
  }

  static bool is_broadcast(const nn::extents& a, const nn::extents& b, const nn::extents& c) {
    if (c.size() != std::max(a.size(), b.size())) {
      return false;
    }
    for (std::size_t i = 1; i <= c.size(); ++i) { // from the innermost
      const auto x = i <= a.size() ? a[a.size() - i] : 1;
      const auto y = i <= b.size() ? b[b.size() - i] : 1;
      if ((x != y && x != 1 && y != 1) || c[c.size() - i] != std::max(x, y)) {
        return false;
      }
    }
    return true;
  }

  std::string node_of(op_id v) const {
    const auto& o = node(v).op;
    const auto input_of = [this](const nn::tensor& t) { return tensor_name(net_[t.op()].op.name, t.output()); };
    auto n = io::protobuf::repeated(1, o.inputs, input_of);
    for (const tensor_id t : w_.inputs(v)) {
      if (is_control(t)) {
        wire::put(n, 1, "^" + node(w_.producer(t)).op.name);
      }
    }
    for (std::uint32_t i = 0; i < o.outputs.size(); ++i) {
      wire::put(n, 2, tensor_name(o.name, i));
    }
    if (has_control_output(v)) {
      wire::put(n, 2, "^" + o.name);
    }
    if (n.empty()) {
      wire::put(n, 2, ""); // none, but a node must have something
    }
    n += message(3, o.name, 4, o.type);
    if (is_standard(v)) {
      return n;
    }
    const auto add_text = [&n](const char* name, const std::string& text) {
      wire::put(n, 5, message(1, name, 4, text, 20, 3));
    };
    const auto add_number = [&n](const char* name, std::uint64_t i) { wire::put(n, 5, message(1, name, 3, i, 20, 2)); };
    add_text("weft_work", io::number_text(w_.work(v)));
    if (w_.resident_bytes(v) != 0) {
      add_number("weft_resident_bytes", w_.resident_bytes(v));
    }
    if (!w_.kinds(v).is_all()) {
      add_text("weft_kinds", to_string(w_.kinds(v)));
    }
    if (w_.group(v) != none) {
      add_number("weft_group", w_.group(v));
    }
    if (!o.axes.empty()) {
      add_text("weft_axes", o.axes);
    }
    wire::put(n, 7, "ai.weft");
    return n;
  }

  /// The shapes of an op's outputs; those of ops that nothing reads are the outputs of the model.
  void add_types(op_id v, std::string& outputs, std::string& others) const {
    const auto made = w_.outputs(v);
    const bool last = std::ranges::all_of(made, [this](tensor_id t) { return w_.consumers(t).empty(); });
    const auto add = [&](const std::string& name, const nn::tensor_type& t) {
      constexpr int types[] = {0, 9, 10, 0, 1, 0, 0, 0, 7}; // by bytes: bool, float16, float, int64
      const bool known = t.element_bytes < std::size(types) && types[t.element_bytes] != 0;
      auto shape = io::protobuf::repeated(1, t.dims, [](std::uint64_t d) { return message(1, d); });
      if (!known) { // no number has that size: bytes
        wire::put(shape, 1, message(1, t.element_bytes));
      }
      const auto type = message(1, known ? types[t.element_bytes] : 2, 2, shape);
      wire::put(last ? outputs : others, last ? 12 : 13, message(1, name, 2, message(1, type)));
    };
    const auto& o = node(v).op;
    for (std::uint32_t i = 0; i < o.outputs.size(); ++i) {
      add(tensor_name(o.name, i), o.outputs[i]);
    }
    if (has_control_output(v)) {
      add("^" + o.name, {{0}, 1});
    }
  }

  const nn::network& net_;
  const workload& w_;
  const std::vector<op_id>& origin_;
};

} // namespace detail

/// Writes the ops of a built workload of a network (as `network::build_with_origins` and `training_step_with_origins`
/// make it) as an ONNX model of operator set 13 that the checker accepts. `reader` gives the same workload again: the
/// same ops in the same order, with their names, types, work, bytes, kinds and groups.
///
/// Elementwise ops and products that ONNX has under the same name are nodes of its own domain; all others, and those
/// with control edges or constraints, are of the domain `ai.weft` with attributes `weft_work` (text), `weft_kinds`
/// (text), `weft_resident_bytes`, `weft_group` and `weft_axes` (text, an index expression). A control edge is a tensor
/// `^op` without elements. Every tensor has its shape. The model has no weights and is for tools that look at graphs,
/// not for runtimes.
/// Complexity: O(n + m).
inline void write_network(std::ostream& out, const nn::network& net, const nn::built_workload& built) {
  out << detail::network_writer{net, built}.model();
}

/// The same for what `roots` depend on.
inline void write_network(std::ostream& out, const nn::network& net, std::span<const op_id> roots) {
  write_network(out, net, net.build_with_origins(roots));
}

} // namespace weft::onnx
