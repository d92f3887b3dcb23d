// SPDX-License-Identifier: BSL-1.0
/// Tensors that the file holds: their types and, of small ones, their elements.
#pragma once

#include "weft/interop/onnx/proto.hpp"
#include "weft/ops/known_tensor.hpp"
#include "weft/ops/shape_call.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace weft::onnx::detail {

/// The type of tensors with these extents, negative ones being open.
template <class Extents>
::onnx::TypeProto type_of(std::int32_t element, const Extents& extents) {
  ::onnx::TypeProto type;
  auto& tensor = *type.mutable_tensor_type();
  tensor.set_elem_type(element);
  tensor.mutable_shape();
  for (const auto d : extents) {
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
    const auto bits = ops::elements::bits(t.data_type());
    return bits && *bits >= 8 && t.raw_data().size() == count * *bits / 8;
  }
  const auto held = [count](int size) { return static_cast<std::uint64_t>(size) == count; };
  switch (t.data_type()) {
  case ::onnx::TensorProto::FLOAT: return held(t.float_data_size());
  case ::onnx::TensorProto::DOUBLE: return held(t.double_data_size());
  case ::onnx::TensorProto::INT64: return held(t.int64_data_size());
  case ::onnx::TensorProto::INT32:
  case ::onnx::TensorProto::BOOL: return held(t.int32_data_size());
  default: return false;
  }
}

/// The format of elements of a type; nothing for types whose numbers are not followed.
inline std::optional<ops::element_format> format_of(std::int32_t type) {
  using enum ops::known_tensor::format;
  switch (type) {
  case ::onnx::TensorProto::FLOAT: return ops::element_format{single_precision};
  case ::onnx::TensorProto::DOUBLE: return ops::element_format{double_precision};
  case ::onnx::TensorProto::BOOL: return ops::element_format{truth};
  case ::onnx::TensorProto::INT64: return ops::element_format{};
  case ::onnx::TensorProto::INT32: return ops::element_format{integer, INT32_MIN, INT32_MAX};
  case ::onnx::TensorProto::INT16: return ops::element_format{integer, INT16_MIN, INT16_MAX};
  case ::onnx::TensorProto::INT8: return ops::element_format{integer, INT8_MIN, INT8_MAX};
  case ::onnx::TensorProto::UINT64: return ops::element_format{integer, 0};
  case ::onnx::TensorProto::UINT32: return ops::element_format{integer, 0, UINT32_MAX};
  case ::onnx::TensorProto::UINT16: return ops::element_format{integer, 0, UINT16_MAX};
  case ::onnx::TensorProto::UINT8: return ops::element_format{integer, 0, UINT8_MAX};
  default: return std::nullopt;
  }
}

/// The elements of a small tensor that the file holds.
inline std::optional<ops::known_tensor> known_of(const ::onnx::TensorProto& t) {
  const auto format = format_of(t.data_type());
  const ops::known_tensor::extents dims(t.dims().begin(), t.dims().end());
  const auto count = ops::known::size_of(dims);
  if (!format || !count || t.data_location() == ::onnx::TensorProto::EXTERNAL) {
    return std::nullopt;
  }
  auto made = format->empty(dims);
  const auto take = [&](const auto& list) {
    std::visit([&](auto& to) { to.assign(list.begin(), list.end()); }, made.elements);
  };
  if (t.has_raw_data()) { // little endian, whatever the machine is
    const std::size_t size = *ops::elements::bits(t.data_type()) / 8;
    const std::string& raw = t.raw_data();
    if (raw.size() != *count * size) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < raw.size(); i += size) {
      std::uint64_t bits = 0;
      for (std::size_t k = 0; k < size; ++k) {
        bits |= std::uint64_t{static_cast<unsigned char>(raw[i + k])} << (8 * k);
      }
      add_element(made, *format, bits, size);
    }
  } else {
    switch (t.data_type()) {
    case ::onnx::TensorProto::FLOAT: take(t.float_data()); break;
    case ::onnx::TensorProto::DOUBLE: take(t.double_data()); break;
    case ::onnx::TensorProto::INT64: take(t.int64_data()); break;
    case ::onnx::TensorProto::UINT64:
    case ::onnx::TensorProto::UINT32: take(t.uint64_data()); break;
    default: take(t.int32_data());
    }
  }
  return made.size() == *count ? std::optional{std::move(made)} : std::nullopt;
}

/// As the file would hold it; null for types whose numbers are not followed.
inline std::unique_ptr<::onnx::TensorProto> tensor_of(const ops::known_tensor& x, std::int32_t type) {
  if (!format_of(type) || format_of(type)->is != x.is) {
    return nullptr;
  }
  auto t = std::make_unique<::onnx::TensorProto>();
  t->set_data_type(type);
  for (const auto d : x.dims) {
    t->add_dims(d);
  }
  for (const auto r : x.has_reals() ? x.as_reals() : ops::known_tensor::reals{}) {
    type == ::onnx::TensorProto::FLOAT ? t->add_float_data(static_cast<float>(r)) : t->add_double_data(r);
  }
  for (const auto i : x.whole() ? *x.whole() : ops::known_tensor::integers{}) {
    switch (type) {
    case ::onnx::TensorProto::INT64: t->add_int64_data(i); break;
    case ::onnx::TensorProto::UINT64:
    case ::onnx::TensorProto::UINT32: t->add_uint64_data(static_cast<std::uint64_t>(i)); break;
    default: t->add_int32_data(static_cast<std::int32_t>(i));
    }
  }
  return t;
}

} // namespace weft::onnx::detail
