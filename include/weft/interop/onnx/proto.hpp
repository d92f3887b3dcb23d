// SPDX-License-Identifier: BSL-1.0
/// The message classes of ONNX and its op schemas, and what weft asks of them everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  default: return std::nullopt;
  }
}

/// The whole numbers in a tensor of int32 or int64, if all `count` of them are in the file and there are at most
/// `most`.
inline std::optional<std::vector<std::int64_t>> integers_of(const ::onnx::TensorProto& t, std::size_t most) {
  std::uint64_t count = 1;
  for (const auto d : t.dims()) {
    if (d < 0 || static_cast<std::uint64_t>(d) > most) {
      return std::nullopt;
    }
    count *= static_cast<std::uint64_t>(d);
    if (count > most) {
      return std::nullopt;
    }
  }
  const bool wide = t.data_type() == ::onnx::TensorProto::INT64;
  if (!wide && t.data_type() != ::onnx::TensorProto::INT32) {
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers;
  if (t.has_raw_data()) {
    const std::string& raw = t.raw_data();
    const std::size_t size = wide ? 8 : 4;
    if (raw.size() != count * size) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < raw.size(); i += size) { // little endian, whatever the machine is
      std::uint64_t bits = 0;
      for (std::size_t k = 0; k < size; ++k) {
        bits |= std::uint64_t{static_cast<unsigned char>(raw[i + k])} << (8 * k);
      }
      numbers.push_back(wide ? static_cast<std::int64_t>(bits)
                             : static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))));
    }
  } else if (wide) {
    numbers.assign(t.int64_data().begin(), t.int64_data().end());
  } else {
    numbers.assign(t.int32_data().begin(), t.int32_data().end());
  }
  if (numbers.size() != count) {
    return std::nullopt;
  }
  return numbers;
}

} // namespace weft::onnx::detail
