// SPDX-License-Identifier: BSL-1.0
/// Types of values in StableHLO programs: shapes and sizes of tensors.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace weft::stablehlo {

/// A tensor, or something else, which has no extents.
struct value_type {
  static constexpr std::int64_t dynamic = -1; ///< an extent that the program leaves open, written `?`
  static constexpr byte_count most_bytes = byte_count{1} << 62;

  std::vector<std::int64_t> dims = {};
  std::uint32_t bits = 0; ///< of an element; 0 for what is no number, such as a token
  bool is_float = false;  ///< elements are floating-point numbers

  double elements() const {
    double count = 1;
    for (const auto d : dims) {
      count *= static_cast<double>(d);
    }
    return count;
  }
  /// Whether the size is far beyond what any machine has.
  bool is_absurd() const { return bytes() >= most_bytes; }
  /// Elements of less than a byte are packed. `most_bytes` for that or more.
  byte_count bytes() const {
    if (bits == 0 || std::ranges::find(dims, 0) != dims.end()) {
      return 0;
    }
    const byte_count most = (most_bytes - 1) / bits * 8; // elements
    byte_count count = 1;
    for (const auto d : dims) {
      if (static_cast<byte_count>(d) > most / count) {
        return most_bytes;
      }
      count *= static_cast<byte_count>(d);
    }
    return count / 8 * bits + (count % 8 * bits + 7) / 8;
  }
};

namespace detail {

/// Bits of `f32`, `ui8`, `i1` (a byte), `bf16`, `f8E4M3FN`, `complex<f32>`, `index` and `!quant.uniform<i8:f32, …>`.
inline std::uint32_t bits_of(std::string_view element) {
  const std::uint32_t parts = element.starts_with("complex<") ? 2 : 1;
  element.remove_prefix(parts == 2 ? 8 : 0);
  if (element.starts_with("!quant.") && element.find('<') != element.npos) {
    element.remove_prefix(element.find('<') + 1);
  }
  if (element.starts_with("index")) {
    return 64 * parts;
  }
  const auto digits = element.find_first_of("0123456789");
  if (element.starts_with('!') || digits == element.npos || digits > 4) {
    return 0;
  }
  std::uint32_t bits = 0;
  for (auto i = digits; i < element.size() && element[i] >= '0' && element[i] <= '9' && bits < 1000; ++i) {
    bits = 10 * bits + static_cast<std::uint32_t>(element[i] - '0');
  }
  return parts * (bits == 1 ? 8 : bits);
}

/// Extents at the front of what `tensor<` has between its brackets, which are taken off: `8x?x` of `8x?xf32`. A tensor
/// of unknown rank has none.
inline std::vector<std::int64_t> take_extents(std::string_view& inside) {
  std::vector<std::int64_t> dims;
  for (;;) {
    inside = io::trim(inside);
    const auto end = inside.find_first_not_of("0123456789?*");
    if (end == 0 || end == inside.npos || inside[end] != 'x') {
      return dims;
    }
    if (inside.front() == '?') {
      dims.push_back(value_type::dynamic);
    } else if (inside.front() != '*') {
      std::int64_t extent = 0;
      for (const char c : inside.substr(0, end)) {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        extent = extent > (most - (c - '0')) / 10 ? most : 10 * extent + (c - '0');
      }
      dims.push_back(extent);
    }
    inside.remove_prefix(end + 1);
  }
}

/// Replaces open extents by what `#stablehlo.bounds<3, ?>` or `bounds = [3, ?]` says.
inline void apply_bounds(std::string_view encoding, std::vector<std::int64_t>& dims) {
  const auto at = encoding.find("bounds");
  if (at == encoding.npos) {
    return;
  }
  const auto list = encoding.substr(at).find_first_of("<[");
  std::size_t i = 0;
  for (const auto field : io::split(list == encoding.npos ? "" : encoding.substr(at + list + 1), ',')) {
    std::int64_t bound = 0;
    const auto end = std::min(field.find_first_not_of("0123456789"), field.size());
    for (const char c : field.substr(0, std::min<std::size_t>(end, 15))) {
      bound = 10 * bound + (c - '0');
    }
    if (i < dims.size() && dims[i] == value_type::dynamic && end > 0) {
      dims[i] = bound;
    }
    ++i;
  }
}

} // namespace detail

/// `tensor<8x16xf32>`, `f32`, `!stablehlo.token`, … Complexity: linear in the text.
inline value_type parse_type(std::string_view text) {
  if (!text.starts_with("tensor<") || !text.ends_with('>')) {
    return {.bits = text.starts_with("tuple") ? 0 : detail::bits_of(text)};
  }
  auto inside = text.substr(7, text.size() - 8);
  value_type t{.dims = detail::take_extents(inside)};
  t.bits = detail::bits_of(inside);
  t.is_float = inside.starts_with('f') || inside.starts_with("bf");
  detail::apply_bounds(inside, t.dims);
  return t;
}

} // namespace weft::stablehlo
