// SPDX-License-Identifier: BSL-1.0
/// Finds places in JSON texts, which the JSON library does not keep: duplicate keys, and the line of a value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::io::detail {

/// Splits a text that is known to be valid JSON into tokens.
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
      return {0, text_.size(), text_.size()};
    }
    const auto begin = at_;
    const char c = text_[at_];
    if (c == '"') {
      for (++at_; text_[at_] != '"'; ++at_) {
        at_ += text_[at_] == '\\' ? 1u : 0u;
      }
      ++at_;
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

/// Where lists and objects are nested deeper than `most` in a valid JSON text.
inline std::optional<json_tokens::token> find_deep_nesting(std::string_view text, std::size_t most) {
  json_tokens tokens{text};
  std::size_t depth = 0;
  for (auto t = tokens.next(); t.kind != 0; t = tokens.next()) {
    depth += t.kind == '{' || t.kind == '[' ? 1u : 0u;
    depth -= t.kind == '}' || t.kind == ']' ? 1u : 0u;
    if (depth > most) {
      return t;
    }
  }
  return std::nullopt;
}

/// Where a key is given twice in one object of a valid JSON text.
inline std::optional<json_tokens::token> find_duplicate_key(std::string_view text) {
  struct frame {
    bool object;
    std::set<std::string_view> keys = {};
  };
  json_tokens tokens{text};
  std::vector<frame> frames;
  auto last = tokens.next();
  for (auto t = last; t.kind != 0; last = t, t = tokens.next()) {
    if (t.kind == '{' || t.kind == '[') {
      frames.push_back({t.kind == '{'});
    } else if (t.kind == '}' || t.kind == ']') {
      frames.pop_back();
    } else if (t.kind == '"' && !frames.empty() && frames.back().object && last.kind != ':' &&
               !frames.back().keys.insert(tokens.text(t)).second) {
      return t;
    }
  }
  return std::nullopt;
}

/// The line on which the value with that path (keys and positions) begins in a valid JSON text; if there is no such
/// value, that of the innermost one around it.
inline std::size_t line_of(std::string_view text, const std::vector<std::string>& path) {
  json_tokens tokens{text};
  auto t = tokens.next();
  std::size_t found = t.begin;
  const auto skip_value = [&](json_tokens::token first) {
    std::size_t depth = 0;
    for (auto u = first;; u = tokens.next()) {
      depth += u.kind == '{' || u.kind == '[' ? 1u : 0u;
      depth -= u.kind == '}' || u.kind == ']' ? 1u : 0u;
      if (depth == 0) {
        return;
      }
    }
  };
  for (const auto& step : path) {
    const char open = t.kind;
    bool inside = false;
    for (std::size_t i = 0; (open == '{' || open == '[') && !inside; ++i) {
      t = tokens.next();
      if (t.kind == ',') {
        t = tokens.next();
      }
      if (t.kind == '}' || t.kind == ']') {
        break;
      }
      inside = open == '[' && step == std::to_string(i);
      if (open == '{') {
        inside = nlohmann::json::parse(tokens.text(t)).get<std::string>() == step;
        tokens.next(); // the colon
        t = tokens.next();
      }
      if (!inside) {
        skip_value(t);
      }
    }
    if (!inside) {
      break;
    }
    found = t.begin;
  }
  return line_at(text, found);
}

} // namespace weft::io::detail
