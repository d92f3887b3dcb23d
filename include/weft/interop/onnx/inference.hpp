// SPDX-License-Identifier: BSL-1.0
/// The types and shapes of one node's outputs: by weft's rules and by the schemas of ONNX's library.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/onnx/op_calls.hpp"
#include "weft/interop/onnx/plausibility.hpp"
#include "weft/interop/onnx/values.hpp"
#include "weft/io/text.hpp"

#include <exception>
#include <map>
#include <memory>
#include <stdexcept>

namespace weft::onnx::detail {

/// One node as ONNX's inference functions see it.
class node_context final : public ::onnx::InferenceContext {
public:
  node_context(const ::onnx::NodeProto& n, std::span<const value* const> inputs)
      : n_{n}, inputs_{inputs}, data_(inputs.size()), outputs_(static_cast<std::size_t>(n.output_size())) {}

  /// Takes these for the elements of an input, whatever is known of it.
  void replace(std::size_t i, const numbers& elements) {
    data_[i] = tensor_of(ops::known_tensor::of(elements), ::onnx::TensorProto::INT64);
  }

  std::vector<::onnx::TypeProto> take() { return std::move(outputs_); }

  const ::onnx::AttributeProto* getAttribute(const std::string& name) const override { return attribute(n_, name); }
  std::size_t getNumInputs() const override { return inputs_.size(); }
  const ::onnx::TypeProto* getInputType(std::size_t i) const override {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    return v == nullptr || v->type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET ? nullptr : &v->type;
  }
  const ::onnx::TensorProto* getInputData(std::size_t i) const override {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    if (v == nullptr) {
      return nullptr;
    }
    if (!data_[i] && v->known && v->type.has_tensor_type()) {
      data_[i] = tensor_of(*v->known, v->type.tensor_type().elem_type());
    }
    return data_[i] ? data_[i].get() : v->data;
  }
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  ::onnx::TypeProto* getOutputType(std::size_t i) override { return &outputs_.at(i); }
  ::onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    throw std::runtime_error{"the body '" + name + "' is followed elsewhere"};
  }
  const ::onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const ::onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

private:
  const ::onnx::NodeProto& n_;
  std::span<const value* const> inputs_;
  mutable std::vector<std::unique_ptr<::onnx::TensorProto>> data_; // made when asked for
  std::vector<::onnx::TypeProto> outputs_;
};

/// Makes of a node of an operator set newer than all that ONNX's library knows what the schema can take: without the
/// attributes and inputs that came later, most of which say nothing of shapes; where they do, inference refuses the
/// rest. False if nothing had to go.
inline bool trim_to(const ::onnx::OpSchema& schema, const ::onnx::NodeProto& n, std::int64_t version,
                    ::onnx::NodeProto& trimmed) {
  const auto& known = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto range = known.find(schema.domain());
  const auto later = [&](const auto& a) { return !schema.attributes().contains(a.name()); };
  const auto has_body = [](const auto& a) { return a.has_g() || a.graphs_size() != 0; };
  if (range == known.end() || version <= range->second.second ||
      std::any_of(n.attribute().begin(), n.attribute().end(), has_body) ||
      (n.input_size() <= schema.max_input() && std::none_of(n.attribute().begin(), n.attribute().end(), later))) {
    return false;
  }
  trimmed = n;
  auto& attributes = *trimmed.mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(), later), attributes.end());
  const int inputs = std::min(n.input_size(), schema.max_input());
  trimmed.mutable_input()->DeleteSubrange(inputs, n.input_size() - inputs);
  return true;
}

/// What the schema of an op infers; nothing if there is none. Throws if it refuses the node. `shape` replaces the
/// elements of the second input.
inline std::vector<::onnx::TypeProto> infer_by_schema(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                                                      std::int64_t version, const std::optional<numbers>& shape) {
  const auto known_version = static_cast<int>(std::clamp<std::int64_t>(version, 1, 1000));
  const auto* schema =
    ::onnx::OpSchemaRegistry::Schema(n.op_type(), known_version, n.domain() == "ai.onnx" ? "" : n.domain());
  if (schema == nullptr || schema->Deprecated()) {
    return {};
  }
  ::onnx::NodeProto older;
  const bool trimmed = trim_to(*schema, n, version, older);
  const auto& node = trimmed ? older : n;
  inputs = inputs.first(static_cast<std::size_t>(node.input_size()));
  if (!plausibility{node, *schema, inputs}()) {
    throw std::runtime_error{"a type is not known, or an attribute or a rank is out of its range"};
  }
  schema->Verify(node);
  node_context context{node, inputs};
  if (shape) {
    context.replace(1, *shape);
  }
  schema->GetTypeAndShapeInferenceFunction()(context);
  return context.take();
}

/// The types of a node's outputs: of weft's rule and of the op's schema that which is to count (see `shape_rule`), and
/// the other where that has no answer; unset where neither has one. Why a schema refused the node is in `refused` then.
inline std::vector<::onnx::TypeProto> infer(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                                            std::int64_t version, const std::optional<numbers>& shape,
                                            std::string& refused) {
  std::vector<::onnx::TypeProto> types(static_cast<std::size_t>(n.output_size()));
  if (n.domain() == "ai.weft" || types.empty()) { // its tensors are declared
    return types;
  }
  const auto is_open = [](const ::onnx::TypeProto& t) {
    return t.value_case() == ::onnx::TypeProto::VALUE_NOT_SET ||
           (t.has_tensor_type() && !t.tensor_type().has_shape());
  };
  const auto any_open = [&] {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (is_open(types[i]) && !n.output(static_cast<int>(i)).empty()) {
        return true;
      }
    }
    return false;
  };
  const auto fill = [&](const std::vector<::onnx::TypeProto>& from) {
    for (std::size_t i = 0; i < std::min(types.size(), from.size()); ++i) {
      if (is_open(types[i]) && from[i].value_case() != ::onnx::TypeProto::VALUE_NOT_SET) {
        types[i] = from[i];
      }
    }
  };
  const auto type = type_of(n);
  const auto* rule = find_shape_rule(type);
  const auto apply_rule = [&] { fill(infer_by_rule(*rule, n, inputs, type, version)); };
  const bool rule_counts = rule != nullptr && version >= rule->since;
  if (rule_counts) {
    apply_rule();
  }
  if (any_open()) {
    try {
      fill(infer_by_schema(n, inputs, version, shape));
    } catch (const std::exception& e) {
      refused = e.what();
    }
    if (rule != nullptr && !rule_counts && any_open()) {
      apply_rule();
    }
  }
  if (!any_open()) {
    refused.clear();
  }
  return types;
}

} // namespace weft::onnx::detail
