// SPDX-License-Identifier: BSL-1.0
/// Tensors of a model that are certainly equal, because the same op makes them of the same inputs.
#pragma once

#include "weft/interop/onnx/values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace weft::onnx::detail {

/// Numbers of tensors: those with the same number are equal. Exporters write an op again wherever its result is used,
/// so that what data decide of it, such as how much a NonZero finds, has to be asked for only once.
class equal_values {
public:
  /// The first of so many numbers that no tensor has yet.
  std::uint64_t fresh(std::uint64_t count = 1) {
    const auto first = last_ + 1;
    last_ += count;
    return first;
  }

  /// The number of the first output of an op without bodies; those of the others follow it.
  std::uint64_t first_output(const ::onnx::NodeProto& n, std::int64_t version, std::span<const value* const> inputs) {
    const auto count = static_cast<std::uint64_t>(n.output_size());
    if (!is_comparable(n, inputs)) {
      return fresh(count);
    }
    if (n.op_type() == "Identity" && inputs.size() == 1 && inputs[0] != nullptr && count == 1) {
      return inputs[0]->number;
    }
    const auto [at, is_new] = numbers_.try_emplace(key_of(n, version, inputs), last_ + 1);
    return is_new ? fresh(count) : at->second;
  }

private:
  /// True if attributes have few elements: large constants need not be compared. Found without a look at these.
  static bool is_small(const ::onnx::AttributeProto& a) {
    constexpr std::size_t most = 1024;
    const auto& t = a.t();
    const auto count = a.ints_size() + a.floats_size() + t.float_data_size() + t.int32_data_size() +
                       t.int64_data_size() + t.double_data_size() + t.uint64_data_size();
    const bool has_others = (a.strings_size() + a.tensors_size() + a.sparse_tensors_size() + t.string_data_size() +
                              a.type_protos_size()) != 0 || a.has_sparse_tensor();
    return !has_others && static_cast<std::size_t>(count) + a.s().size() + t.raw_data().size() <= most;
  }

  static bool is_comparable(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
    if (!(n.domain().empty() || n.domain() == "ai.onnx") || is_random(n.op_type()) || n.op_type() == "Dropout" ||
        !std::all_of(n.attribute().begin(), n.attribute().end(), is_small)) {
      return false;
    }
    for (int i = 0; i < n.input_size(); ++i) {
      const value* v = inputs[static_cast<std::size_t>(i)];
      if (v == nullptr ? !n.input(i).empty() : v->number == 0) {
        return false;
      }
    }
    return true;
  }

  static std::string key_of(const ::onnx::NodeProto& n, std::int64_t version, std::span<const value* const> inputs) {
    ::onnx::NodeProto op; // without what its tensors are called
    op.set_op_type(n.op_type());
    *op.mutable_attribute() = n.attribute();
    std::string key = op.SerializeAsString();
    const auto add = [&key](std::uint64_t x) { key += ' ' + std::to_string(x); };
    add(static_cast<std::uint64_t>(version));
    add(static_cast<std::uint64_t>(n.output_size()));
    for (const value* v : inputs) {
      add(v == nullptr ? 0 : v->number); // null: left out
    }
    return key;
  }

  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::uint64_t last_ = 0;
};

} // namespace weft::onnx::detail
