// SPDX-License-Identifier: BSL-1.0
/// Plausibility checks of nodes, to keep ONNX's inference functions from crashing on them.
#pragma once

#include "weft/interop/onnx/values.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::onnx::detail {

/// Whether a node is such that inference functions can be let at it: they divide by attributes, loop to them and read
/// extents without a look at whether they are there.
class plausibility {
public:
  plausibility(const ::onnx::NodeProto& n, const ::onnx::OpSchema& schema, std::span<const value* const> inputs)
      : n_{n}, schema_{schema}, inputs_{inputs} {}

  bool operator()() const {
    return n_.op_type() != "STFT" && // reads elements of its inputs even if they are not known
           std::ranges::all_of(n_.attribute(), [](const auto& a) { return in_range(a); }) &&
           has_ranks() && has_types() && has_kinds() && in_range() && has_extents() && axis_exists();
  }

private:
  static bool in_range(const ::onnx::AttributeProto& a) {
    constexpr std::int64_t large = std::int64_t{1} << 40;
    static constexpr std::string_view positive[] = {"strides",     "dilations",    "kernel_shape",  "blocksize",
                                                    "group",       "num_outputs",  "output_height", "output_width",
                                                    "hidden_size", "pooled_shape", "sample_size"};
    const bool is_value = a.name() == "value_int" || a.name() == "value_ints";
    if (is_value || a.name() == "starts" || a.name() == "ends" || a.name() == "seed") { // any number means something
      return true;
    }
    const bool above_zero = std::ranges::find(positive, a.name()) != std::end(positive);
    const std::int64_t least = above_zero ? 1 : a.name() == "batch_dims" ? 0 : -large;
    const auto within = [least](std::int64_t x) { return x >= least && x <= large; };
    return std::ranges::all_of(a.ints(), within) && (!a.has_i() || within(a.i()));
  }

  bool has_ranks() const {
    return std::ranges::none_of(inputs_, [](const value* v) { return v != nullptr && has_too_many_axes(v->type); });
  }

  bool has_types() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool optional = i > 0 && n_.input(static_cast<int>(i)).empty();
      if (!optional && (inputs_[i] == nullptr || inputs_[i]->type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET)) {
        return false;
      }
    }
    return true;
  }

  /// Tensors where the op takes tensors, sequences where it takes sequences, and so on.
  bool has_kinds() const {
    const auto& formal = schema_.inputs();
    for (std::size_t i = 0; i < inputs_.size() && !formal.empty(); ++i) {
      const auto& types = formal[std::min(i, formal.size() - 1)].GetTypes();
      const auto begin = inputs_[i] == nullptr ? "" : kind_of(inputs_[i]->type);
      if (!types.empty() && std::ranges::none_of(types, [&](const auto* t) { return t->starts_with(begin); })) {
        return false;
      }
    }
    return true;
  }
  static std::string_view kind_of(const ::onnx::TypeProto& type) {
    switch (type.value_case()) {
    case ::onnx::TypeProto::kTensorType: return "tensor(";
    case ::onnx::TypeProto::kSequenceType: return "seq(";
    case ::onnx::TypeProto::kMapType: return "map(";
    case ::onnx::TypeProto::kOptionalType: return "optional(";
    case ::onnx::TypeProto::kSparseTensorType: return "sparse_tensor(";
    default: return "";
    }
  }

  /// Extents are no sizes of loops that never end, lengths of shapes are ranks, and parts have a size.
  bool in_range() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] == nullptr || !inputs_[i]->type.has_tensor_type()) {
        continue;
      }
      const auto& shape = inputs_[i]->type.tensor_type().shape();
      const bool is_shape = (n_.op_type() == "ConstantOfShape" && i == 0) ||
                            ((n_.op_type() == "Expand" || n_.op_type() == "Tile") && i == 1);
      const std::int64_t most = is_shape && shape.dim_size() == 1 ? ops::max_axes : std::int64_t{1} << 60;
      if (std::ranges::any_of(shape.dim(), [&](const auto& d) { return d.dim_value() < 0 || d.dim_value() > most; })) {
        return false;
      }
    }
    const auto* parts = n_.op_type() == "SplitToSequence" && inputs_.size() > 1 ? inputs_[1] : nullptr;
    const auto sizes = parts == nullptr ? std::nullopt : parts->integers();
    return !sizes || std::ranges::all_of(*sizes, [](std::int64_t x) { return x > 0; });
  }

  /// The rank of an input; nothing if it is absent or not known.
  std::optional<int> rank(std::size_t i) const {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    return v != nullptr && v->type.has_tensor_type() && v->type.tensor_type().has_shape()
             ? std::optional{v->type.tensor_type().shape().dim_size()}
             : std::nullopt;
  }

  bool has_extents() const {
    const auto is_one_of = [this](std::initializer_list<std::string_view> types) {
      return std::ranges::find(types, n_.op_type()) != types.end();
    };
    const bool unpools = is_one_of({"MaxUnpool"});
    const bool filters = unpools || is_one_of({"Conv", "ConvInteger", "QLinearConv", "ConvTranspose"});
    const bool multiplies = is_one_of({"Gemm"});
    const std::size_t ranked = is_one_of({"LSTM", "GRU", "RNN"}) ? 3 : multiplies ? 2 : filters ? 1 : 0; // inputs
    const int least = filters || multiplies ? 2 : 3;
    for (std::size_t i = 0; i < ranked; ++i) {
      if (rank(i).value_or(least) < least) {
        return false;
      }
    }
    const auto x = rank(0);
    const auto filter = rank(n_.op_type() == "QLinearConv" ? 3 : 1);
    return (!filters || !x || !filter || *x == *filter) && (!unpools || filter);
  }

  bool axis_exists() const {
    const auto r = rank(0);
    const auto axis = number_attribute(n_, "axis", 0);
    const int beyond = n_.op_type() == "LayerNormalization" ? 0 : 1; // some may name the end, or a new axis
    return !r || (axis >= -*r - beyond && axis < *r + beyond) || (axis == 0 && beyond == 1);
  }

  const ::onnx::NodeProto& n_;
  const ::onnx::OpSchema& schema_;
  std::span<const value* const> inputs_;
};

} // namespace weft::onnx::detail
