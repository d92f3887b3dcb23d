// SPDX-License-Identifier: BSL-1.0
/// Writes networks as TensorFlow graphs.
#pragma once

#include "weft/interop/tensorflow/device_name.hpp"
#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/schema.hpp"
#include "weft/interop/tensorflow/text_format.hpp"
#include "weft/io/protobuf.hpp"
#include "weft/model/graph_of_network.hpp"
#include "weft/ops/index_expression.hpp"
#include "weft/workload/nn/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow {

namespace wire = io::protobuf;

/// Options of writing a network.
struct network_format {
  bool text = false;                        ///< Protocol Buffers' text format instead of binary
  std::span<const device_id> placement = {}; ///< per op of the workload that is written; empty: no devices
  std::span<const std::string> names = {};  ///< of devices, as `device_names` gives them
};

namespace detail {

/// Encodes the nodes of a network.
class network_writer {
public:
  network_writer(const nn::network& net, const nn::built_workload& built, const network_format& format)
      : net_{net}, built_{built}, format_{format}, group_name_(built.graph.num_groups()),
        variable_{weft::detail::held_extents(net)} {}

  std::string graph_def() {
    std::string out;
    for (const op_id v : ids(built_.graph.num_ops())) {
      wire::put(out, 1, node(v));
    }
    wire::put(out, 4, wire::message(1, 27)); // TensorFlow 1.13, of whose time these ops are
    return out;
  }

private:
  using extents = nn::extents;

  std::string node(op_id v) {
    const auto& [o, awaited] = net_[built_.origin[v]];
    auto out = wire::message(1, o.name, 2, o.type);
    for (const auto& t : inputs_of(o)) {
      const auto port = t.output() == 0 ? std::string{} : ":" + std::to_string(t.output());
      wire::put(out, 3, net_[t.op()].op.name + port);
    }
    for (const op_id before : awaited) {
      wire::put(out, 3, "^" + net_[before].op.name);
    }
    if (const auto device = device_of(v, o); !device.empty()) {
      wire::put(out, 4, device);
    }
    put_attributes(out, v, o);
    return out;
  }

  std::string device_of(op_id v, const nn::op_spec& o) const {
    if (!format_.placement.empty() && format_.placement[v] != none) {
      return format_.names[format_.placement[v]];
    }
    return std::has_single_bit(o.kinds.bits()) ? "/device:" + io::upper(to_string(o.kinds)) + ":0"
                                               : std::string{};
  }

  /// Inputs in TensorFlow's order, where the network has another one.
  static std::vector<nn::tensor> inputs_of(const nn::op_spec& o) {
    auto in = o.inputs;
    if (o.type == "Conv2DBackpropInput" && in.size() >= 2) { // sizes, kernel, gradient
      std::reverse(in.begin(), in.end());
    } else if (o.type == "Conv2DBackpropFilter" && in.size() == 3) { // image, sizes, gradient
      std::swap(in[1], in[2]);
    } else if (o.type == "MaxPoolGrad" && in.size() == 3) { // input, output, gradient
      std::rotate(in.begin(), in.begin() + 1, in.end());
    } else if (o.type == "Split" && in.size() == 2) { // axis, value
      std::swap(in[0], in[1]);
    }
    return in;
  }

  static data_type type_of(const nn::tensor_type& t) {
    return t.element_bytes == 1   ? dt::boolean
           : t.element_bytes == 2 ? dt::half
           : t.element_bytes == 8 ? dt::int64
                                  : dt::float32;
  }
  /// The shape of a variable; of one of which nobody knows it, a vector of as many numbers, or a scalar.
  extents state_of(op_id v) const {
    const auto numbers = net_[v].op.resident_bytes / 4;
    return variable_[v].empty() && numbers > 1 ? extents{numbers} : variable_[v];
  }
  /// The shape of output i; of a reference that of the variable behind it.
  extents dims_of(op_id origin, const nn::op_spec& o, std::size_t i) const {
    if (o.type == "VariableV2") {
      return state_of(origin);
    }
    return runs_with_its_variable(o.type) && !o.inputs.empty() ? state_of(o.inputs[0].op()) : o.outputs[i].dims;
  }

  /// The index expression, for inputs in the network's order, which is TensorFlow's for ops that have one. That of a
  /// sum depends on numbers that a network does not know.
  static std::string axes_of(const nn::op_spec& o) {
    const auto dims_of_tensor = [](const extents& dims) { return ops::call::extents(dims.begin(), dims.end()); };
    if (!o.axes.empty() || o.type != "Sum" || o.inputs.empty() || o.outputs.empty() ||
        o.inputs[0].dims().size() > ops::index_expression::max_rank) {
      return o.axes;
    }
    const auto read = ops::index_expression::letters(o.inputs[0].dims().size());
    std::string text = read;
    for (std::size_t k = 1; k < o.inputs.size(); ++k) {
      text += "," + std::string(o.inputs[k].dims().size(), '.');
    }
    return text + "->" +
           ops::index_expression::aligned(dims_of_tensor(o.outputs[0].dims), dims_of_tensor(o.inputs[0].dims()), read);
  }

  static std::string shape(const extents& dims) {
    return wire::repeated(2, dims, [](std::uint64_t d) { return wire::message(1, d); });
  }
  /// An attribute, whose value is the field of that number: 1 a list, 2 a text, 3 an integer, 5 a bool, 6 a type,
  /// 7 a shape, 8 a tensor.
  template <class Value>
  static void put(std::string& out, std::string_view key, std::uint32_t number, const Value& value) {
    wire::put(out, 5, wire::message(1, key, 2, wire::message(number, value)));
  }

  void put_attributes(std::string& out, op_id v, const nn::op_spec& o) {
    const auto origin = built_.origin[v];
    if (const auto g = built_.graph.group(v); g != none) {
      if (group_name_[g].empty()) {
        group_name_[g] = o.name; // of its first member, which all name
      } else {
        put(out, "_class", 1, wire::message(2, "loc:@" + group_name_[g]));
      }
    }
    std::string shapes;
    for (std::size_t i = 0; i < o.outputs.size(); ++i) {
      wire::put(shapes, 7, shape(dims_of(origin, o, i)));
    }
    put(out, "_output_shapes", 1, shapes);
    if (const auto axes = axes_of(o); !axes.empty()) {
      put(out, "_weft_axes", 2, axes);
    }
    if (o.type == "IteratorGetNext") {
      put(out, "output_types", 1, wire::repeated(6, o.outputs, type_of));
      put(out, "output_shapes", 1, wire::repeated(7, o.outputs, [](const auto& t) { return shape(t.dims); }));
      return;
    }
    if (o.outputs.empty()) {
      return;
    }
    const auto type = type_of(o.outputs[0]);
    if (o.type == "Const") {
      put(out, "dtype", 6, type);
      put_constant(out, o.outputs[0], type);
    } else if (o.type == "VariableV2") {
      put(out, "dtype", 6, dt::float32);
      put(out, "shape", 7, shape(state_of(origin)));
      put(out, "container", 2, "");
      put(out, "shared_name", 2, "");
    } else if (o.type == "RandomUniform") {
      put(out, "dtype", 6, type);
      put(out, "T", 6, dt::int32);
    } else if (o.type == "GreaterEqual") {
      put(out, "T", 6, type_of(o.inputs[0].type()));
    } else {
      put(out, "T", 6, runs_with_its_variable(o.type) ? dt::float32 : type);
    }
    put_options(out, o);
  }

  /// A network does not know the values of its constants; they are written as zeros.
  static void put_constant(std::string& out, const nn::tensor_type& t, data_type type) {
    auto tensor = wire::message(1, type, 2, shape(t.dims));
    if (type == dt::float32) {
      wire::put(tensor, 5, 0.0f);
    } else {
      wire::put(tensor, type == dt::boolean ? 11 : type == dt::half ? 13 : 10, 0);
    }
    put(out, "value", 8, tensor);
  }

  /// What a network has in its shapes and work only, as attributes.
  static void put_options(std::string& out, const nn::op_spec& o) {
    const auto& in = o.inputs;
    const auto& result = o.outputs[0].dims;
    if (o.type == "MatMul") {
      put(out, "transpose_a", 5, in[0].dims()[0] != result[0]);
      put(out, "transpose_b", 5, in[1].dims()[1] != result[1]);
    } else if (o.type == "BatchMatMulV2") {
      const auto r = result.size();
      put(out, "adj_x", 5, in[0].dims()[r - 2] != result[r - 2]);
      put(out, "adj_y", 5, in[1].dims()[r - 1] != result[r - 1]);
    } else if (o.type == "Conv2D") {
      put_window(out, in[0].dims(), result, in[1].dims()[0]);
    } else if (o.type == "Conv2DBackpropInput") {
      put_window(out, result, in[0].dims(), in[1].dims()[0]);
    } else if (o.type == "Conv2DBackpropFilter") {
      put_window(out, in[0].dims(), in[1].dims(), result[0]);
    } else if (o.type.ends_with("Pool") || o.type.ends_with("PoolGrad")) {
      const bool gradient = o.type.ends_with("Grad");
      const auto& pooled = gradient ? in[0].dims() : result;
      const auto area = o.work / static_cast<double>(nn::element_count(pooled));
      const auto side = static_cast<std::uint64_t>(std::lround(std::sqrt(area)));
      put(out, "ksize", 1, wire::repeated(3, extents{1, side, side, 1}));
      put_window(out, gradient ? result : in[0].dims(), pooled, side);
    } else if (o.type.starts_with("FusedBatchNorm") && !o.type.ends_with("Grad")) {
      put(out, "is_training", 5, o.outputs.size() > 1);
    } else if (o.type == "AddN" || o.type == "Pack") {
      put(out, "N", 3, in.size());
    } else if (o.type == "ConcatV2") {
      put(out, "N", 3, std::max<std::size_t>(in.size(), 2) - 1);
    } else if (o.type == "Split") {
      put(out, "num_split", 3, o.outputs.size());
    } else if (o.type == "Unpack") {
      put(out, "num", 3, o.outputs.size());
    }
  }

  /// The stride and padding that make `small` of `large`.
  static void put_window(std::string& out, const extents& large, const extents& small, std::uint64_t window) {
    const auto fits = [&](std::uint64_t stride, bool same) {
      const auto extent = same ? large[1] + stride - 1 : large[1] >= window ? large[1] - window + stride : 0;
      return extent / stride == small[1];
    };
    std::uint64_t stride = 1;
    while (stride < large[1] && !fits(stride, true) && !fits(stride, false)) {
      ++stride;
    }
    put(out, "strides", 1, wire::repeated(3, extents{1, stride, stride, 1}));
    put(out, "padding", 2, fits(stride, true) ? "SAME" : "VALID");
  }

  const nn::network& net_;
  const nn::built_workload& built_;
  const network_format& format_;
  std::vector<std::string> group_name_;
  std::vector<extents> variable_; // shapes of variables by their ops
};

} // namespace detail

/// Writes a workload that was made of a network as a GraphDef: with the names, types, inputs and colocations of the
/// network, the shapes of all outputs (`_output_shapes`), and devices if a placement is given. Constants have zeros for
/// values, since a network does not know them: the graph is for placing, viewing and estimating, not for running.
/// Throws `error` if a placement is given that does not have an entry per op of the workload, or not enough names.
/// Complexity: O(n + m).
/// ```
/// tensorflow::write_network(out, net, training_step_with_origins(net, task.objectives, task.options));
/// ```
inline void write_network(std::ostream& out, const nn::network& net, const nn::built_workload& built,
                          const network_format& format = {}) {
  if (!format.placement.empty()) {
    detail::require_names(format.placement, built.graph.num_ops(), format.names.size());
  }
  const auto bytes = detail::network_writer{net, built, format}.graph_def();
  out << (format.text ? to_text(bytes, schema::message_id::graph_def) : bytes);
}

/// Writes the ops that `roots` depend on.
inline void write_network(std::ostream& out, const nn::network& net, std::span<const op_id> roots,
                          const network_format& format = {}) {
  write_network(out, net, net.build_with_origins(roots), format);
}

} // namespace weft::tensorflow
