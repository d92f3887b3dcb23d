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

/// Bits of a number whose group of so many has a scale, and maybe a zero, beside it.
constexpr double bits_with_scale(double bits, double group, double scale_bits = 16) {
  return bits + scale_bits / group;
}

/// A format of weights that are stored narrower than they are computed with.
struct weight_format {
  std::string_view name;
  double bits = 0;   ///< of a number
  double stored = 0; ///< bits of a number with its share of the scales
};

/// With a scale of 16 bits for each 32, as in GGUF's Q4_0 and Q8_0; Q4_K comes to as much as Q4_0. Whole files have
/// some weights wider: Q4_K_M of Llama 2 70B has 4.80 bits per weight, Q4_K_S 4.53. GPTQ and AWQ have groups of 128,
/// each with a scale and a zero: 4.16 to 4.25 bits.
/// Source: `ggml-common.h` (block_q4_0, block_q8_0, block_q4_K) and examples/quantize/README.md of llama.cpp; Frantar,
/// Ashkboos, Hoefler, Alistarh, *GPTQ*, ICLR 2023.
inline constexpr std::array<weight_format, 2> weight_formats{
  {{"int4-weights", 4, bits_with_scale(4, 32)}, {"int8-weights", 8, bits_with_scale(8, 32)}}};

/// The format of weights of that name, if there is one.
constexpr std::optional<weight_format> parse_weight_format(std::string_view name) {
  for (const auto& f : weight_formats) {
    if (f.name == name) {
      return f;
    }
  }
  return std::nullopt;
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
