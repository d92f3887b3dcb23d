// SPDX-License-Identifier: BSL-1.0
/// Writes networks as ONNX models.
#pragma once

#include "weft/interop/onnx/op_costs.hpp"
#include "weft/interop/onnx/proto.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/nn/network.hpp"

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace weft::onnx {

namespace detail {

/// Makes the model of a network.
class network_writer {
public:
  network_writer(const nn::network& net, const nn::built_workload& built)
      : net_{net}, w_{built.graph}, origin_{built.origin} {
    m_.set_ir_version(7);
    m_.set_producer_name("weft");
    auto& standard = *m_.add_opset_import();
    standard.set_domain("");
    standard.set_version(13);
    auto& own = *m_.add_opset_import();
    own.set_domain("ai.weft");
    own.set_version(1);
    m_.mutable_graph()->set_name("network");
    for (const op_id v : ids(w_.num_ops())) {
      add_node(v);
      add_types(v);
    }
  }

  const ::onnx::ModelProto& result() const { return m_; }

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
        std::any_of(w_.inputs(v).begin(), w_.inputs(v).end(), [this](tensor_id t) { return is_control(t); }) ||
        !is_float(o.outputs[0]) ||
        !std::all_of(o.inputs.begin(), o.inputs.end(), [&](const auto& t) { return is_float(t.type()); })) {
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
      if (std::find(std::begin(elementwise), std::end(elementwise), o.type) == std::end(elementwise) ||
          o.inputs.size() != (binary ? 2u : 1u) || !(binary ? is_broadcast(a, o.inputs[1].dims(), dims) : a == dims)) {
        return false;
      }
    }
    op_call call{.type = o.type};
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

  void add_node(op_id v) {
    const auto& o = node(v).op;
    auto& n = *m_.mutable_graph()->add_node();
    n.set_name(o.name);
    n.set_op_type(o.type);
    for (const auto& t : o.inputs) {
      n.add_input(tensor_name(net_[t.op()].op.name, t.output()));
    }
    for (const tensor_id t : w_.inputs(v)) {
      if (is_control(t)) {
        n.add_input("^" + node(w_.producer(t)).op.name);
      }
    }
    for (std::uint32_t i = 0; i < o.outputs.size(); ++i) {
      n.add_output(tensor_name(o.name, i));
    }
    if (has_control_output(v)) {
      n.add_output("^" + o.name);
    }
    if (n.input_size() == 0 && n.output_size() == 0) {
      n.add_output(""); // none, but a node must have something
    }
    if (is_standard(v)) {
      return;
    }
    n.set_domain("ai.weft");
    add_text(n, "weft_work", io::number_text(w_.work(v)));
    if (w_.resident_bytes(v) != 0) {
      add_number(n, "weft_resident_bytes", static_cast<std::int64_t>(w_.resident_bytes(v)));
    }
    if (!w_.kinds(v).is_all()) {
      add_text(n, "weft_kinds", to_string(w_.kinds(v)));
    }
    if (w_.group(v) != none) {
      add_number(n, "weft_group", w_.group(v));
    }
  }

  static void add_text(::onnx::NodeProto& n, const char* name, std::string text) {
    auto& a = *n.add_attribute();
    a.set_name(name);
    a.set_type(::onnx::AttributeProto::STRING);
    a.set_s(std::move(text));
  }
  static void add_number(::onnx::NodeProto& n, const char* name, std::int64_t number) {
    auto& a = *n.add_attribute();
    a.set_name(name);
    a.set_type(::onnx::AttributeProto::INT);
    a.set_i(number);
  }

  /// The shapes of an op's outputs; those of ops that nothing reads are the outputs of the model.
  void add_types(op_id v) {
    const auto& o = node(v).op;
    const auto outputs = w_.outputs(v);
    const bool last =
      std::all_of(outputs.begin(), outputs.end(), [this](tensor_id t) { return w_.consumers(t).empty(); });
    const auto add = [&](const std::string& name, const nn::tensor_type& t) {
      auto& x = last ? *m_.mutable_graph()->add_output() : *m_.mutable_graph()->add_value_info();
      x.set_name(name);
      auto& type = *x.mutable_type()->mutable_tensor_type();
      auto& shape = *type.mutable_shape();
      for (const auto d : t.dims) {
        shape.add_dim()->set_dim_value(static_cast<std::int64_t>(d));
      }
      switch (t.element_bytes) {
      case 1: type.set_elem_type(::onnx::TensorProto::BOOL); break;
      case 2: type.set_elem_type(::onnx::TensorProto::FLOAT16); break;
      case 4: type.set_elem_type(::onnx::TensorProto::FLOAT); break;
      case 8: type.set_elem_type(::onnx::TensorProto::INT64); break;
      default: // no number has that size
        type.set_elem_type(::onnx::TensorProto::UINT8);
        shape.add_dim()->set_dim_value(t.element_bytes);
      }
    };
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
  ::onnx::ModelProto m_;
};

} // namespace detail

/// Writes the ops of a built workload of a network (as `network::build_with_origins` and `training_step_with_origins`
/// make it) as an ONNX model of operator set 13 that the checker accepts. `reader` gives the same workload again: the
/// same ops in the same order, with their names, types, work, bytes, kinds and groups.
///
/// Elementwise ops and products that ONNX has under the same name are nodes of its own domain; all others, and those
/// with control edges or constraints, are of the domain `ai.weft` with attributes `weft_work` (text), `weft_kinds`
/// (text), `weft_resident_bytes` and `weft_group`. A control edge is a tensor `^op` without elements. Every tensor has
/// its shape. The model has no weights and is for tools that look at graphs, not for runtimes.
/// Complexity: O(n + m).
inline void write_network(std::ostream& out, const nn::network& net, const nn::built_workload& built) {
  detail::network_writer{net, built}.result().SerializeToOstream(&out);
}

/// The same for what `roots` depend on.
inline void write_network(std::ostream& out, const nn::network& net, std::span<const op_id> roots) {
  write_network(out, net, net.build_with_origins(roots));
}

} // namespace weft::onnx
