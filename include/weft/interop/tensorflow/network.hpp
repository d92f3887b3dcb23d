// SPDX-License-Identifier: BSL-1.0
/// Writes networks as TensorFlow graphs.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/schema.hpp"
#include "weft/interop/tensorflow/text_printer.hpp"
#include "weft/interop/tensorflow/wire.hpp"
#include "weft/workload/nn/network.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow {

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
      : net_{net}, built_{built}, format_{format}, group_name_(built.graph.num_groups()), variable_(net.num_ops()) {
    for (const auto& x : net.variables()) {
      variable_[x.op] = x.value.dims();
    }
  }

  std::string graph_def() {
    std::string out;
    for (const op_id v : ids(built_.graph.num_ops())) {
      wire::put(out, 1, std::string_view{node(v)});
    }
    std::string versions;
    wire::put(versions, 1, std::uint64_t{27}); // TensorFlow 1.13, of whose time these ops are
    wire::put(out, 4, std::string_view{versions});
    return out;
  }

private:
  using extents = nn::extents;

  std::string node(op_id v) {
    const auto& [o, awaited] = net_[built_.origin[v]];
    std::string out;
    wire::put(out, 1, std::string_view{o.name});
    wire::put(out, 2, std::string_view{o.type});
    for (const auto& t : inputs_of(o)) {
      const auto port = t.output() == 0 ? std::string{} : ":" + std::to_string(t.output());
      wire::put(out, 3, std::string_view{net_[t.op()].op.name + port});
    }
    for (const op_id before : awaited) {
      wire::put(out, 3, std::string_view{"^" + net_[before].op.name});
    }
    if (const auto device = device_of(v, o); !device.empty()) {
      wire::put(out, 4, std::string_view{device});
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

  static std::uint64_t type_of(const nn::tensor_type& t) {
    return t.element_bytes == 1   ? dt::boolean
           : t.element_bytes == 2 ? dt::half
           : t.element_bytes == 8 ? dt::int64
                                  : dt::float32;
  }
  /// The shape of a variable; of one that has no `read`, a vector of as many bytes, or a scalar.
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

  static std::string shape(const extents& dims) {
    std::string out;
    for (const auto d : dims) {
      std::string size;
      wire::put(size, 1, std::uint64_t{d});
      wire::put(out, 2, std::string_view{size});
    }
    return out;
  }
  static void put_attribute(std::string& out, std::string_view key, const std::string& value) {
    std::string entry;
    wire::put(entry, 1, key);
    wire::put(entry, 2, std::string_view{value});
    wire::put(out, 5, std::string_view{entry});
  }
  static void put_type(std::string& out, std::string_view key, std::uint64_t type) {
    std::string value;
    wire::put(value, 6, type);
    put_attribute(out, key, value);
  }
  static void put_bool(std::string& out, std::string_view key, bool b) {
    std::string value;
    wire::put(value, 5, std::uint64_t{b});
    put_attribute(out, key, value);
  }
  static void put_integer(std::string& out, std::string_view key, std::uint64_t i) {
    std::string value;
    wire::put(value, 3, i);
    put_attribute(out, key, value);
  }
  static void put_text(std::string& out, std::string_view key, std::string_view text) {
    std::string value;
    wire::put(value, 2, text);
    put_attribute(out, key, value);
  }
  static void put_shape(std::string& out, std::string_view key, const extents& dims) {
    std::string value;
    wire::put(value, 7, std::string_view{shape(dims)});
    put_attribute(out, key, value);
  }
  template <class Entries>
  static void put_list(std::string& out, std::string_view key, const Entries& entries) {
    std::string list;
    entries(list);
    std::string value;
    wire::put(value, 1, std::string_view{list});
    put_attribute(out, key, value);
  }
  static void put_integers(std::string& out, std::string_view key, const extents& numbers) {
    put_list(out, key, [&](std::string& list) {
      for (const auto i : numbers) {
        wire::put(list, 3, std::uint64_t{i});
      }
    });
  }

  void put_attributes(std::string& out, op_id v, const nn::op_spec& o) {
    const auto origin = built_.origin[v];
    if (const auto g = built_.graph.group(v); g != none) {
      if (group_name_[g].empty()) {
        group_name_[g] = o.name; // of its first member, which all name
      } else {
        put_list(out, "_class",
                 [&](std::string& list) { wire::put(list, 2, std::string_view{"loc:@" + group_name_[g]}); });
      }
    }
    put_list(out, "_output_shapes", [&](std::string& list) {
      for (std::size_t i = 0; i < o.outputs.size(); ++i) {
        wire::put(list, 7, std::string_view{shape(dims_of(origin, o, i))});
      }
    });
    if (o.type == "IteratorGetNext") {
      put_list(out, "output_types", [&](std::string& list) {
        for (const auto& t : o.outputs) {
          wire::put(list, 6, type_of(t));
        }
      });
      put_list(out, "output_shapes", [&](std::string& list) {
        for (const auto& t : o.outputs) {
          wire::put(list, 7, std::string_view{shape(t.dims)});
        }
      });
      return;
    }
    if (o.outputs.empty()) {
      return;
    }
    const auto type = type_of(o.outputs[0]);
    if (o.type == "Const") {
      put_type(out, "dtype", type);
      put_constant(out, o.outputs[0], type);
    } else if (o.type == "VariableV2") {
      put_type(out, "dtype", dt::float32);
      put_shape(out, "shape", state_of(origin));
      put_text(out, "container", "");
      put_text(out, "shared_name", "");
    } else if (o.type == "RandomUniform") {
      put_type(out, "dtype", type);
      put_type(out, "T", dt::int32);
    } else if (o.type == "GreaterEqual") {
      put_type(out, "T", type_of(o.inputs[0].type()));
    } else {
      put_type(out, "T", runs_with_its_variable(o.type) ? std::uint64_t{dt::float32} : type);
    }
    put_options(out, o);
  }

  /// A network does not know the values of its constants; they are written as zeros.
  static void put_constant(std::string& out, const nn::tensor_type& t, std::uint64_t type) {
    std::string tensor;
    wire::put(tensor, 1, type);
    wire::put(tensor, 2, std::string_view{shape(t.dims)});
    switch (type) {
    case dt::boolean: wire::put(tensor, 11, std::uint64_t{0}); break;
    case dt::half: wire::put(tensor, 13, std::uint64_t{0}); break;
    case dt::int64: wire::put(tensor, 10, std::uint64_t{0}); break;
    default: wire::put(tensor, 5, 0.0f);
    }
    std::string value;
    wire::put(value, 8, std::string_view{tensor});
    put_attribute(out, "value", value);
  }

  /// What a network has in its shapes and work only, as attributes.
  static void put_options(std::string& out, const nn::op_spec& o) {
    const auto& in = o.inputs;
    const auto& result = o.outputs[0].dims;
    if (o.type == "MatMul") {
      const bool transposed = in[0].dims()[0] != result[0];
      put_bool(out, "transpose_a", transposed);
      put_bool(out, "transpose_b", in[1].dims()[1] != result[1]);
    } else if (o.type == "BatchMatMulV2") {
      const auto r = result.size();
      put_bool(out, "adj_x", in[0].dims()[r - 2] != result[r - 2]);
      put_bool(out, "adj_y", in[1].dims()[r - 1] != result[r - 1]);
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
      put_integers(out, "ksize", {1, side, side, 1});
      put_window(out, gradient ? result : in[0].dims(), pooled, side);
    } else if (o.type == "AddN" || o.type == "Pack") {
      put_integer(out, "N", in.size());
    } else if (o.type == "ConcatV2") {
      put_integer(out, "N", std::max<std::size_t>(in.size(), 2) - 1);
    } else if (o.type == "Split") {
      put_integer(out, "num_split", o.outputs.size());
    } else if (o.type == "Unpack") {
      put_integer(out, "num", o.outputs.size());
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
    put_integers(out, "strides", {1, stride, stride, 1});
    put_text(out, "padding", fits(stride, true) ? "SAME" : "VALID");
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
  if (!format.placement.empty() && format.placement.size() != built.graph.num_ops()) {
    throw error("the placement has " + std::to_string(format.placement.size()) + " entries for " +
                std::to_string(built.graph.num_ops()) + " ops");
  }
  for (const device_id d : format.placement) {
    if (d != none && d >= format.names.size()) {
      throw error("an op is placed on device " + std::to_string(d) + ", but there are names for " +
                  std::to_string(format.names.size()));
    }
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
