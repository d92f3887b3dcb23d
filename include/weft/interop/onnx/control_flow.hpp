// SPDX-License-Identifier: BSL-1.0
/// Bodies of loops and functions: trip counts, outputs, and the attributes that a call binds.
#pragma once

#include "weft/interop/onnx/values.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft::onnx::detail {

/// Ops that cost what their bodies cost.
inline constexpr std::string_view control_flow[] = {"If", "Loop", "Scan", "SequenceMap"};

/// Whether a node has graphs among its attributes.
inline bool has_body(const ::onnx::NodeProto& n) {
  return std::any_of(n.attribute().begin(), n.attribute().end(),
                     [](const auto& a) { return a.has_g() || a.graphs_size() != 0; });
}

/// How often a loop runs its body, if that is known.
inline std::optional<std::int64_t> known_iterations(const ::onnx::NodeProto& n,
                                                    std::span<const value* const> inputs) {
  const auto limit = n.op_type() == "Loop" && !inputs.empty() && inputs[0] != nullptr ? inputs[0]->integers()
                                                                                      : std::nullopt;
  if (limit && limit->size() == 1) {
    constexpr std::int64_t no_limit = std::numeric_limits<std::int32_t>::max(); // what exporters write for `while`
    const auto trips = limit->front();
    return trips < no_limit ? std::optional{std::max<std::int64_t>(trips, 0)} : std::nullopt;
  }
  if (n.op_type() == "Scan") {
    const auto scanned = number_attribute(n, "num_scan_inputs", 0);
    const auto first = static_cast<std::int64_t>(inputs.size()) - scanned;
    if (scanned > 0 && first >= 0 && inputs[static_cast<std::size_t>(first)] != nullptr) {
      const auto dims = extents_of(inputs[static_cast<std::size_t>(first)]->type);
      const auto axes = list_attribute(n, "scan_input_axes");
      auto axis = axes && !axes->empty() ? axes->front() : 0;
      const auto rank = dims ? static_cast<std::int64_t>(dims->size()) : 0;
      axis += axis < 0 ? rank : 0;
      if (axis >= 0 && axis < rank) {
        return (*dims)[static_cast<std::size_t>(axis)];
      }
    }
  }
  return std::nullopt;
}

/// The outputs of a Loop have the shapes that its body gives: inference leaves them open, since they might change from
/// iteration to iteration. Outputs of a body besides its state are stacked.
inline void complete_loop(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                          std::span<const value> body_outputs, std::vector<::onnx::TypeProto>& types) {
  for (std::size_t i = 0; i < types.size() && i + 1 < body_outputs.size(); ++i) {
    const auto& given = body_outputs[i + 1].type;
    const bool is_state = i + 2 < inputs.size();
    const auto stacked = is_state ? std::nullopt : known_iterations(n, inputs);
    if (extents_of(types[i]) || !extents_of(given) || !(is_state || stacked)) {
      continue;
    }
    types[i] = given;
    if (!is_state) {
      auto& shape = *types[i].mutable_tensor_type()->mutable_shape();
      shape.clear_dim();
      shape.add_dim()->set_dim_value(*stacked);
      shape.MergeFrom(given.tensor_type().shape());
    }
  }
}

/// Whether nodes of a function, or those of bodies in it, take attributes from its calls.
inline bool refers_to_attributes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return std::any_of(n.attribute().begin(), n.attribute().end(), [](const auto& a) {
      return !a.ref_attr_name().empty() || refers_to_attributes(a.g().node()) ||
             std::any_of(a.graphs().begin(), a.graphs().end(),
                         [](const auto& g) { return refers_to_attributes(g.node()); });
    });
  });
}

/// Gives nodes of a function, and those of bodies in it, the attributes that they take from a call or by default.
inline void bind_attributes(google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, const ::onnx::NodeProto& call,
                            const std::vector<::onnx::AttributeProto>& defaults) {
  for (auto& inner : nodes) {
    auto& attributes = *inner.mutable_attribute();
    for (int i = attributes.size(); i-- > 0;) {
      auto& a = attributes[i];
      if (a.has_g()) {
        bind_attributes(*a.mutable_g()->mutable_node(), call, defaults);
      }
      for (auto& g : *a.mutable_graphs()) {
        bind_attributes(*g.mutable_node(), call, defaults);
      }
      if (a.ref_attr_name().empty()) {
        continue;
      }
      const auto* given = attribute(call, a.ref_attr_name());
      for (const auto& x : defaults) {
        given = given == nullptr && x.name() == a.ref_attr_name() ? &x : given;
      }
      if (given == nullptr) {
        attributes.DeleteSubrange(i, 1);
      } else {
        const auto name = a.name();
        a = *given;
        a.set_name(name);
      }
    }
  }
}

} // namespace weft::onnx::detail
