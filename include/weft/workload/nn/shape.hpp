// SPDX-License-Identifier: BSL-1.0
/// Shapes of tensors.
#pragma once

#include "weft/core/error.hpp"

#include <cstdint>
#include <vector>

namespace weft::nn {

/// The extents of a tensor, outermost first; images are batch, height, width, channels. Empty for a scalar.
using extents = std::vector<std::uint64_t>;

/// The number of elements of a tensor of these extents. Throws `value_error` on overflow.
inline std::uint64_t element_count(const extents& dims) {
  std::uint64_t count = 1;
  for (const auto d : dims) {
    if (d == 0 || count > (std::uint64_t{1} << 44) / d) {
      throw value_error("tensor", "every extent must be positive and the number of elements below 2^44");
    }
    count *= d;
  }
  return count;
}

/// Shape and element size of a tensor.
struct tensor_type {
  extents dims = {};
  std::uint32_t element_bytes = 4; ///< 4 for float32 and int32, 1 for bool
};

} // namespace weft::nn
