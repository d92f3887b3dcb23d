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

/// Calls `visit(graph)` with each graph among a node's attributes.
template <class Visit>
void for_each_body(const ::onnx::NodeProto& n, const Visit& visit) {
  for (const auto& a : n.attribute()) {
    if (a.has_g()) {
      visit(a.g());
    }
    for (const auto& body : a.graphs()) {
      visit(body);
    }
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
  bool damaged = false;
  for (const auto& f : wire::fields{bytes, damaged}) {
    if (f.number == number && f.kind == wire::kind::bytes) {
      found(f.bytes);
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
template <class Function = ::onnx::FunctionProto>
std::vector<::onnx::AttributeProto> default_attributes_of(const Function& f) {
  if constexpr (requires { f.attribute_proto(); }) {
    return {f.attribute_proto().begin(), f.attribute_proto().end()};
  } else {
    return later_messages<::onnx::AttributeProto>(f, 11);
  }
}
/// The types of tensors that a function declares; ONNX has them since version 1.16.
template <class Function = ::onnx::FunctionProto>
std::vector<::onnx::ValueInfoProto> value_info_of(const Function& f) {
  if constexpr (requires { f.value_info(); }) {
    return {f.value_info().begin(), f.value_info().end()};
  } else {
    return later_messages<::onnx::ValueInfoProto>(f, 12);
  }
}

} // namespace weft::onnx::detail
