// SPDX-License-Identifier: BSL-1.0
/// Types of values in StableHLO programs: shapes and sizes of tensors.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/io/text.hpp"
#include "weft/ops/call.hpp"
#include "weft/ops/element_type.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft::stablehlo {

/// A tensor, or something else, which has no extents.
struct value_type {
  static constexpr std::int64_t dynamic = -1; ///< an extent that the program leaves open, written `?`

  std::vector<std::int64_t> dims = {};
  std::uint32_t bits = 0; ///< of an element; 0 for what is no number, such as a token
  bool is_float = false;  ///< elements are floating-point numbers

  byte_count bytes() const { return ops::tensor_bytes(dims, bits); }
};

/// The type of a tensor's elements, as far as their size tells it.
inline ops::element_type element_of(const value_type& t) {
  switch (t.bits) {
  case 8: return t.is_float ? 17 : ops::elements::uint8;
  case 16: return t.is_float ? 10 : 5;
  case 32: return t.is_float ? ops::elements::float32 : ops::elements::int32;
  case 64: return t.is_float ? 11 : ops::elements::int64;
  default: return ops::elements::unknown;
  }
}

namespace detail {

inline constexpr std::string_view digits = "0123456789";
inline constexpr std::int64_t max_bits = 16'777'215; ///< that MLIR lets a number have

/// The number that a text is, of digits alone and below 2^63; nothing for any other text.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc{} && end == text.data() + text.size() && text.front() != '-';
  return is_number ? std::optional{value} : std::nullopt;
}

/// Without blanks and line ends in front.
inline std::string_view past_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// Bits of `f32`, `ui8`, `i1` (a byte), `bf16`, `f8E4M3FN`, `complex<f32>`, `index` and `!quant.uniform<i8:f32, …>`; 0
/// for what is no number, such as `!stablehlo.token` or `tuple<f32>`; nothing for what is no type.
inline std::optional<std::uint32_t> bits_of(std::string_view element) {
  const auto bracket = std::min(element.find('<'), element.size());
  const auto name = io::trim(element.substr(0, bracket));
  const bool has_brackets = bracket < element.size();
  if (name.empty() || digits.find(name.front()) != digits.npos || (has_brackets && !element.ends_with('>'))) {
    return std::nullopt;
  }
  const auto inside = has_brackets ? element.substr(bracket + 1, element.size() - bracket - 2) : std::string_view{};
  if (name == "complex") {
    const auto part = bits_of(io::trim(inside));
    return part && *part > 0 ? std::optional{2 * *part} : std::nullopt;
  }
  const auto number = [](std::string_view text) { // the first in it, and what follows that
    text.remove_prefix(std::min(text.find_first_of(digits), text.size()));
    const auto end = std::min(text.find_first_not_of(digits), text.size());
    return std::pair{whole_number(text.substr(0, end)).value_or(0), text.substr(end)};
  };
  if (name.starts_with("!quant.")) { // of what is stored
    return static_cast<std::uint32_t>(std::min(number(inside).first, max_bits));
  }
  if (name.starts_with('!') || has_brackets || name == "none") {
    return 0;
  }
  const auto kind = name.substr(0, name.find_first_of(digits));
  const auto [bits, format] = number(name);
  const bool is_integer = (kind == "i" || kind == "si" || kind == "ui") && format.empty();
  const bool is_float = (kind == "f" || kind == "bf" || kind == "tf") && (format.empty() || format.starts_with('E'));
  if (name == "index") {
    return 64;
  }
  if (bits == 0 || bits > max_bits || !(is_integer || is_float)) {
    return std::nullopt;
  }
  return bits == 1 ? 8 : static_cast<std::uint32_t>(bits);
}

/// Extents at the front of what `tensor<` has between its brackets, which are taken off: `8x?x` of `8x?xf32`. A tensor
/// of unknown rank, `*xf32`, has none.
inline std::vector<std::int64_t> take_extents(std::string_view& inside) {
  std::vector<std::int64_t> dims;
  for (inside = past_blanks(inside);; inside = past_blanks(inside)) {
    const auto end = std::min(inside.find_first_not_of("0123456789?*+-."), inside.size());
    if (end == 0) {
      return dims;
    }
    const auto written = inside.substr(0, end);
    const auto extent = written == "?" ? std::optional{value_type::dynamic} : whole_number(written);
    const bool has_no_rank = written == "*" && dims.empty();
    const auto rest = past_blanks(inside.substr(end));
    if ((!extent && !has_no_rank) || !rest.starts_with('x')) {
      throw error("an extent is a whole number below 2^63, or ? where it is open, and an x follows it; here is " +
                  io::in_quotes(inside));
    }
    inside = past_blanks(rest.substr(1));
    if (has_no_rank) {
      return dims;
    }
    dims.push_back(*extent);
  }
}

/// Takes the type of the elements off what follows the extents: up to a comma that no bracket encloses.
inline std::string_view take_element(std::string_view& inside) {
  std::size_t end = 0;
  for (int depth = 0; end < inside.size() && (inside[end] != ',' || depth > 0); ++end) {
    depth += std::string_view{"<([{"}.find(inside[end]) != std::string_view::npos ? 1 : 0;
    depth -= std::string_view{">)]}"}.find(inside[end]) != std::string_view::npos ? 1 : 0;
  }
  const auto element = io::trim(inside.substr(0, end));
  inside.remove_prefix(end);
  return element;
}

/// Replaces open extents by what `#stablehlo.bounds<3, ?>` or `bounds = [3, ?]` says.
inline void apply_bounds(std::string_view encoding, std::vector<std::int64_t>& dims) {
  constexpr std::string_view key = "bounds";
  const auto at = encoding.find(key);
  auto list = at == encoding.npos ? std::string_view{} : past_blanks(encoding.substr(at + key.size()));
  list = past_blanks(list.substr(list.starts_with('=') ? 1 : 0));
  if (!list.starts_with('<') && !list.starts_with('[')) {
    return;
  }
  list = list.substr(1, list.find_first_of(">]") - 1);
  std::size_t i = 0;
  for (const auto field : io::split(list, ',')) {
    const auto bound = whole_number(field);
    if (!bound && !field.empty() && field != "?" && !field.starts_with('-')) { // negative is open, too
      throw error("a bound is a whole number below 2^63, or ?; here is " + io::in_quotes(field));
    }
    if (bound && i < dims.size() && dims[i] == value_type::dynamic) {
      dims[i] = *bound;
    }
    ++i;
  }
}

} // namespace detail

/// `tensor<8x16xf32>`, `f32`, `!stablehlo.token`, … Throws `error` if it is a tensor that is not written as one.
/// Complexity: linear in the text.
inline value_type parse_type(std::string_view text) {
  constexpr std::string_view tensor = "tensor";
  auto inside = text.starts_with(tensor) ? detail::past_blanks(text.substr(tensor.size())) : std::string_view{};
  if (!inside.starts_with('<') || !inside.ends_with('>')) {
    return {.bits = detail::bits_of(text).value_or(0)};
  }
  inside = inside.substr(1, inside.size() - 2);
  value_type t{.dims = detail::take_extents(inside)};
  const auto element = detail::take_element(inside);
  const auto bits = detail::bits_of(element);
  if (!bits) {
    throw error("the elements of a tensor have a type, such as f32, and then nothing or a comma follows; here is " +
                io::in_quotes(element));
  }
  t.bits = *bits;
  t.is_float = element.starts_with('f') || element.starts_with("bf") || element.starts_with("tf");
  detail::apply_bounds(inside, t.dims);
  return t;
}

} // namespace weft::stablehlo
