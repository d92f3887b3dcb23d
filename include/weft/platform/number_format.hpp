// SPDX-License-Identifier: BSL-1.0
/// The number formats that tensors come in, and how fast a device is with each.
#pragma once

#include "weft/core/config.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft {

/// A format of numbers. fp32 stands for single precision in memory, which matrix units may round to TF32 on the way.
enum class number_format : std::uint8_t { fp32, bf16, fp16, fp8, int8 };

namespace detail {
inline constexpr std::array<std::string_view, 5> number_format_names{"fp32", "bf16", "fp16", "fp8", "int8"};
}

constexpr std::string_view to_string(number_format f) {
  return detail::number_format_names[static_cast<std::size_t>(f)];
}

/// The format of that name, if there is one.
constexpr std::optional<number_format> parse_number_format(std::string_view name) {
  for (std::size_t i = 0; i < detail::number_format_names.size(); ++i) {
    if (detail::number_format_names[i] == name) {
      return static_cast<number_format>(i);
    }
  }
  return std::nullopt;
}

/// Bytes of a number.
constexpr std::uint32_t bytes_of(number_format f) {
  return f == number_format::fp32 ? 4 : f == number_format::bf16 || f == number_format::fp16 ? 2 : 1;
}

/// Work units per second with numbers narrower than single precision; 0 where nobody said.
struct narrow_speeds {
  double half = 0; ///< fp16 and bf16
  double fp8 = 0;
  double int8 = 0;
  friend constexpr bool operator==(const narrow_speeds&, const narrow_speeds&) = default;
};

/// The speed with a format, of a device that reaches `single` in single precision: what was said, else that of the
/// next wider format for which something was said, in which the device can compute instead.
constexpr double speed_with(number_format f, double single, const narrow_speeds& narrow) {
  const double half = narrow.half > 0 ? narrow.half : single;
  const double byte = f == number_format::fp8 ? narrow.fp8 : narrow.int8;
  return bytes_of(f) == 4 ? single : bytes_of(f) == 2 || !(byte > 0) ? half : byte;
}

} // namespace weft
