// SPDX-License-Identifier: BSL-1.0
/// Small ONNX models for tests, made node by node.
#pragma once

#include "weft/interop/onnx.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace weft_test {

/// Builds a model. Shapes with a -1 have an unknown extent there.
class onnx_model {
public:
  using dims = std::vector<std::int64_t>;

  explicit onnx_model(std::int64_t version = 17) {
    m.set_ir_version(8);
    import(m, "", version);
    m.mutable_graph()->set_name("test");
  }

  /// Of a model or a function.
  template <class Message>
  static void import(Message& to, const std::string& domain, std::int64_t version) {
    auto& o = *to.add_opset_import();
    o.set_domain(domain);
    o.set_version(version);
  }

  onnx_model& input(const std::string& name, const dims& shape, std::int32_t type = ::onnx::TensorProto::FLOAT) {
    declare(*m.mutable_graph()->add_input(), name, shape, type);
    return *this;
  }
  onnx_model& output(const std::string& name, const dims& shape) {
    declare(*m.mutable_graph()->add_output(), name, shape, ::onnx::TensorProto::FLOAT);
    return *this;
  }
  onnx_model& declared(const std::string& name, const dims& shape) {
    declare(*m.mutable_graph()->add_value_info(), name, shape, ::onnx::TensorProto::FLOAT);
    return *this;
  }
  /// An initialiser without its elements, as if they were in another file.
  onnx_model& weights(const std::string& name, const dims& shape, std::int32_t type = ::onnx::TensorProto::FLOAT) {
    auto& t = *m.mutable_graph()->add_initializer();
    t.set_name(name);
    t.set_data_type(type);
    t.mutable_dims()->Add(shape.begin(), shape.end());
    t.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& location = *t.add_external_data();
    location.set_key("location");
    location.set_value("there is no such file");
    return *this;
  }
  onnx_model& integers(const std::string& name, const dims& elements) {
    auto& t = *m.mutable_graph()->add_initializer();
    t.set_name(name);
    t.set_data_type(::onnx::TensorProto::INT64);
    t.add_dims(static_cast<std::int64_t>(elements.size()));
    t.mutable_int64_data()->Add(elements.begin(), elements.end());
    return *this;
  }
  ::onnx::NodeProto& node(const std::string& type, std::initializer_list<std::string> inputs,
                          std::initializer_list<std::string> outputs, const std::string& domain = "") {
    return add_to(*m.mutable_graph(), type, inputs, outputs, domain);
  }
  /// To a graph or a function.
  template <class To>
  static ::onnx::NodeProto& add_to(To& to, const std::string& type, std::initializer_list<std::string> inputs,
                                   std::initializer_list<std::string> outputs, const std::string& domain = "") {
    auto& n = *to.add_node();
    n.set_op_type(type);
    n.set_domain(domain);
    n.mutable_input()->Add(inputs.begin(), inputs.end());
    n.mutable_output()->Add(outputs.begin(), outputs.end());
    return n;
  }
  static ::onnx::AttributeProto& attribute(::onnx::NodeProto& n, const std::string& name,
                                           ::onnx::AttributeProto::AttributeType type) {
    auto& a = *n.add_attribute();
    a.set_name(name);
    a.set_type(type);
    return a;
  }
  static void set(::onnx::NodeProto& n, const std::string& name, std::int64_t x) {
    attribute(n, name, ::onnx::AttributeProto::INT).set_i(x);
  }
  static void set(::onnx::NodeProto& n, const std::string& name, const dims& list) {
    attribute(n, name, ::onnx::AttributeProto::INTS).mutable_ints()->Add(list.begin(), list.end());
  }
  static void set(::onnx::NodeProto& n, const std::string& name, const std::string& text) {
    attribute(n, name, ::onnx::AttributeProto::STRING).set_s(text);
  }
  static void set_texts(::onnx::NodeProto& n, const std::string& name, const std::vector<std::string>& texts) {
    attribute(n, name, ::onnx::AttributeProto::STRINGS).mutable_strings()->Add(texts.begin(), texts.end());
  }
  static ::onnx::TensorProto& tensor(::onnx::NodeProto& n, const std::string& name) {
    return *attribute(n, name, ::onnx::AttributeProto::TENSOR).mutable_t();
  }
  static ::onnx::GraphProto& body(::onnx::NodeProto& n, const std::string& name) {
    auto& g = *attribute(n, name, ::onnx::AttributeProto::GRAPH).mutable_g();
    g.set_name(name);
    return g;
  }
  static void declare(::onnx::ValueInfoProto& x, const std::string& name, const dims& shape, std::int32_t type) {
    x.set_name(name);
    auto& tensor = *x.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const auto d : shape) {
      if (auto* dim = tensor.mutable_shape()->add_dim(); d >= 0) {
        dim->set_dim_value(d);
      }
    }
  }

  std::string bytes() const { return m.SerializeAsString(); }
  weft::model read(const weft::onnx::reader& options = {}) const { return options.read(bytes(), "test.onnx"); }

  ::onnx::ModelProto m;
};

template <class Number>
Number total(const weft::workload& w, Number (weft::workload::*of)(weft::op_id) const) {
  Number sum = 0;
  for (weft::op_id v = 0; v < w.num_ops(); ++v) {
    sum += (w.*of)(v);
  }
  return sum;
}
inline double total_work(const weft::workload& w) { return total(w, &weft::workload::work); }
inline weft::byte_count total_resident_bytes(const weft::workload& w) {
  return total(w, &weft::workload::resident_bytes);
}

/// The message of what a call throws; empty if it throws nothing of weft.
template <class Call>
std::string refusal(const Call& call) {
  try {
    (void)call();
  } catch (const weft::parse_error& e) {
    return e.what();
  } catch (const weft::error& e) {
    return std::string{"not a parse_error: "} + e.what();
  }
  return {};
}

} // namespace weft_test
