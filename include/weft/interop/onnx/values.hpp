// SPDX-License-Identifier: BSL-1.0
/// Facts about a model's tensors, with the elements of small ones: extents that a model computes with Shape, Gather,
/// Concat and the like, on which the shapes of other tensors depend.
#pragma once

#include "weft/interop/onnx/tensors.hpp"
#include "weft/ops/shape_call.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weft::onnx::detail {

using numbers = std::vector<std::int64_t>;

/// Whether a type is one of tensors with more axes than that, in sequences too.
inline bool has_too_many_axes(const ::onnx::TypeProto& type) {
  const auto* inner = &type;
  for (int depth = 0; depth < 100 && (inner->has_sequence_type() || inner->has_optional_type()); ++depth) {
    inner = inner->has_sequence_type() ? &inner->sequence_type().elem_type() : &inner->optional_type().elem_type();
  }
  return inner->has_tensor_type() && inner->tensor_type().shape().dim_size() > ops::max_axes;
}

/// Whether there are texts in what a type is of: in a tensor, in sequences, optionals and maps, or as their keys.
inline bool has_text(const ::onnx::TypeProto& type) {
  const auto* inner = &type;
  for (int depth = 0; depth < 100; ++depth) {
    switch (inner->value_case()) {
    case ::onnx::TypeProto::kTensorType: return inner->tensor_type().elem_type() == ::onnx::TensorProto::STRING;
    case ::onnx::TypeProto::kSparseTensorType:
      return inner->sparse_tensor_type().elem_type() == ::onnx::TensorProto::STRING;
    case ::onnx::TypeProto::kSequenceType: inner = &inner->sequence_type().elem_type(); break;
    case ::onnx::TypeProto::kOptionalType: inner = &inner->optional_type().elem_type(); break;
    case ::onnx::TypeProto::kMapType:
      if (inner->map_type().key_type() == ::onnx::TensorProto::STRING) {
        return true;
      }
      inner = &inner->map_type().value_type();
      break;
    default: return false;
    }
  }
  return false;
}

/// A tensor of a model.
struct value {
  ::onnx::TypeProto type = {};               ///< what is known of it
  const ::onnx::TensorProto* data = nullptr; ///< its elements, if the file has them
  mutable std::optional<ops::known_tensor> known = {}; ///< … or if they are few, and follow from others
  std::optional<ops::partly_known_tensor> part = {};   ///< … or if only some of them do
  bool parameter = false;                    ///< known before the model runs
  bool guessed = false;                      ///< its shape was assumed, or follows from one that was
  const value* storage = nullptr;            ///< the parameter that it is a view of, or null
  std::optional<std::int64_t> length = {};   ///< of a sequence, if it is known
  std::uint64_t number = 0;                  ///< of all tensors that are certainly equal to this one; 0: of none

  /// Its elements, if they are known; else null.
  const ops::known_tensor* elements() const {
    if (!known && data != nullptr) {
      known = known_of(*data);
    }
    return known ? &*known : nullptr;
  }
  /// Few whole numbers, such as a shape.
  std::optional<numbers> integers() const {
    constexpr std::int64_t most = 256;
    const auto dims = type.has_tensor_type() ? type.tensor_type().shape().dim_size() : 0;
    const bool is_long = !known && dims == 1 && type.tensor_type().shape().dim(0).dim_value() > most;
    const auto format = format_of(type.tensor_type().elem_type());
    if (is_long || !format || format->is == ops::known_tensor::format::single_precision ||
        format->is == ops::known_tensor::format::double_precision) {
      return std::nullopt;
    }
    const auto* const x = elements();
    const bool is_list = x != nullptr && x->whole() != nullptr && x->size() <= static_cast<std::size_t>(most);
    return is_list ? std::optional{*x->whole()} : std::nullopt;
  }
};

/// The tensors that nodes of one graph can name.
struct scope {
  const scope* outer = nullptr;
  const std::map<std::string, std::int64_t>* versions = nullptr; ///< of operator sets, by domain
  std::unordered_map<std::string_view, value> values = {};
  std::unordered_map<std::string_view, const ::onnx::TypeProto*> declared = {};

  const value* find(std::string_view name) const {
    for (const scope* s = this; s != nullptr && !name.empty(); s = s->outer) {
      if (const auto found = s->values.find(name); found != s->values.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }
};

/// The extents of a tensor of which all are known.
inline std::optional<numbers> extents_of(const ::onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) {
    return std::nullopt;
  }
  numbers dims;
  for (const auto& d : type.tensor_type().shape().dim()) {
    if (!d.has_dim_value() || d.dim_value() < 0) {
      return std::nullopt;
    }
    dims.push_back(d.dim_value());
  }
  return dims;
}

inline const ::onnx::AttributeProto* attribute(const ::onnx::NodeProto& n, std::string_view name) {
  for (const auto& a : n.attribute()) {
    if (a.name() == name) {
      return &a;
    }
  }
  return nullptr;
}

inline std::int64_t number_attribute(const ::onnx::NodeProto& n, std::string_view name, std::int64_t otherwise) {
  const auto* a = attribute(n, name);
  return a != nullptr && a->has_i() ? a->i() : otherwise;
}

inline std::optional<numbers> list_attribute(const ::onnx::NodeProto& n, std::string_view name) {
  const auto* a = attribute(n, name);
  return a == nullptr ? std::nullopt : std::optional<numbers>{std::in_place, a->ints().begin(), a->ints().end()};
}

/// The type of an op: with its domain, unless that is ONNX's own or weft's.
inline std::string type_of(const ::onnx::NodeProto& n) {
  const auto& d = n.domain();
  return d.empty() || d == "ai.onnx" || d == "ai.weft" ? n.op_type() : d + "." + n.op_type();
}

/// True if an op of ONNX draws numbers, so that two of them with the same inputs make different tensors.
inline bool is_random(std::string_view type) {
  return type.starts_with("Random") || type == "Bernoulli" || type == "Multinomial";
}

/// A parameter is known before the model runs: an initialiser, a Constant, and what follows from parameters alone.
inline bool is_parameter(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
  if (n.domain() == "ai.weft") {
    return false;
  }
  if (inputs.empty()) {
    return n.op_type() == "Constant" && type_of(n) == "Constant";
  }
  if (is_random(n.op_type())) {
    return false;
  }
  for (const auto& a : n.attribute()) {
    if (a.has_g() || a.graphs_size() != 0) { // bodies may read other things
      return false;
    }
  }
  bool any = false;
  for (int i = 0; i < n.input_size(); ++i) {
    const value* v = inputs[static_cast<std::size_t>(i)];
    if (!n.input(i).empty() && (v == nullptr || !v->parameter)) {
      return false;
    }
    any = any || v != nullptr;
  }
  return any;
}

inline void add_captures(const ::onnx::GraphProto& g, std::set<std::string_view>& captured);

/// All names that a node reads, and that its bodies take from around it.
inline void add_reads(const ::onnx::NodeProto& n, std::set<std::string_view>& names) {
  names.insert(n.input().begin(), n.input().end());
  for (const auto& a : n.attribute()) {
    if (a.has_g()) {
      add_captures(a.g(), names);
    }
    for (const auto& body : a.graphs()) {
      add_captures(body, names);
    }
  }
}

/// All names that a body takes from around it, its bodies included.
inline void add_captures(const ::onnx::GraphProto& g, std::set<std::string_view>& captured) {
  std::set<std::string_view> own;
  for (const auto& x : g.input()) {
    own.insert(x.name());
  }
  for (const auto& x : g.initializer()) {
    own.insert(x.name());
  }
  for (const auto& x : g.sparse_initializer()) {
    own.insert(x.values().name());
  }
  for (const auto& n : g.node()) {
    own.insert(n.output().begin(), n.output().end());
  }
  std::set<std::string_view> read;
  for (const auto& n : g.node()) {
    add_reads(n, read);
  }
  for (const auto& x : g.output()) {
    read.insert(x.name());
  }
  std::copy_if(read.begin(), read.end(), std::inserter(captured, captured.end()),
               [&](std::string_view name) { return !name.empty() && !own.contains(name); });
}

} // namespace weft::onnx::detail
