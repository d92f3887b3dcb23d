// SPDX-License-Identifier: BSL-1.0
/// TensorFlow's data types: their names, numbers and sizes.
#pragma once

#include "weft/core/ids.hpp"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace weft::tensorflow {

/// A value of TensorFlow's enumeration `DataType`; a reference to a type is the type plus 100.
using data_type = std::uint32_t;

struct data_type_info {
  std::string_view name;
  data_type number;
  byte_count bytes; ///< of an element: strings as the 24 bytes of their headers, handles as 8
};

/// Source: tensorflow/core/framework/types.proto; strings: `tstring`, which keeps up to 22 characters in 24 bytes.
inline constexpr data_type_info data_types[] = {{"DT_INVALID", 0, 4},
                                                {"DT_FLOAT", 1, 4},
                                                {"DT_DOUBLE", 2, 8},
                                                {"DT_INT32", 3, 4},
                                                {"DT_UINT8", 4, 1},
                                                {"DT_INT16", 5, 2},
                                                {"DT_INT8", 6, 1},
                                                {"DT_STRING", 7, 24},
                                                {"DT_COMPLEX64", 8, 8},
                                                {"DT_INT64", 9, 8},
                                                {"DT_BOOL", 10, 1},
                                                {"DT_QINT8", 11, 1},
                                                {"DT_QUINT8", 12, 1},
                                                {"DT_QINT32", 13, 4},
                                                {"DT_BFLOAT16", 14, 2},
                                                {"DT_QINT16", 15, 2},
                                                {"DT_QUINT16", 16, 2},
                                                {"DT_UINT16", 17, 2},
                                                {"DT_COMPLEX128", 18, 16},
                                                {"DT_HALF", 19, 2},
                                                {"DT_RESOURCE", 20, 8},
                                                {"DT_VARIANT", 21, 8},
                                                {"DT_UINT32", 22, 4},
                                                {"DT_UINT64", 23, 8},
                                                {"DT_FLOAT8_E5M2", 24, 1},
                                                {"DT_FLOAT8_E4M3FN", 25, 1},
                                                {"DT_FLOAT8_E4M3FNUZ", 26, 1},
                                                {"DT_FLOAT8_E4M3B11FNUZ", 27, 1},
                                                {"DT_FLOAT8_E5M2FNUZ", 28, 1},
                                                {"DT_INT4", 29, 1},
                                                {"DT_UINT4", 30, 1}};

namespace dt {
inline constexpr data_type float32 = 1, float64 = 2, int32 = 3, uint8 = 4, int16 = 5, int8 = 6, string = 7,
                           complex64 = 8, int64 = 9, boolean = 10, bfloat16 = 14, uint16 = 17, half = 19,
                           resource = 20, variant = 21, uint32 = 22, uint64 = 23;
inline constexpr data_type reference = 100; ///< added to a type
} // namespace dt

constexpr bool is_reference(data_type t) { return t > dt::reference; }
/// The type that a reference refers to; any other type itself.
constexpr data_type value_type(data_type t) { return is_reference(t) ? t - dt::reference : t; }

/// The size of an element in bytes, 4 for types that are not known.
constexpr byte_count element_bytes(data_type t) {
  const auto v = value_type(t);
  return v < std::size(data_types) ? data_types[v].bytes : 4;
}

/// Whether a type is a floating-point type, or a reference to one.
constexpr bool is_floating(data_type t) {
  const auto v = value_type(t);
  return v == dt::float32 || v == dt::float64 || v == dt::bfloat16 || v == dt::half || (v >= 24 && v <= 28);
}

/// The number of the type of that name, such as `DT_FLOAT` or `DT_FLOAT_REF`.
constexpr std::optional<data_type> parse_data_type(std::string_view name) {
  const bool ref = name.ends_with("_REF");
  const auto base = ref ? name.substr(0, name.size() - 4) : name;
  for (const auto& t : data_types) {
    if (t.name == base) {
      return t.number + (ref ? dt::reference : 0);
    }
  }
  return std::nullopt;
}

} // namespace weft::tensorflow
