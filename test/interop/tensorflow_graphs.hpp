// SPDX-License-Identifier: BSL-1.0
/// Graphs of TensorFlow's for tests, in Protocol Buffers' text format.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft_test {

using tensor_dims = std::vector<std::int64_t>;

inline std::string attr(const std::string& key, const std::string& value) {
  return "attr { key: '" + key + "' value { " + value + " } } ";
}
inline std::string type_attr(const std::string& key, const std::string& type) { return attr(key, "type: " + type); }
inline std::string number(const std::string& key, std::int64_t i) { return attr(key, "i: " + std::to_string(i)); }
inline std::string word(const std::string& key, const std::string& s) { return attr(key, "s: '" + s + "'"); }
inline std::string flag(const std::string& key, bool b = true) { return attr(key, b ? "b: true" : "b: false"); }
inline std::string calls(const std::string& key, const std::string& function) {
  return attr(key, "func { name: '" + function + "' }");
}
inline std::string ints(const std::string& key, const tensor_dims& list) {
  std::string text = "list { ";
  for (const auto i : list) {
    text += "i: " + std::to_string(i) + " ";
  }
  return attr(key, text + "}");
}
inline std::string extents(const tensor_dims& dims) {
  std::string text;
  for (const auto d : dims) {
    text += "dim { size: " + std::to_string(d) + " } ";
  }
  return text;
}
inline std::string shape(const tensor_dims& dims) { return "shape { " + extents(dims) + "}"; }

/// A node with inputs and attributes.
inline std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
                        const std::string& attributes = "") {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (const auto& i : inputs) {
    text += "input: '" + i + "' ";
  }
  return text + attributes + "}\n";
}
/// The same in a function.
inline std::string inner(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
                         const std::string& attributes = "") {
  return "node_def" + node(name, op, inputs, attributes).substr(4);
}
inline std::string placeholder(const std::string& name, const tensor_dims& dims,
                               const std::string& type = "DT_FLOAT") {
  return node(name, "Placeholder", {}, type_attr("dtype", type) + attr("shape", shape(dims)));
}
/// `elements` as a TensorProto has them, such as `int_val: 3`.
inline std::string constant(const std::string& name, const std::string& type, const tensor_dims& dims,
                            const std::string& elements) {
  return node(name, "Const", {},
              type_attr("dtype", type) +
                attr("value", "tensor { dtype: " + type + " tensor_shape { " + extents(dims) + "} " + elements + " }"));
}

} // namespace weft_test
