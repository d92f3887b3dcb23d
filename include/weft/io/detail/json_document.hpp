// SPDX-License-Identifier: BSL-1.0
/// A parsed JSON text whose values know where they are, so that every error names file, line and path.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/detail/json_text.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::io::detail {

/// A JSON text and where its values are: 8 bytes for each value and key, whatever it holds, since numbers and strings
/// stay in the text, which must outlive the document. Throws `parse_error` for what is not JSON, for nesting that no
/// format here needs and that recursive functions may not survive, and for a key given twice.
class json_document {
public:
  static constexpr std::size_t max_depth = 64;

  /// A value or key begins at `begin` in the text; the first node that is not in it is `next`. The members of an
  /// object are its keys, each followed by its value.
  struct node {
    std::uint32_t begin;
    std::uint32_t next;
  };

  json_document(std::string_view text, std::string file) : text_{text}, file_{std::move(file)} {
    if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
      throw parse_error(file_, 0, "JSON of 4 GiB or more is not read");
    }
    if (const auto zero = text.find('\0'); zero != text.npos) { // the library takes it for the end
      throw parse_error(file_, line_at(text, zero), "not valid JSON: there is a byte of zero");
    }
    nodes_.reserve(check());
    add_nodes();
  }

  std::string_view text() const { return text_; }
  const std::string& file() const { return file_; }
  const node& operator[](std::uint32_t i) const { return nodes_[i]; }

  /// The value that begins there, as it is in the text; of a list or an object only the first character.
  std::string_view token(std::uint32_t i) const {
    json_tokens tokens{text_.substr(nodes_[i].begin)};
    return tokens.text(tokens.next());
  }

private:
  /// Counts values and keys while the library checks the text.
  struct checker {
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;
    const json_document& document;
    std::size_t count = 0;

    bool add() { return ++count != 0; }
    bool null() { return add(); }
    bool boolean(bool) { return add(); }
    bool number_integer(number_integer_t) { return add(); }
    bool number_unsigned(number_unsigned_t) { return add(); }
    bool number_float(number_float_t, const string_t&) { return add(); }
    bool string(string_t&) { return add(); }
    bool binary(binary_t&) { return add(); }
    bool key(string_t&) { return add(); }
    bool start_object(std::size_t) { return add(); }
    bool start_array(std::size_t) { return add(); }
    bool end_object() { return true; }
    bool end_array() { return true; }
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& e) const {
      const auto line = line_at(document.text_, position == 0 ? 0 : position - 1);
      if (e.id == 406) { // out_of_range
        throw weft::parse_error(document.file_, line, "the number " + token + " is out of the range of a double");
      }
      // what() is "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing …"
      const std::string_view what = e.what();
      const auto reason = what.find(": ");
      throw weft::parse_error(document.file_, line,
                              "not valid JSON: " +
                                on_one_line(reason == what.npos ? what : what.substr(reason + 2)));
    }
  };

  std::size_t check() const {
    checker c{*this};
    nlohmann::json::sax_parse(text_.begin(), text_.end(), &c);
    return c.count;
  }

  /// The text is valid, so brackets match.
  void add_nodes() {
    std::vector<std::uint32_t> open;
    std::vector<std::uint32_t> keys; // scratch
    json_tokens tokens{text_};
    for (auto t = tokens.next(); t.kind != 0; t = tokens.next()) {
      const auto i = static_cast<std::uint32_t>(nodes_.size());
      if (t.kind == '}' || t.kind == ']') {
        nodes_[open.back()].next = i;
        if (t.kind == '}') {
          check_keys(open.back(), keys);
        }
        open.pop_back();
      } else if (t.kind != ':' && t.kind != ',') {
        nodes_.push_back({static_cast<std::uint32_t>(t.begin), i + 1});
        if (t.kind == '{' || t.kind == '[') {
          open.push_back(i);
          if (open.size() > max_depth) {
            throw parse_error(file_, line_at(text_, t.begin),
                              "lists and objects are nested more than " + std::to_string(max_depth) + " deep");
          }
        }
      }
    }
  }

  /// Keys that are written alike; what an escape stands for does not matter to any format.
  void check_keys(std::uint32_t object, std::vector<std::uint32_t>& keys) const {
    keys.clear();
    for (auto key = object + 1; key < nodes_[object].next; key = nodes_[key + 1].next) {
      keys.push_back(key);
    }
    if (keys.size() < 2) {
      return;
    }
    weft::sort(keys, [this](std::uint32_t a, std::uint32_t b) {
      const auto order = token(a).compare(token(b));
      return order < 0 || (order == 0 && a < b);
    });
    for (std::size_t k = 1; k < keys.size(); ++k) {
      if (token(keys[k]) == token(keys[k - 1])) {
        throw parse_error(file_, line_at(text_, nodes_[keys[k]].begin),
                          "the key " + std::string{token(keys[k])} + " is given twice in one object");
      }
    }
  }

  std::string_view text_;
  std::string file_;
  std::vector<node> nodes_;
};

/// A value in a document and the way to it. Refers to the value that it was reached from, which must outlive it.
class json_value {
public:
  explicit json_value(const json_document& document) : document_{&document} {}

  bool is_object() const { return first() == '{'; }
  bool is_array() const { return first() == '['; }
  bool is_string() const { return first() == '"'; }
  bool is_null() const { return first() == 'n'; }
  bool is_boolean() const { return first() == 't' || first() == 'f'; }
  bool is_number() const { return first() == '-' || (first() >= '0' && first() <= '9'); }

  /// As it is in the text; of a list or an object only the first character.
  std::string_view token() const { return document_->token(node_); }

  /// Throws `parse_error`: `file:line: /path/to/value: problem`.
  [[noreturn]] void fail(const std::string& problem) const { throw located(problem); }

  /// The error that `fail` throws.
  parse_error located(const std::string& problem) const {
    std::vector<std::string> steps;
    for (auto v = this; v->parent_ != nullptr; v = v->parent_) {
      steps.push_back(v->key_ != 0 ? decoded(v->document_->token(v->key_)) : std::to_string(v->index_));
    }
    nlohmann::json::json_pointer pointer;
    for (; !steps.empty(); steps.pop_back()) {
      pointer.push_back(steps.back());
    }
    const std::string path = pointer.empty() ? "" : on_one_line(pointer.to_string()) + ": ";
    return {document_->file(), line(), path + problem};
  }

  /// The line on which it begins, counted from 1. Complexity: O(size of the text before it).
  std::size_t line() const { return line_at(document_->text(), (*document_)[node_].begin); }

  /// The member of that name, if there is one; nothing if this is no object. Complexity: O(members).
  std::optional<json_value> find(std::string_view key) const& {
    if (is_object()) {
      for (const json_value& member : *this) {
        if (member.key_token() == key) {
          return member;
        }
      }
    }
    return std::nullopt;
  }
  std::optional<json_value> find(std::string_view) const&& = delete;

  bool has(std::string_view key) const { return find(key).has_value(); }

  /// The member of that name, which must exist.
  json_value at(std::string_view key) const& {
    const auto found = find(key);
    if (!found) {
      fail("the key '" + std::string{key} + "' is missing");
    }
    return *found;
  }
  json_value at(std::string_view) const&& = delete;

  /// The i-th element, which must exist. Complexity: O(i); loop over the value to see all.
  json_value operator[](std::size_t i) const& {
    auto at = begin();
    for (; i > 0; --i) {
      ++at;
    }
    return *at;
  }
  json_value operator[](std::size_t) const&& = delete;

  /// Runs over the elements of a list, or over the values of an object's members.
  class iterator {
  public:
    using value_type = json_value;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = void;
    using reference = json_value;
    iterator() = default;
    iterator(const json_value& parent, std::uint32_t node) : parent_{&parent}, node_{node} {}
    json_value operator*() const {
      return parent_->is_object() ? json_value{*parent_, node_ + 1, node_, 0} : json_value{*parent_, node_, 0, index_};
    }
    iterator& operator++() {
      const auto& nodes = *parent_->document_;
      node_ = nodes[parent_->is_object() ? node_ + 1 : node_].next;
      ++index_;
      return *this;
    }
    iterator operator++(int) {
      auto old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.node_ == b.node_; }

  private:
    const json_value* parent_ = nullptr;
    std::uint32_t node_ = 0;
    std::size_t index_ = 0;
  };
  iterator begin() const& { return {*this, is_object() || is_array() ? node_ + 1 : end_node()}; }
  iterator end() const& { return {*this, end_node()}; }
  iterator begin() const&& = delete;
  iterator end() const&& = delete;

  /// The number of elements or members. Complexity: linear in it.
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

  /// The name of this member of an object.
  std::string key() const { return decoded(document_->token(key_)); }

  /// Checks that this is an object without other keys than these.
  const json_value& object(std::initializer_list<std::string_view> keys) const& {
    object();
    for (const json_value& member : *this) {
      if (std::find(keys.begin(), keys.end(), member.key_token()) == keys.end()) {
        std::string known;
        for (const auto k : keys) {
          known += (known.empty() ? "" : ", ") + std::string{k};
        }
        member.fail("unknown key; the keys here are " + known);
      }
    }
    return *this;
  }
  const json_value& object(std::initializer_list<std::string_view> keys) const&& = delete;
  /// Checks that this is an object.
  const json_value& object() const& {
    expect(is_object(), "an object");
    return *this;
  }
  const json_value& object() const&& = delete;

  /// Checks that this is an array.
  const json_value& array(const char* what = "an array") const& {
    expect(is_array(), what);
    return *this;
  }
  const json_value& array(const char* what = "an array") const&& = delete;

  std::string text() const {
    expect(is_string(), "a string");
    return decoded(token());
  }

  /// A number that is not negative, or positive.
  double number(bool positive = false) const {
    const char* what = positive ? "a positive number" : "a number that is not negative";
    expect(is_number(), what);
    const double x = parsed();
    expect(positive ? x > 0 : x >= 0, what);
    return x;
  }

  /// A whole number from `least` to `most`; `4e6` is one, too.
  std::uint64_t whole(std::uint64_t least, std::uint64_t most) const {
    constexpr const char* what = "a whole number that is not negative";
    expect(is_number() && first() != '-', what);
    std::uint64_t x = 0;
    const auto word = token();
    if (word.find_first_of(".eE") != word.npos ||
        std::from_chars(word.data(), word.data() + word.size(), x).ec != std::errc{}) {
      const double y = parsed();
      expect(y < 0x1p63 && y == std::floor(y), what);
      x = static_cast<std::uint64_t>(y);
    }
    if (x < least || x > most) {
      expect(false, ("a whole number from " + std::to_string(least) + " to " + std::to_string(most)).c_str());
    }
    return x;
  }

  /// A whole number of at most 2^62 in size, or 2^53 if it is written with a point or an exponent.
  std::int64_t integer() const {
    constexpr const char* what = "a whole number";
    expect(is_number(), what);
    const auto word = token();
    if (word.find_first_of(".eE") != word.npos) {
      const double y = parsed();
      expect(y == std::floor(y) && std::abs(y) < 0x1p53, what);
      return static_cast<std::int64_t>(y);
    }
    std::int64_t x = 0;
    const bool fits = std::from_chars(word.data(), word.data() + word.size(), x).ec == std::errc{};
    expect(fits && x <= std::int64_t{1} << 62 && x >= -(std::int64_t{1} << 62), what);
    return x;
  }

  bool boolean() const {
    expect(is_boolean(), "true or false");
    return first() == 't';
  }

  void expect(bool holds, const char* what) const {
    if (!holds) {
      const auto& nodes = *document_;
      const auto begin = nodes[node_].begin;
      const auto found = is_object() || is_array() ? document_->text().substr(begin, 41) : token();
      std::string shown = on_one_line(found.substr(0, 40));
      fail("expected " + std::string{what} + ", found " + shown + (found.size() > 40 ? "..." : ""));
    }
  }

private:
  json_value(const json_value& parent, std::uint32_t node, std::uint32_t key, std::size_t index)
      : document_{parent.document_}, node_{node}, parent_{&parent}, key_{key}, index_{index} {}

  char first() const { return document_->text()[(*document_)[node_].begin]; }
  std::uint32_t end_node() const { return (*document_)[node_].next; }

  /// A name as it is in the text, without quotes; all names that formats know are written without escapes.
  std::string_view key_token() const {
    const auto word = document_->token(key_);
    return word.substr(1, word.size() - 2);
  }

  static std::string decoded(std::string_view word) {
    return word.find('\\') == word.npos ? std::string{word.substr(1, word.size() - 2)}
                                        : nlohmann::json::parse(word).get<std::string>();
  }

  /// The number, without a sign if it is 0. The text was checked: it is none that is too large.
  double parsed() const {
    const auto word = token();
    double x = 0;
    const bool fits = std::from_chars(word.data(), word.data() + word.size(), x).ec == std::errc{};
    return fits && x != 0 ? x : 0; // too close to 0 to tell the difference
  }

  const json_document* document_;
  std::uint32_t node_ = 0;
  const json_value* parent_ = nullptr;
  std::uint32_t key_ = 0; // the key in the parent, or 0 in an array
  std::size_t index_ = 0;
};

/// Checks the first two keys of every file: `"format"` and `"version"`.
inline void check_format(const json_value& root, std::string_view format) {
  root.object();
  const auto found = root.at("format");
  if (found.text() != format) {
    found.fail("this is a " + in_quotes(found.text()) + " file, expected '" + std::string{format} + "'");
  }
  const auto version = root.at("version");
  if (!version.is_number() || version.token() != "1") {
    version.fail("version " + on_one_line(version.token()) + " is not understood; this reader knows version 1");
  }
}

/// A number as JSON, whole numbers without a point.
inline nlohmann::ordered_json json_number(double x) {
  return x == std::floor(x) && std::abs(x) < 0x1p53 ? nlohmann::ordered_json(static_cast<std::int64_t>(x))
                                                    : nlohmann::ordered_json(x);
}

/// JSON on one line. Bytes that are not UTF-8 become U+FFFD.
inline std::string one_line(const nlohmann::ordered_json& value) {
  if (!value.is_structured()) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::string text;
  for (const auto& [key, member] : value.items()) {
    text += text.empty() ? "" : ", ";
    text += value.is_object() ? one_line(nlohmann::ordered_json(key)) + ": " : "";
    text += one_line(member);
  }
  return value.is_object() ? '{' + text + '}' : '[' + text + ']';
}

} // namespace weft::io::detail
