// SPDX-License-Identifier: BSL-1.0
/// Reads the columns of numbers in the data of HTML reports, as their script does.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test {

/// The numbers of a column: a letter for their type, then their little-endian bytes in base 64.
inline std::vector<double> numbers_in(std::string_view column) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : column.substr(1)) {
    if (c == '=') {
      break;
    }
    const auto digit = digits.find(c);
    if (digit == digits.npos) {
      throw std::runtime_error("not base 64");
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) {
      count -= 8;
      bytes.push_back(static_cast<unsigned char>(bits >> count & 0xff));
    }
  }
  std::vector<double> numbers;
  const auto read = [&]<class Number>(Number x) {
    if (bytes.size() % sizeof x != 0) {
      throw std::runtime_error("a part of a number is missing");
    }
    for (std::size_t i = 0; i < bytes.size(); i += sizeof x) {
      std::memcpy(&x, &bytes[i], sizeof x);
      numbers.push_back(static_cast<double>(x));
    }
  };
  switch (column.at(0)) {
  case 'b': read(std::uint8_t{}); break;
  case 'h': read(std::uint16_t{}); break;
  case 'i': read(std::uint32_t{}); break;
  case 'f': read(float{}); break;
  case 'd': read(double{}); break;
  default: throw std::runtime_error("not a column");
  }
  return numbers;
}

} // namespace weft::test
