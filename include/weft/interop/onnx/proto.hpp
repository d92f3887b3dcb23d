// SPDX-License-Identifier: BSL-1.0
/// The message classes of ONNX and its op schemas, with helpers that all of weft's ONNX code uses.
#pragma once

#include "weft/interop/onnx/wire.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#endif
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace weft::onnx::detail {

/// Whether an element type is a floating-point type of 8 bits or more.
inline bool is_floating(std::int32_t type) {
  return type == 1 || type == 10 || type == 11 || type == 16 || (type >= 17 && type <= 20);
}
/// How many bits an element takes; nothing for texts and for types that the format does not define.
inline std::optional<std::uint32_t> element_bits(std::int32_t type) {
  switch (type) {
  case 2:  // uint8
  case 3:  // int8
  case 9:  // bool
  case 17: // float8e4m3fn
  case 18: // float8e4m3fnuz
  case 19: // float8e5m2
  case 20: // float8e5m2fnuz
  case 24: // float8e8m0
    return 8;
  case 4:  // uint16
  case 5:  // int16
  case 10: // float16
  case 16: // bfloat16
    return 16;
  case 1:  // float
  case 6:  // int32
  case 12: // uint32
    return 32;
  case 7:  // int64
  case 11: // double
  case 13: // uint64
  case 14: // complex64
    return 64;
  case 15: return 128; // complex128
  case 21:             // uint4
  case 22:             // int4
  case 23:             // float4e2m1
    return 4;
  case 25: // uint2
  case 26: // int2
    return 2;
  default: return std::nullopt;
  }
}

/// The fields of a message that the library at hand does not know, as bytes: later versions of the format added some
/// that decide what a model is.
template <class Message>
std::string unknown_fields_of(const Message& m) {
  const auto& unknown = m.unknown_fields();
  std::string bytes;
  if constexpr (requires { unknown.SerializeToString(&bytes); }) {
    if (!unknown.empty()) {
      unknown.SerializeToString(&bytes);
    }
  } else {
    bytes = unknown; // of the lite runtime
  }
  return bytes;
}

/// Calls `found(content)` for each unknown field of that number that holds bytes.
template <class Message, class Found>
void for_each_unknown_field(const Message& m, std::uint64_t number, const Found& found) {
  const auto bytes = unknown_fields_of(m);
  wire::reader fields{bytes};
  while (const auto f = fields.next()) {
    if (f->number == number && f->kind == wire::kind::bytes) {
      found(f->content);
    }
  }
}

/// Which of several functions of one name a node calls, or a function is; ONNX has it since version 1.16.
template <class Message>
std::string overload_of(const Message& m, [[maybe_unused]] std::uint64_t number) {
  if constexpr (requires { m.overload(); }) {
    return m.overload();
  } else {
    std::string overload;
    for_each_unknown_field(m, number, [&](std::string_view content) { overload = content; });
    return overload;
  }
}
inline std::string overload_of(const ::onnx::NodeProto& n) { return overload_of(n, 8); }
inline std::string overload_of(const ::onnx::FunctionProto& f) { return overload_of(f, 13); }

/// Messages in a field that the library at hand may not know.
template <class Inner, class Message>
std::vector<Inner> later_messages(const Message& m, std::uint64_t number) {
  std::vector<Inner> all;
  for_each_unknown_field(m, number, [&](std::string_view content) {
    Inner inner;
    if (inner.ParseFromArray(content.data(), static_cast<int>(content.size()))) {
      all.push_back(std::move(inner));
    }
  });
  return all;
}
/// The attributes of a function that have defaults; ONNX has them since version 1.13.
inline std::vector<::onnx::AttributeProto> default_attributes_of(const ::onnx::FunctionProto& f) {
  const auto known = [](const auto& x) -> std::vector<::onnx::AttributeProto> {
    if constexpr (requires { x.attribute_proto(); }) {
      return {x.attribute_proto().begin(), x.attribute_proto().end()};
    } else {
      return later_messages<::onnx::AttributeProto>(x, 11);
    }
  };
  return known(f);
}
/// The types of tensors that a function declares; ONNX has them since version 1.16.
inline std::vector<::onnx::ValueInfoProto> value_info_of(const ::onnx::FunctionProto& f) {
  const auto known = [](const auto& x) -> std::vector<::onnx::ValueInfoProto> {
    if constexpr (requires { x.value_info(); }) {
      return {x.value_info().begin(), x.value_info().end()};
    } else {
      return later_messages<::onnx::ValueInfoProto>(x, 12);
    }
  };
  return known(f);
}

} // namespace weft::onnx::detail
