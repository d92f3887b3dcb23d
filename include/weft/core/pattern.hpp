// SPDX-License-Identifier: BSL-1.0
/// Patterns of names, as shells have them.
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>
#include <string_view>

namespace weft {

/// True for a text that a pattern describes, in which `*` stands for any characters and `?` for one.
/// Complexity: O(lengths multiplied).
constexpr bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t star = pattern.npos;
  std::size_t covered = 0; // by the last star
  for (std::size_t i = 0; i < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      covered = i;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[i])) {
      ++p;
      ++i;
    } else if (star != pattern.npos) {
      p = star + 1;
      i = ++covered;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

} // namespace weft
