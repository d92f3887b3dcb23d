// SPDX-License-Identifier: BSL-1.0
/// Types of a tensor's elements, and how many axes a tensor has at most.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <iterator>
#include <optional>

namespace weft::ops {

/// No tensor has more axes in earnest. Ops such as Gather add up the axes of what they read, so that without a limit a
/// chain of them would double the axes at each step.
inline constexpr int max_axes = 64;

/// A type of elements, by ONNX's number. Rules name a few, and pass on all others.
using element_type = std::int32_t;
namespace elements {
inline constexpr element_type unknown = 0, float32 = 1, uint8 = 2, int32 = 6, int64 = 7, text = 8, boolean = 9;

/// The number of bits of an element; nothing for texts and for types that the format does not define.
inline std::optional<std::uint32_t> bits(element_type type) {
  // float; u, s 8; u, s 16; s 32, 64; text; bool; half, double; u 32, 64; complex 2×; bfloat; float8 4×; u, s, float 4;
  // float8; u, s 2
  constexpr std::uint8_t sizes[] = {0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                                    64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
  const bool known = type > 0 && type < static_cast<std::int32_t>(std::size(sizes)) && sizes[type] != 0;
  return known ? std::optional<std::uint32_t>{sizes[type]} : std::nullopt;
}
} // namespace elements

} // namespace weft::ops
