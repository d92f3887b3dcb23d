// SPDX-License-Identifier: BSL-1.0
/// Texts of `--help` in lines that fit a page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace tool {

inline constexpr std::size_t help_width = 100;  ///< columns of a page
inline constexpr std::size_t help_indent = 28;  ///< columns before what an option does, or what a name stands for

/// Columns of a UTF-8 text whose characters are one column wide.
inline std::size_t help_columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Goes on behind `line` with the words of `text`, in lines that begin at column `indent`. A blank line in `text`
/// starts a new line; its other line breaks are spaces.
inline std::string help_wrapped(const std::string& line, std::string_view text, std::size_t indent) {
  std::string page = line;
  std::size_t column = help_columns(line);
  for (std::size_t at = text.find_first_not_of(" \n"); at != text.npos;) {
    const auto end = std::min(text.find_first_of(" \n", at), text.size());
    const auto word = text.substr(at, end - at);
    const auto width = help_columns(word);
    if (column > indent && column + 1 + width > help_width) {
      page += '\n';
      column = 0;
    }
    const auto gap = column < indent ? indent - column : column > indent ? 1u : 0u;
    page.append(gap, ' ').append(word);
    column += gap + width;
    if (text.substr(end).starts_with("\n\n")) {
      page += '\n';
      column = 0;
    }
    at = text.find_first_not_of(" \n", end);
  }
  return page + (page.ends_with('\n') ? "" : "\n");
}

/// `name`, and beside it, from column `indent` on, `text`, wrapped. A long name has a line of its own.
inline std::string help_entry(std::string_view name, std::string_view text, std::size_t indent = help_indent) {
  const auto line = std::string(2, ' ').append(name);
  const bool fits = help_columns(line) + 2 <= indent;
  return fits ? help_wrapped(line, text, indent) : line + '\n' + help_wrapped({}, text, indent);
}

/// `text`, wrapped, below a heading.
inline std::string help_paragraph(std::string_view text) { return help_wrapped({}, text, 2); }

/// The description of an option up to the first blank line, which is what the first page says of it.
inline std::string_view help_summary(std::string_view text) { return text.substr(0, text.find("\n\n")); }

} // namespace tool
