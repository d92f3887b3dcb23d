// SPDX-License-Identifier: BSL-1.0
/// Tensors that the file holds: their types, and whether their elements can be looked at.
#pragma once

#include "weft/interop/onnx/proto.hpp"

#include <cstdint>

namespace weft::onnx::detail {

/// The type that a tensor of the file has.
inline ::onnx::TypeProto type_of(const ::onnx::TensorProto& t) {
  ::onnx::TypeProto type;
  auto& tensor = *type.mutable_tensor_type();
  tensor.set_elem_type(t.data_type());
  tensor.mutable_shape();
  for (const auto d : t.dims()) {
    if (auto* dim = tensor.mutable_shape()->add_dim(); d >= 0) {
      dim->set_dim_value(d);
    }
  }
  return type;
}

/// Whether a tensor is small and has the elements that its shape asks for, so that inference may look at them.
inline bool is_whole(const ::onnx::TensorProto& t) {
  constexpr std::uint64_t most = 4096;
  std::uint64_t count = 1;
  for (const auto d : t.dims()) {
    if (d < 0 || static_cast<std::uint64_t>(d) > most || (count *= static_cast<std::uint64_t>(d)) > most) {
      return false;
    }
  }
  if (t.data_location() == ::onnx::TensorProto::EXTERNAL) {
    return false;
  }
  if (t.has_raw_data()) {
    const auto bits = element_bits(t.data_type());
    return bits && *bits >= 8 && t.raw_data().size() == count * *bits / 8;
  }
  const auto held = [count](int size) { return static_cast<std::uint64_t>(size) == count; };
  switch (t.data_type()) {
  case ::onnx::TensorProto::FLOAT: return held(t.float_data_size());
  case ::onnx::TensorProto::DOUBLE: return held(t.double_data_size());
  case ::onnx::TensorProto::INT64: return held(t.int64_data_size());
  case ::onnx::TensorProto::INT32: return held(t.int32_data_size());
  default: return false;
  }
}

} // namespace weft::onnx::detail
