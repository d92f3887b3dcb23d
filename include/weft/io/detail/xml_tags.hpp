// SPDX-License-Identifier: BSL-1.0
/// The tags of XML texts that programs write: elements, attributes and the text between tags.
#pragma once

#include "weft/io/detail/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Splits a text into the tags of XML; comments, declarations, processing instructions and sections of characters are
/// skipped. Calls `fail(line, problem)`, which must throw, for what is not XML. It does not check that
/// tags match, which who keeps a stack of them has to do.
template <class Fail>
class xml_tags {
public:
  xml_tags(std::string_view text, Fail fail) : text_{text}, fail_{std::move(fail)} {}

  /// Goes on to the next tag; false at the end.
  bool next() {
    const auto from = at_;
    for (;;) {
      begin_ = text_.find('<', at_);
      if (begin_ == text_.npos) {
        return false;
      }
      before_ = text_.substr(from, begin_ - from);
      const auto rest = text_.substr(begin_);
      const std::string_view end = rest.starts_with("<!--")        ? "-->"
                                   : rest.starts_with("<![CDATA[") ? "]]>"
                                   : rest.starts_with("<?")        ? "?>"
                                                                   : ">";
      if (end == ">" && !rest.starts_with("<!")) {
        read_tag();
        return true;
      }
      skip_past(end);
    }
  }

  std::string_view name() const { return name_; }
  bool opens() const { return opens_; }   ///< `<name …>` and `<name …/>`
  bool closes() const { return closes_; } ///< `</name>` and `<name …/>`
  std::string_view text_before() const { return before_; }
  std::size_t line() const { return line_at(text_, begin_); }

  /// The attribute of that name as it is in the text; empty if there is none.
  std::string_view operator[](std::string_view attribute) const {
    for (const auto& [key, value] : attributes_) {
      if (key == attribute) {
        return value;
      }
    }
    return {};
  }

private:
  static constexpr std::string_view blanks = " \t\r\n";
  static constexpr std::size_t max_attributes = 100;

  void skip_past(std::string_view end) {
    const auto found = text_.find(end, at_ = begin_);
    if (found == text_.npos) {
      fail_(line(), "the tag that begins here does not end");
    }
    at_ = found + end.size();
  }

  void read_tag() {
    at_ = begin_ + 1;
    closes_ = at_ < text_.size() && text_[at_] == '/';
    opens_ = !closes_;
    at_ += closes_ ? 1 : 0;
    name_ = word(" \t\r\n/><=\"'");
    attributes_.clear();
    for (;;) {
      at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size());
      const char c = at_ < text_.size() ? text_[at_] : '<';
      if (c == '>') {
        ++at_;
        break;
      }
      if (c == '/' && opens_ && text_.substr(at_, 2) == "/>") {
        closes_ = true;
        at_ += 2;
        break;
      }
      read_attribute();
    }
    if (name_.empty()) {
      fail_(line(), "a tag without a name");
    }
  }

  void read_attribute() {
    const auto key = word("=<> \t\r\n/\"'");
    const auto sign = text_.substr(at_, 2);
    const bool quoted = !key.empty() && (sign == "=\"" || sign == "='");
    const auto end = quoted ? text_.find(sign[1], at_ + 2) : text_.npos;
    if (end == text_.npos || attributes_.size() == max_attributes) {
      fail_(line(), "the tag '" + std::string{name_.substr(0, 40)} + "' is not right: attributes are KEY=\"VALUE\"");
    }
    attributes_.emplace_back(key, text_.substr(at_ + 2, end - at_ - 2));
    at_ = end + 1;
  }

  std::string_view word(std::string_view until) {
    const auto end = std::min(text_.find_first_of(until, at_), text_.size());
    const auto found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  std::string_view text_;
  Fail fail_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  std::string_view before_;
  std::string_view name_;
  bool opens_ = false;
  bool closes_ = false;
  std::vector<std::pair<std::string_view, std::string_view>> attributes_;
};

/// An attribute's value with the characters that its entities stand for; controls become blanks.
inline std::string xml_value(std::string_view value) {
  constexpr std::pair<std::string_view, char> entities[]{
    {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    char c = static_cast<unsigned char>(value[i]) < 32 ? ' ' : value[i];
    for (const auto& [entity, character] : entities) {
      if (c == '&' && value.substr(i, entity.size()) == entity) {
        i += entity.size() - 1;
        c = character;
        break;
      }
    }
    text += c;
  }
  return text;
}

} // namespace weft::io::detail
