// SPDX-License-Identifier: BSL-1.0
/// Any bytes as an exported PyTorch program: returns if they are read or refused as they should be, see readers.hpp.
#pragma once

#include "fuzz/readers.hpp"
#include "weft/interop/pytorch.hpp"

#include <sstream>
#include <string>
#include <string_view>

namespace weft::test::fuzz {

inline void pytorch(std::string_view bytes) {
  for (const auto& reader : {weft::pytorch::reader{}, weft::pytorch::reader{.batch = 3, .unknown_dimension = 7}}) {
    read_only(bytes, [&](const std::string& text) {
      std::istringstream in{text};
      static_cast<void>(model_of(in, reader));
    });
  }
}

/// A symbolic size, whose value is finite if it has one.
inline void pytorch_expression(std::string_view bytes) {
  const auto value_of = [](std::string_view name) {
    return name.starts_with('s') ? std::optional{static_cast<double>(name.size())} : std::nullopt;
  };
  const auto value = weft::pytorch::detail::size_expression{bytes, value_of}();
  expect(!value || std::isfinite(*value), "an expression has no finite value");
}

} // namespace weft::test::fuzz
