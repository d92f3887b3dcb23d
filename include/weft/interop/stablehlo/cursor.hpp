// SPDX-License-Identifier: BSL-1.0
/// A position in a text in MLIR's syntax, and the smallest parts of that syntax.
#pragma once

#include "weft/core/error.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::stablehlo {

/// Reads a text from left to right. All functions that are named after something expect it at the position, after
/// blanks and comments, and throw `parse_error` with the line if something else is there.
/// Source: MLIR Language Reference (mlir.llvm.org/docs/LangRef).
class cursor {
public:
  cursor(std::string_view text, std::string file) : text_{text}, file_{std::move(file)} {}

  [[noreturn]] void fail(const std::string& problem, std::size_t at = std::string_view::npos) const {
    const auto end = std::min(at == std::string_view::npos ? at_ : at, text_.size());
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    throw parse_error(file_, static_cast<std::size_t>(lines) + 1, io::on_one_line(problem));
  }

  std::size_t position() const { return at_; }
  std::string_view since(std::size_t start) const { return io::trim(text_.substr(start, at_ - start)); }
  void return_to(std::size_t position) { at_ = position; }

  /// The next character that is no blank and in no comment; 0 at the end.
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool is_next(std::string_view token) {
    skip_blanks();
    return text_.substr(at_).starts_with(token);
  }
  /// Goes past the token if it is next.
  bool accept(std::string_view token) {
    const bool there = is_next(token);
    at_ += there ? token.size() : 0;
    return there;
  }
  void expect(std::string_view token) {
    if (!accept(token)) {
      fail("expected '" + std::string{token} + "' here, but found " + what_is_next());
    }
  }
  bool accept_word(std::string_view word) {
    const auto end = word.size();
    const bool there = is_next(word) && (at_ + end >= text_.size() || !is_in_word(text_[at_ + end]));
    at_ += there ? end : 0;
    return there;
  }
  /// The result of `look()`, without going further.
  template <class Look>
  bool ahead(const Look& look) {
    const auto before = at_;
    const bool yes = look();
    at_ = before;
    return yes;
  }
  /// Calls `item()` for each part of a list, which commas separate.
  template <class Item>
  void list(std::string_view open, std::string_view close, const Item& item) {
    expect(open);
    while (!accept(close)) {
      item();
      if (!accept(",") && !is_next(close)) {
        expect(",");
      }
    }
  }
  std::string what_is_next() {
    skip_blanks();
    const auto line = text_.substr(at_, std::min<std::size_t>(text_.find('\n', at_) - at_, 24));
    return at_ < text_.size() ? io::in_quotes(line) : std::string{"the end of the text"};
  }
  bool line_ended_between(std::size_t first, std::size_t last) const {
    return text_.substr(first, last - first).find('\n') != text_.npos;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_in_word(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }

  /// `stablehlo.add`, `dims`; empty if there is none.
  std::string_view word() {
    skip_blanks();
    const auto start = at_;
    while (at_ < text_.size() && is_in_word(text_[at_]) &&
           (at_ > start || is_letter(text_[at_]) || text_[at_] == '$')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  /// What follows a mark such as % or @: `arg0`, `"a name"` without its quotes.
  std::string_view name() {
    if (at_ < text_.size() && text_[at_] == '"') {
      return string();
    }
    const auto start = at_;
    while (at_ < text_.size() && (is_in_word(text_[at_]) ||
                                  (text_[at_] == '-' && !text_.substr(at_).starts_with("->")))) {
      ++at_;
    }
    if (at_ == start) {
      fail("expected a name, but found " + what_is_next());
    }
    return text_.substr(start, at_ - start);
  }
  /// What is between quotes, escapes as they are.
  std::string_view string() {
    expect("\"");
    const auto start = at_;
    for (;;) {
      const auto end = text_.find('"', at_);
      if (end == text_.npos) {
        fail("a quoted string has no end", start);
      }
      auto escapes = end;
      while (escapes > start && text_[escapes - 1] == '\\') {
        --escapes;
      }
      at_ = end + 1;
      if ((end - escapes) % 2 == 0) {
        return text_.substr(start, end - start);
      }
    }
  }
  std::size_t number() {
    skip_blanks();
    std::size_t value = 0;
    const auto start = at_;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      value = std::min<std::size_t>(value * 10 + static_cast<std::size_t>(text_[at_] - '0'), 1'000'000'000);
    }
    if (at_ == start) {
      fail("expected a number, but found " + what_is_next());
    }
    return value;
  }

  /// Goes past a bracket, everything in it and its counterpart, and returns what is between them.
  std::string_view balanced() {
    skip_blanks();
    const auto start = at_;
    std::string open;
    do {
      const char c = peek();
      switch (c) {
      case '\0': fail("a bracket is not closed", start);
      case '"': string(); continue;
      case '(': open += ')'; break;
      case '[': open += ']'; break;
      case '{': open += '}'; break;
      case '<': open += '>'; break;
      case '-':
      case '=': // arrows and comparisons have no brackets
        at_ += is_next("->") || is_next("=>") ? 1u : 0u;
        break;
      case ')':
      case ']':
      case '}':
      case '>':
        if (open.back() != c) {
          fail(std::string{"expected '"} + open.back() + "' before this '" + c + "'");
        }
        open.pop_back();
        break;
      default: at_ = std::min(text_.find_first_of("\"()[]{}<>-=/", at_ + 1), text_.size()); continue;
      }
      ++at_;
    } while (!open.empty());
    return text_.substr(start + 1, at_ - start - 2);
  }

  /// Goes past `loc(...)` if it is next, and returns what is between the brackets.
  std::string_view location() {
    const auto before = at_;
    if (accept("loc") && peek() == '(') {
      return balanced();
    }
    at_ = before;
    return {};
  }

private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
};

} // namespace weft::stablehlo
