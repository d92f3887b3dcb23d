// SPDX-License-Identifier: BSL-1.0
/// Numbers as people read them in messages, the same in every locale.
#pragma once

#include "weft/core/ids.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <string>

namespace weft {

/// x with so many significant digits and no zeros at the end, such as `0.0641` or `1e-07`.
inline std::string readable_number(double x, int digits = 6) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::general, digits).ptr;
  return {text.data(), end};
}

/// Bytes in a unit in which people count memory, to three digits: `812 B`, `1.50 GiB`.
inline std::string readable_bytes(byte_count bytes) {
  constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto amount = static_cast<double>(bytes);
  while (amount >= 1000 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 32> text;
  const int decimals = unit == 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  const auto end =
    std::to_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed, decimals).ptr;
  return std::string{text.data(), end} + " " + units[unit];
}

} // namespace weft
