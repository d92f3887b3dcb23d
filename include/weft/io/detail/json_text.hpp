// SPDX-License-Identifier: BSL-1.0
/// The tokens of JSON texts, and quick looks at a text without parsing all of it.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace weft::io::detail {

/// Splits a text into the tokens of JSON. Of a text that is not JSON it gives some tokens, and then the end.
class json_tokens {
public:
  struct token {
    char kind = 0; ///< one of `{}[]:,`, `"` for a string, `v` for another value, 0 at the end
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  explicit json_tokens(std::string_view text) : text_{text}, at_{text.substr(0, 3) == "\xef\xbb\xbf" ? 3u : 0u} {}

  token next() {
    at_ = text_.find_first_not_of(" \t\r\n", at_);
    if (at_ >= text_.size()) {
      at_ = text_.size();
      return {0, at_, at_};
    }
    const auto begin = at_;
    const char c = text_[at_];
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        at_ += text_[at_] == '\\' ? 1u : 0u;
      }
      at_ = std::min(at_ + 1, text_.size());
      return {'"', begin, at_};
    }
    if (std::string_view{"{}[]:,"}.find(c) != std::string_view::npos) {
      ++at_;
      return {c, begin, at_};
    }
    at_ = std::min(text_.find_first_of(" \t\r\n{}[]:,\"", at_), text_.size());
    return {'v', begin, at_};
  }

  std::string_view text(const token& t) const { return text_.substr(t.begin, t.end - t.begin); }

private:
  std::string_view text_;
  std::size_t at_;
};

/// The number of the line that holds a position, counted from 1.
inline std::size_t line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<std::size_t>(std::count(
               text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size())), '\n'));
}

/// The first token of the value of a key of the outermost object, as it is in the text; nothing if the text is no
/// object or has no such key. For finding out what a text is meant to be: the rest of it need not be valid.
inline std::optional<std::string_view> outermost_value(std::string_view text, std::string_view key) {
  json_tokens tokens{text};
  if (tokens.next().kind != '{') {
    return std::nullopt;
  }
  std::size_t depth = 1;
  bool at_key = true; // what comes next in the outermost object is a key
  for (auto t = tokens.next(); t.kind != 0 && depth > 0; t = tokens.next()) {
    depth += t.kind == '{' || t.kind == '[' ? 1u : 0u;
    depth -= t.kind == '}' || t.kind == ']' ? 1u : 0u;
    if (depth != 1) {
      continue;
    }
    const auto word = tokens.text(t);
    if (at_key && t.kind == '"' && word.size() == key.size() + 2 && word.substr(1, key.size()) == key) {
      return tokens.next().kind == ':' ? std::optional{tokens.text(tokens.next())} : std::nullopt;
    }
    at_key = t.kind == ',';
  }
  return std::nullopt;
}

/// Whether a text is meant to be an object with that `"format"`, one of the native ones.
inline bool has_json_format(std::string_view text, std::string_view format) {
  const auto value = outermost_value(text, "format");
  return value && value->size() == format.size() + 2 && value->substr(1, format.size()) == format;
}

} // namespace weft::io::detail
