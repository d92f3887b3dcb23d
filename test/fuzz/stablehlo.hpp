// SPDX-License-Identifier: BSL-1.0
/// Any bytes as a StableHLO program: returns if they are read or refused as they should be, see readers.hpp.
#pragma once

#include "fuzz/readers.hpp"
#include "weft/interop/stablehlo.hpp"

#include <string_view>

namespace weft::test::fuzz {

inline void stablehlo(std::string_view bytes) {
  for (const auto& reader : {weft::stablehlo::reader{}, weft::stablehlo::reader{.leading_parameters = 1, .batch = 3}}) {
    read_only(bytes, [&](const std::string& text) {
      std::istringstream in{text};
      const auto m = model_of(in, reader);
      expect(m.ops.num_ops() <= 200'000 + text.size(), "a text makes more operations than it can");
    });
  }
}

} // namespace weft::test::fuzz
