// SPDX-License-Identifier: BSL-1.0
/// Lines, fields and numbers of text files, with errors that name file and line.
#pragma once

#include "weft/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace weft::io {

/// Without blanks at both ends (a carriage return is a blank).
constexpr std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\f\v";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The trimmed fields between separators; an empty text has one empty field. With `most`, the last field keeps all
/// further separators.
inline std::vector<std::string_view> split(std::string_view text, char separator,
                                           std::size_t most = std::string_view::npos) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto end = fields.size() + 1 < most ? text.find(separator) : std::string_view::npos;
    fields.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return fields;
    }
    text.remove_prefix(end + 1);
  }
}

/// Takes the next word, up to a blank, off the front of a line; empty at its end.
inline std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r\f\v";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const auto word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// The number of words in a line.
inline std::size_t count_words(std::string_view line) {
  std::size_t count = 0;
  while (!next_word(line).empty()) {
    ++count;
  }
  return count;
}

/// In lower case (ASCII).
inline std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// In upper case (ASCII).
inline std::string upper(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

/// In quotes, shortened, and with unprintable bytes replaced, so that it fits into an error message of one line.
inline std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 60)) {
    result += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  }
  return result + (text.size() > 60 ? "...'" : "'");
}

/// A number and what is counted, with the words for one or for several: `counted(n, "{op has|ops have} no weight")` is
/// `1 op has no weight` or `2 ops have no weight`. Braces without a `|` in them are kept. Complexity: linear.
inline std::string counted(std::size_t n, std::string_view text) {
  std::string result = std::to_string(n) + " ";
  while (!text.empty()) {
    const auto open = std::min(text.find('{'), text.size());
    const auto close = text.find('}', open);
    const auto bar = text.find('|', open);
    result += text.substr(0, open);
    if (close == text.npos || bar > close) {
      const auto end = std::min(close, text.size() - 1) + 1;
      result += text.substr(open, end - open);
      text.remove_prefix(end);
      continue;
    }
    result += n == 1 ? text.substr(open + 1, bar - open - 1) : text.substr(bar + 1, close - bar - 1);
    text.remove_prefix(close + 1);
  }
  return result;
}

/// With blanks for control characters, so that it is one line.
inline std::string on_one_line(std::string_view text) {
  std::string result{text};
  std::replace_if(
    result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
  return result;
}

/// The texts of a list, or what `text` makes of its elements, in a row.
template <class List, class Text = std::identity>
std::string joined(const List& list, const Text& text = {}, std::string_view separator = ", ") {
  std::string result;
  bool first = true;
  for (const auto& x : list) {
    (result += first ? std::string_view{} : separator) += std::invoke(text, x);
    first = false;
  }
  return result;
}

/// The first so many of them, and `…` behind them if there are more.
template <class List, class Text = std::identity>
std::string joined_first(std::size_t most, const List& list, const Text& text = {}) {
  std::string result;
  std::size_t number = 0;
  for (const auto& x : list) {
    result += number == 0 ? "" : ", ";
    if (number++ == most) {
      return result + "…";
    }
    result += std::invoke(text, x);
  }
  return result;
}

/// Calls read(), and gives every error that does not name a file this one, on one line, with the error nested in it.
template <class Read>
auto in_file(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const parse_error&) {
    throw;
  } catch (const error& e) {
    std::throw_with_nested(parse_error(file, 0, on_one_line(e.what())));
  }
}

/// The lines of a text that are not blank, trimmed and numbered; skips a byte order mark.
class line_reader {
public:
  line_reader(std::string_view text, std::string file) : rest_{text}, file_{std::move(file)} {
    if (rest_.substr(0, 3) == "\xef\xbb\xbf") {
      rest_.remove_prefix(3);
    }
  }

  /// The next line that is not blank, or nothing at the end.
  std::optional<std::string_view> next() {
    while (!rest_.empty()) {
      const auto end = rest_.find('\n');
      const auto line = trim(rest_.substr(0, end));
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
      if (!line.empty()) {
        return line;
      }
    }
    return std::nullopt;
  }

  std::size_t line() const { return line_; } ///< number of the line that `next` returned last, from 1
  const std::string& file() const { return file_; }

  [[noreturn]] void fail(const std::string& problem) const { throw parse_error(file_, line_, problem); }

private:
  std::string_view rest_;
  std::string file_;
  std::size_t line_ = 0;
};

/// Reads a number of type T that fills the field. Calls `fail(problem)`, which must throw, if it is none, if it is
/// negative, and if it does not fit.
template <class T, class Fail>
T parse_number(std::string_view field, const char* what, const Fail& fail) {
  const auto problem = [&](const char* why) { return std::string{what} + " " + in_quotes(field) + " " + why; };
  if (field.empty()) {
    fail(std::string{what} + " is empty: write a number");
  }
  T value{};
  const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool whole = end == field.data() + field.size();
  if (std::signed_integral<T> || field.front() != '-') {
    if (whole && status == std::errc::result_out_of_range) {
      fail(problem(std::integral<T> ? "is too large" : "is out of the range of a double"));
    }
    if (status != std::errc{} || !whole) {
      fail(problem(std::integral<T> ? "is not a whole number" : "is not a number"));
    }
    if constexpr (std::floating_point<T>) {
      if (!std::isfinite(value)) {
        fail(problem("is not a finite number"));
      }
    }
    return value;
  }
  fail(problem("is negative, or not a number: write a number that is not negative"));
  return value;
}

/// A number as text that reads back exactly; whole numbers without an exponent.
inline std::string number_text(double value) {
  char buffer[64];
  const bool plain = value == std::floor(value) && std::abs(value) < 1e15;
  const auto result = plain ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed)
                            : std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

} // namespace weft::io
