// SPDX-License-Identifier: BSL-1.0
/// Plausibility checks of nodes, to keep ONNX's inference functions from crashing on them.
#pragma once

#include "weft/interop/onnx/values.hpp"

#include <algorithm>
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
           std::all_of(n_.attribute().begin(), n_.attribute().end(), [](const auto& a) { return in_range(a); }) &&
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
    const bool above_zero = std::find(std::begin(positive), std::end(positive), a.name()) != std::end(positive);
    const std::int64_t least = above_zero ? 1 : a.name() == "batch_dims" ? 0 : -large;
    const auto within = [least](std::int64_t x) { return x >= least && x <= large; };
    return std::all_of(a.ints().begin(), a.ints().end(), within) && (!a.has_i() || within(a.i()));
  }

  bool has_ranks() const {
    return std::none_of(inputs_.begin(), inputs_.end(),
                        [](const value* v) { return v != nullptr && has_too_many_axes(v->type); });
  }

  bool has_types() const {
    const auto known = [this](std::size_t i) {
      return inputs_[i] != nullptr && inputs_[i]->type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET;
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool optional = i > 0 && n_.input(static_cast<int>(i)).empty();
      if (!optional && !known(i)) {
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
      if (!types.empty() && std::none_of(types.begin(), types.end(), [&](const std::string* t) {
            return t->starts_with(begin);
          })) {
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
      const std::int64_t most = is_shape && shape.dim_size() == 1 ? max_axes : std::int64_t{1} << 60;
      if (std::any_of(shape.dim().begin(), shape.dim().end(),
                      [most](const auto& d) { return d.dim_value() < 0 || d.dim_value() > most; })) {
        return false;
      }
    }
    const auto* parts = n_.op_type() == "SplitToSequence" && inputs_.size() > 1 ? inputs_[1] : nullptr;
    const auto sizes = parts == nullptr ? std::nullopt : parts->integers();
    return !sizes || std::all_of(sizes->begin(), sizes->end(), [](std::int64_t x) { return x > 0; });
  }

  /// The rank of an input; nothing if it is absent or not known.
  std::optional<int> rank(std::size_t i) const {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    return v != nullptr && v->type.has_tensor_type() && v->type.tensor_type().has_shape()
             ? std::optional{v->type.tensor_type().shape().dim_size()}
             : std::nullopt;
  }

  bool has_extents() const {
    struct least_rank {
      std::string_view type;
      std::size_t input;
      int rank;
    };
    static constexpr least_rank needed[] = {
      {"Conv", 0, 2},      {"ConvInteger", 0, 2}, {"QLinearConv", 0, 2}, {"ConvTranspose", 0, 2},
      {"MaxUnpool", 0, 2}, {"Gemm", 0, 2},        {"Gemm", 1, 2},        {"LSTM", 0, 3},
      {"LSTM", 1, 3},      {"LSTM", 2, 3},        {"GRU", 0, 3},         {"GRU", 1, 3},
      {"GRU", 2, 3},       {"RNN", 0, 3},         {"RNN", 1, 3},         {"RNN", 2, 3}};
    const bool filters = n_.op_type() == "Conv" || n_.op_type() == "ConvInteger" || n_.op_type() == "QLinearConv" ||
                         n_.op_type() == "ConvTranspose" || n_.op_type() == "MaxUnpool";
    const auto x = rank(0);
    const auto filter = rank(n_.op_type() == "QLinearConv" ? 3 : 1);
    return (!filters || !x || !filter || *x == *filter) && (n_.op_type() != "MaxUnpool" || filter) &&
           std::all_of(std::begin(needed), std::end(needed), [this](const least_rank& l) {
             return l.type != n_.op_type() || rank(l.input).value_or(l.rank) >= l.rank;
           });
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
