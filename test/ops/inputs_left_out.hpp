// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "weft/ops/shape_call.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::test {

/// Calls `of` with an op call and with its inputs, of every number up to six and rank up to four, for each set of them
/// that may be left out.
template <class Of>
void with_inputs_left_out(std::string_view type, Of of) {
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (std::size_t count = 0; count < 6; ++count) {
      for (unsigned left_out = 0; left_out < 1u << count; ++left_out) {
        ops::call o{.type = type, .version = 21};
        std::vector<ops::shape_input> inputs;
        for (std::size_t i = 0; i < count; ++i) {
          const bool is_there = (left_out >> i & 1) == 0;
          inputs.push_back({.is_there = is_there, .element = ops::elements::float32});
          o.inputs.push_back(is_there ? std::optional{ops::call::extents(rank, 2)} : std::nullopt);
          o.values.push_back(is_there && rank == 1 ? std::optional{ops::call::extents{1, 1}} : std::nullopt);
        }
        of(o, inputs);
      }
    }
  }
}

} // namespace weft::test
