// SPDX-License-Identifier: BSL-1.0
/// Numbers and names as text: shortest and fixed notation, units, UTF-8 width, escaping for HTML and JSON.
#pragma once

#include "weft/core/readable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weft::report::detail {

/// The shortest text that reads back as the same number; empty if it is not finite.
inline std::string shortest(double x) {
  if (!std::isfinite(x)) {
    return {};
  }
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  return {buffer.data(), end};
}

/// x with so many decimals; empty if it is not finite. What rounds to zero has no sign.
inline std::string fixed(double x, int decimals) {
  if (!std::isfinite(x)) {
    return {};
  }
  std::array<char, 400> buffer;
  const auto end =
    std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::fixed, decimals).ptr;
  const std::string_view text{buffer.data(), static_cast<std::size_t>(end - buffer.data())};
  const bool signed_zero = text.front() == '-' && text.find_first_of("123456789") == text.npos;
  return std::string{text.substr(signed_zero ? 1 : 0)};
}

/// x with up to `digits` significant digits and no zeros at the end; empty if it is not finite.
inline std::string significant(double x, int digits) {
  return std::isfinite(x) ? readable_number(x, digits) : std::string{};
}

/// A unit and how many of it make one base unit.
struct unit {
  double per_base;
  std::string_view symbol;
};

/// The unit in which a time in seconds is at least 1; nanoseconds at the least.
inline unit time_unit(double seconds) {
  return seconds >= 1 || !(seconds > 0) ? unit{1, "s"}
         : seconds >= 1e-3              ? unit{1e3, "ms"}
         : seconds >= 1e-6              ? unit{1e6, "µs"}
                                        : unit{1e9, "ns"};
}

/// How many decimals make about six digits of a number of this size, at most three.
inline int decimals_for(double largest) {
  const double size = std::abs(largest);
  return size < 1e3 ? 3 : size < 1e4 ? 2 : size < 1e5 ? 1 : 0;
}

/// x with three significant digits, in fixed notation.
inline std::string three_digits(double x) {
  const double size = std::abs(x);
  return fixed(x, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/// A time with its unit, such as `12.3 ms`; empty if there is none.
inline std::string duration(double seconds) {
  if (!std::isfinite(seconds)) {
    return {};
  }
  const unit u = time_unit(seconds);
  return (seconds == 0 ? "0" : three_digits(seconds * u.per_base)) + " " + std::string{u.symbol};
}

/// The unit in which an energy in joules is at least 1; microjoules at the least.
inline unit joule_unit(double joules) {
  return joules >= 1e3 ? unit{1e-3, "kJ"} : joules >= 1 || !(joules > 0) ? unit{1, "J"}
         : joules >= 1e-3 ? unit{1e3, "mJ"} : unit{1e6, "µJ"};
}

/// The unit that suits a value in the unit `base`: of seconds and joules, one with a prefix.
inline unit unit_for(double value, std::string_view base) {
  return base == "s" ? time_unit(value) : base == "J" ? joule_unit(value) : unit{1, base};
}

/// An energy with its unit, such as `12.3 mJ`; empty if there is none.
inline std::string joules_text(double joules) {
  if (!std::isfinite(joules)) {
    return {};
  }
  const unit u = joule_unit(joules);
  return (joules == 0 ? "0" : three_digits(joules * u.per_base)) + " " + std::string{u.symbol};
}

/// An amount of data with its binary unit, such as `12.3 KiB`, as memories are built; empty if there is none.
inline std::string amount(double bytes) {
  return std::isfinite(bytes) ? readable_bytes(static_cast<byte_count>(std::llround(bytes))) : std::string{};
}

/// A share as a percentage, such as `12.3 %`; empty if there is none.
inline std::string percentage(double share) {
  return std::isfinite(share) ? fixed(share * 100, std::abs(share) < 10 ? 1 : 0) + " %" : std::string{};
}

inline constexpr char32_t replacement_character = 0xfffd;

/// Takes one code point from the front of `text`, which must not be empty; U+FFFD for a byte that is not UTF-8.
constexpr char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  char32_t c = length < 2 ? lead : lead & (0x7fu >> length);
  bool valid = length != 0 && text.size() >= length;
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xc0u) == 0x80u;
    c = (c << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  if (!valid || overlong || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) {
    text.remove_prefix(1);
    return replacement_character;
  }
  text.remove_prefix(length);
  return c;
}

inline void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | (c >> 6)), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3f)), put(0x80 | ((c >> 6) & 0x3f)), put(0x80 | (c & 0x3f));
  }
}

constexpr bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/// Characters that turn the direction of all text that follows.
constexpr bool is_direction(char32_t c) {
  return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// Valid UTF-8 on one line: control characters, which could drive a terminal, and stray bytes become U+FFFD.
inline std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    append_utf8(out, is_control(c) || is_direction(c) ? replacement_character : c);
  }
  return out;
}

/// How many columns a terminal gives to a code point: 0 for combining marks, 2 for East Asian wide characters and
/// emoji, else 1. The ranges are the blocks of the Unicode Standard, not its full tables.
constexpr std::size_t width(char32_t c) {
  constexpr std::pair<char32_t, char32_t> zero[] = {{0x300, 0x36f},   {0x200b, 0x200f}, {0x1ab0, 0x1aff},
                                                    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
                                                    {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
  constexpr std::pair<char32_t, char32_t> wide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  const auto holds = [c](const auto& r) { return c >= r.first && c <= r.second; };
  return std::any_of(std::begin(zero), std::end(zero), holds)   ? 0
         : std::any_of(std::begin(wide), std::end(wide), holds) ? 2
                                                                : 1;
}

/// How many columns a terminal gives to the text.
constexpr std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    columns += width(take_code_point(text));
  }
  return columns;
}

/// Text for HTML, inside elements and quoted attributes.
inline std::string escape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    switch (const char32_t c = take_code_point(text); c) {
    case U'&': out += "&amp;"; break;
    case U'<': out += "&lt;"; break;
    case U'>': out += "&gt;"; break;
    case U'"': out += "&quot;"; break;
    case U'\'': out += "&#39;"; break;
    default: append_utf8(out, is_control(c) && c != U'\n' && c != U'\t' ? replacement_character : c);
    }
  }
  return out;
}

/// A JSON string with its quotes. `<` is escaped too, so that the text may stand inside an HTML script element.
inline std::string quote_json(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    switch (const char32_t c = take_code_point(text); c) {
    case U'"': out += "\\\""; break;
    case U'\\': out += "\\\\"; break;
    case U'\n': out += "\\n"; break;
    case U'\t': out += "\\t"; break;
    default:
      if (c < 0x20 || c == U'<' || c == 0x7f) {
        out += {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
      } else {
        append_utf8(out, c);
      }
    }
  }
  return out += '"';
}

/// A JSON number, or `null` if it is not finite.
inline std::string json_number(double x) {
  return std::isfinite(x) ? shortest(x) : "null";
}

} // namespace weft::report::detail
