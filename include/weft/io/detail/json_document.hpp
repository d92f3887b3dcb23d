// SPDX-License-Identifier: BSL-1.0
/// A parsed JSON text whose values know where they are, so that every error names file, line and path.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/io/detail/json_text.hpp"
#include "weft/io/detail/text.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::io::detail {

/// A JSON text and its values. Throws `parse_error` for what is not JSON, for nesting that no format here needs and
/// that recursive functions may not survive, and for a key given twice.
struct json_document {
  static constexpr std::size_t max_depth = 64;

  json_document(std::string content, std::string name) : text{std::move(content)}, file{std::move(name)} {
    try {
      root = nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& e) {
      // what() is "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing …"
      const std::string_view what = e.what();
      const auto reason = what.find(": ");
      throw parse_error(file, line_at(text, e.byte == 0 ? 0 : e.byte - 1),
                        "not valid JSON: " + one_line(reason == what.npos ? what : what.substr(reason + 2)));
    } catch (const nlohmann::json::out_of_range& e) { // "[…] number overflow parsing '1e999'"
      const std::string_view what = e.what();
      const auto open = what.find('\'');
      const auto number = open == what.npos ? what : what.substr(open + 1, what.rfind('\'') - open - 1);
      throw parse_error(file, line_at(text, text.find(number)),
                        "the number " + std::string{number} + " is out of the range of a double");
    }
    if (const auto deep = find_deep_nesting(text, max_depth)) {
      throw parse_error(file, line_at(text, deep->begin),
                        "lists and objects are nested more than " + std::to_string(max_depth) + " deep");
    }
    if (const auto twice = find_duplicate_key(text)) {
      throw parse_error(file, line_at(text, twice->begin),
                        "the key " + text.substr(twice->begin, twice->end - twice->begin) +
                          " is given twice in one object");
    }
  }

  static std::string one_line(std::string_view text) {
    std::string result{text};
    std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
    return result;
  }

  std::string text;
  std::string file;
  nlohmann::json root;
};

/// A value in a document and the way to it. Refers to the value that it was reached from, which must outlive it.
class json_value {
public:
  explicit json_value(const json_document& document) : document_{&document}, value_{&document.root} {}

  const nlohmann::json& operator*() const { return *value_; }
  const nlohmann::json* operator->() const { return value_; }

  /// Throws `parse_error`: `file:line: /path/to/value: problem`.
  [[noreturn]] void fail(const std::string& problem) const { throw located(problem); }

  /// The error that `fail` throws.
  parse_error located(const std::string& problem) const {
    std::vector<std::string> steps;
    for (auto v = this; v->parent_ != nullptr; v = v->parent_) {
      steps.insert(steps.begin(), v->step());
    }
    nlohmann::json::json_pointer pointer;
    for (const auto& step : steps) {
      pointer.push_back(step);
    }
    const std::string path = pointer.empty() ? "" : json_document::one_line(pointer.to_string()) + ": ";
    return {document_->file, line_of(document_->text, steps), path + problem};
  }

  /// The member of that name, which must exist. This value must be an object.
  json_value at(const char* key) const& {
    const auto found = value_->find(key);
    if (found == value_->end()) {
      fail("the key '" + std::string{key} + "' is missing");
    }
    return {*this, *found, key, 0};
  }
  json_value at(const char*) const&& = delete;

  bool has(const char* key) const { return value_->contains(key); }

  /// The i-th element. This value must be an array.
  json_value operator[](std::size_t i) const& { return {*this, (*value_)[i], nullptr, i}; }
  json_value operator[](std::size_t) const&& = delete;

  std::size_t size() const { return value_->size(); }

  /// Checks that this is an object without other keys than these.
  const json_value& object(std::initializer_list<std::string_view> keys) const {
    expect(value_->is_object(), "an object");
    for (const auto& [key, member] : value_->items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        std::string known;
        for (const auto k : keys) {
          known += (known.empty() ? "" : ", ") + std::string{k};
        }
        json_value{*this, member, key.c_str(), 0}.fail("unknown key; the keys here are " + known);
      }
    }
    return *this;
  }

  /// Checks that this is an array.
  const json_value& array(const char* what = "an array") const {
    expect(value_->is_array(), what);
    return *this;
  }

  const std::string& text() const {
    expect(value_->is_string(), "a string");
    return value_->get_ref<const std::string&>();
  }

  /// A number that is not negative, or positive.
  double number(bool positive = false) const {
    const char* what = positive ? "a positive number" : "a number that is not negative";
    expect(value_->is_number(), what);
    const auto x = value_->get<double>();
    expect(positive ? x > 0 : x >= 0, what);
    return x;
  }

  /// A whole number from `least` to `most`; `4e6` is one, too.
  std::uint64_t whole(std::uint64_t least, std::uint64_t most) const {
    const auto in_range = [&](std::uint64_t x) {
      if (x < least || x > most) {
        expect(false, ("a whole number from " + std::to_string(least) + " to " + std::to_string(most)).c_str());
      }
      return x;
    };
    if (value_->is_number_float()) {
      const auto x = value_->get<double>();
      expect(x >= 0 && x < 0x1p63 && x == std::floor(x), "a whole number that is not negative");
      return in_range(static_cast<std::uint64_t>(x));
    }
    expect(value_->is_number_unsigned(), "a whole number that is not negative");
    return in_range(value_->get<std::uint64_t>());
  }

  void expect(bool holds, const char* what) const {
    if (!holds) {
      std::string found = value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      fail("expected " + std::string{what} + ", found " + (found.size() > 40 ? found.substr(0, 40) + "..." : found));
    }
  }

private:
  json_value(const json_value& parent, const nlohmann::json& value, const char* key, std::size_t index)
      : document_{parent.document_}, value_{&value}, parent_{&parent}, key_{key}, index_{index} {}

  std::string step() const { return key_ != nullptr ? key_ : std::to_string(index_); }

  const json_document* document_;
  const nlohmann::json* value_;
  const json_value* parent_ = nullptr;
  const char* key_ = nullptr; // the key in the parent, or null in an array
  std::size_t index_ = 0;
};

/// Checks the first two keys of every file: `"format"` and `"version"`.
inline void check_format(const json_value& root, std::string_view format) {
  root.expect(root->is_object(), "an object");
  const auto found = root.at("format");
  if (found.text() != format) {
    found.fail("this is a " + in_quotes(found.text()) + " file, expected '" + std::string{format} + "'");
  }
  const auto version = root.at("version");
  if (*version != 1) {
    version.fail("version " + version->dump() + " is not understood; this reader knows version 1");
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
    text += value.is_object() ? '"' + key + "\": " : "";
    text += one_line(member);
  }
  return value.is_object() ? '{' + text + '}' : '[' + text + ']';
}

} // namespace weft::io::detail
