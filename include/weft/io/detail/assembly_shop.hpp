// SPDX-License-Identifier: BSL-1.0
/// Flexible assembly job shops by sight: job shops whose operations wait for any others, not only for the one before.
#pragma once

#include "weft/io/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace weft::io::detail {

/// The whole numbers of a line; at most three are kept. None if there is anything else.
struct small_numbers {
  std::size_t count = 0;
  std::array<std::uint64_t, 3> first{};

  static std::optional<small_numbers> of(std::string_view line) {
    small_numbers result;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      std::uint32_t value = 0;
      const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (status != std::errc{} || end != word.data() + word.size()) {
        return std::nullopt;
      }
      if (result.count < result.first.size()) {
        result.first[result.count] = value;
      }
      ++result.count;
    }
    return result;
  }
};

/// True if a text is one in the format of Birgin et al., *A MILP model for an extended version of the flexible job shop
/// problem*, Optimization Letters 8, 2014: `operations precedences machines`, a line of two operations, and perhaps
/// their job, for each precedence, and for each operation `count` and so often `machine time`.
inline bool looks_like_assembly_shop(std::string_view text) {
  line_reader lines{text, ""};
  const auto next = [&]() -> std::optional<small_numbers> {
    for (auto line = lines.next(); line; line = lines.next()) {
      if (const auto said = trim(line->substr(0, line->find('#'))); !said.empty()) {
        return small_numbers::of(said);
      }
    }
    return std::nullopt;
  };
  const auto header = next();
  if (!header || header->count != 3 || header->first[0] == 0 || header->first[2] == 0) {
    return false;
  }
  const auto [operations, precedences, machines] = header->first;
  for (std::uint64_t i = 0; i < precedences; ++i) {
    const auto pair = next();
    if (!pair || pair->count < 2 || pair->count > 3 || pair->first[0] == pair->first[1] ||
        std::max(pair->first[0], pair->first[1]) >= operations) {
      return false;
    }
  }
  for (std::uint64_t i = 0; i < operations; ++i) {
    const auto alternatives = next();
    if (!alternatives || alternatives->count < 3 || alternatives->count != 1 + 2 * alternatives->first[0] ||
        alternatives->first[1] >= machines) {
      return false;
    }
  }
  return !next();
}

} // namespace weft::io::detail
