// SPDX-License-Identifier: BSL-1.0
/// Protocol Buffers' text format: read by TensorFlow's schema, and turned into the binary encoding.
///
/// Source: Protocol Buffers documentation, *Text Format Language Specification*.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/tensorflow/data_type.hpp"
#include "weft/interop/tensorflow/schema.hpp"
#include "weft/interop/tensorflow/wire.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow {

/// The place of a node's device in a text, or where it would be: bytes [first, last) hold its value; both are where it
/// could be inserted if it has none.
struct device_place {
  std::size_t first = 0;
  std::size_t last = 0;
  bool given = false;
};

namespace detail {

/// Reads one text into one message.
class text_parser {
public:
  static constexpr int max_depth = 100; ///< as deep as Protocol Buffers reads messages within messages

  text_parser(std::string_view text, std::string file, std::vector<device_place>* places = nullptr)
      : text_{text}, file_{std::move(file)}, places_{places} {}

  std::string parse(schema::message_id root) {
    if (text_.starts_with("\xef\xbb\xbf")) {
      at_ = 3;
    }
    std::string out;
    skip();
    parse_fields(root, '\0', out, 0);
    return out;
  }

private:
  [[noreturn]] void fail(const std::string& problem) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw parse_error(file_, static_cast<std::size_t>(line), problem);
  }
  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }

  /// Skips blanks and comments.
  void skip() {
    for (; !at_end(); ++at_) {
      if (now() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        --at_;
      } else if (now() != ' ' && now() != '\t' && now() != '\n' && now() != '\r' && now() != '\f' && now() != '\v') {
        return;
      }
    }
  }
  bool accept(char c) {
    if (at_end() || now() != c) {
      return false;
    }
    ++at_;
    end_of_value_ = at_;
    skip();
    return true;
  }
  std::string_view take_name(const char* what) {
    const auto start = at_;
    while (is_name(now())) {
      ++at_;
    }
    if (at_ == start) {
      fail(at_end() ? std::string{"the text ends where "} + what + " should be; was the file cut off?"
                    : std::string{"expected "} + what + ", found " + io::in_quotes(text_.substr(at_, 1)));
    }
    end_of_value_ = at_;
    const auto name = text_.substr(start, at_ - start);
    skip();
    return name;
  }

  void parse_fields(schema::message_id id, char closing, std::string& out, int depth) {
    const auto& m = schema::of(id);
    std::uint64_t seen = 0;
    device_place place;
    while (closing == '\0' ? !at_end() : !accept(closing)) {
      if (at_end()) {
        fail(std::string{"the text ends inside "} + std::string{m.name} + "; was the file cut off?");
      }
      const auto name = take_name("the name of a field");
      const auto i = schema::find(m, name);
      if (!i) {
        std::string known;
        for (const auto& f : m.fields) {
          known += (known.empty() ? "" : ", ") + std::string{f.name};
        }
        fail("unknown field " + io::in_quotes(name) + " of " + std::string{m.name} + "; the fields here are " +
             known);
      }
      const auto& f = m.fields[*i];
      if (!f.repeated && (m.one_of ? seen != 0 : (seen >> *i & 1) != 0)) {
        fail("field '" + std::string{f.name} + "' of " + std::string{m.name} +
             (seen >> *i & 1 ? " is given twice" : " is given beside another one, but only one may be"));
      }
      seen |= std::uint64_t{1} << *i;
      const auto value = parse_field(f, out, depth);
      if (id == schema::message_id::node_def) {
        note_device(place, f.number, value);
      }
      (void)(accept(',') || accept(';'));
    }
    if (id == schema::message_id::node_def && places_ != nullptr) {
      places_->push_back(place);
    }
  }

  /// A device goes after the name, the op and the inputs, as TensorFlow writes it.
  static void note_device(device_place& place, std::uint32_t number, const device_place& value) {
    if (number == 4) {
      place = {value.first, value.last, true};
    } else if (number < 4 && !place.given) {
      place = {value.last, value.last, false};
    }
  }

  /// Returns where the value is.
  device_place parse_field(const schema::field& f, std::string& out, int depth) {
    const bool colon = accept(':');
    const bool in_brackets = f.type == schema::type::unread && (now() == '{' || now() == '<');
    if (!colon && f.type != schema::type::message && !in_brackets) {
      fail("expected ':' after '" + std::string{f.name} + "'");
    }
    const auto first = at_;
    if (f.type == schema::type::unread) {
      skip_value(f);
    } else if (f.repeated && accept('[')) {
      while (!accept(']')) {
        parse_value(f, out, depth);
        if (!accept(',') && now() != ']') {
          fail("expected ',' or ']' in the list of '" + std::string{f.name} + "'");
        }
      }
    } else {
      parse_value(f, out, depth);
    }
    return {first, end_of_value_, true};
  }

  void parse_value(const schema::field& f, std::string& out, int depth) {
    switch (f.type) {
    case schema::type::message: return parse_message(f, out, depth);
    case schema::type::text: {
      const auto value = take_text(f);
      return wire::put(out, f.number, std::string_view{value});
    }
    case schema::type::boolean: return wire::put(out, f.number, std::uint64_t{take_bool(f)});
    case schema::type::data_type: return wire::put(out, f.number, take_data_type());
    case schema::type::unread: return skip_value(f);
    case schema::type::int32:
      return wire::put(out, f.number, take_integer(f, std::uint64_t{1} << 31, (std::uint64_t{1} << 31) - 1));
    case schema::type::int64:
      return wire::put(out, f.number, take_integer(f, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1));
    case schema::type::uint32: return wire::put(out, f.number, take_integer(f, 0, 0xffff'ffffu));
    case schema::type::uint64:
      return wire::put(out, f.number, take_integer(f, 0, std::numeric_limits<std::uint64_t>::max()));
    case schema::type::float32: return wire::put(out, f.number, narrowed(take_float(f)));
    case schema::type::float64: return wire::put(out, f.number, take_float(f));
    }
  }

  /// Goes behind a value of any kind: brackets with whatever is in them, texts, or a word.
  void skip_value(const schema::field& f) {
    std::string open;
    do {
      if (at_end()) {
        fail("the text ends inside '" + std::string{f.name} + "'; was the file cut off?");
      }
      const char c = now();
      if (c == '"' || c == '\'') {
        skip_text();
      } else if (c == '{' || c == '<' || c == '[') {
        open += c == '{' ? '}' : c == '<' ? '>' : ']';
        ++at_;
      } else if (c == '}' || c == '>' || c == ']') {
        if (open.empty() || open.back() != c) {
          fail("a bracket in '" + std::string{f.name} + "' is closed that is not open");
        }
        open.pop_back();
        ++at_;
      } else {
        ++at_;
        while (is_name(c) && (is_name(now()) || now() == '.' || now() == '+' || now() == '-')) {
          ++at_;
        }
      }
      end_of_value_ = at_;
      skip();
    } while (!open.empty() || now() == '"' || now() == '\'');
  }
  void skip_text() {
    const char quote = text_[at_++];
    while (!at_end() && now() != quote) {
      at_ += now() == '\\' ? std::size_t{2} : std::size_t{1};
    }
    if (at_ >= text_.size()) {
      at_ = text_.size();
      fail("the text ends inside quotes; was the file cut off?");
    }
    ++at_;
  }

  void parse_message(const schema::field& f, std::string& out, int depth) {
    if (depth + 1 >= max_depth) {
      fail("messages are nested more than " + std::to_string(max_depth) + " deep");
    }
    const char closing = accept('{') ? '}' : accept('<') ? '>' : '\0';
    if (closing == '\0') {
      fail("expected '{' after '" + std::string{f.name} + "'");
    }
    std::string inner;
    parse_fields(f.of, closing, inner, depth + 1);
    wire::put(out, f.number, std::string_view{inner});
  }

  std::uint64_t take_integer(const schema::field& f, std::uint64_t most_negative, std::uint64_t most) {
    const bool negative = accept('-');
    const auto digits = take_name("a whole number");
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    const bool octal = !hex && digits.size() > 1 && digits.front() == '0';
    const auto body = digits.substr(hex ? 2 : octal ? 1 : 0);
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), value,
                                               hex     ? 16
                                               : octal ? 8
                                                       : 10);
    if (status == std::errc::invalid_argument || end != body.data() + body.size()) {
      fail(std::string{f.name} + " " + io::in_quotes(digits) + " is not a whole number");
    }
    if (status != std::errc{} || value > (negative ? most_negative : most)) {
      fail(std::string{f.name} + " " + (negative ? "-" : "") + std::string{digits.substr(0, 40)} + " is out of range");
    }
    return negative ? ~value + 1 : value;
  }

  double take_float(const schema::field& f) {
    const bool negative = accept('-');
    const auto start = at_;
    while (is_name(now()) || now() == '.' || ((now() == '+' || now() == '-') && at_ > start &&
                                              (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      ++at_;
    }
    end_of_value_ = at_;
    auto digits = io::lower(text_.substr(start, at_ - start));
    double value = 0;
    if (digits == "inf" || digits == "infinity") {
      value = std::numeric_limits<double>::infinity();
    } else if (digits == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      if (digits.size() > 1 && digits.back() == 'f') {
        digits.pop_back();
      }
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (status == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
        const auto exponent = digits.find('e');
        const bool tiny = exponent != digits.npos && exponent + 1 < digits.size() && digits[exponent + 1] == '-';
        value = tiny ? 0 : std::numeric_limits<double>::infinity();
      } else if (status != std::errc{} || end != digits.data() + digits.size()) {
        fail(std::string{f.name} + " " + io::in_quotes(digits) + " is not a number");
      }
    }
    skip();
    return negative ? -value : value;
  }
  static float narrowed(double value) {
    constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
    constexpr float infinity = std::numeric_limits<float>::infinity();
    return value > most ? infinity : value < -most ? -infinity : static_cast<float>(value);
  }

  bool take_bool(const schema::field& f) {
    const auto name = take_name("true or false");
    if (name == "true" || name == "True" || name == "t" || name == "1") {
      return true;
    }
    if (name != "false" && name != "False" && name != "f" && name != "0") {
      fail(std::string{f.name} + " " + io::in_quotes(name) + " is neither true nor false");
    }
    return false;
  }

  std::uint64_t take_data_type() {
    const auto name = take_name("a data type");
    std::uint32_t number = 0;
    if (const auto known = parse_data_type(name)) {
      return *known;
    }
    const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (status != std::errc{} || end != name.data() + name.size()) {
      fail(io::in_quotes(name) + " is not a data type, such as DT_FLOAT");
    }
    return number;
  }

  /// One text in quotes, or several in a row, which are one.
  std::string take_text(const schema::field& f) {
    if (now() != '"' && now() != '\'') {
      fail("expected a text in quotes after '" + std::string{f.name} + ":'");
    }
    std::string value;
    while (now() == '"' || now() == '\'') {
      const char quote = text_[at_++];
      while (!at_end() && now() != quote) {
        const auto plain = std::min(text_.find_first_of("\\\n\"'", at_), text_.size());
        value += text_.substr(at_, plain - at_);
        at_ = plain;
        if (now() == '\\') {
          take_escape(value);
        } else if (now() == '\n') {
          fail("a text in quotes goes beyond its line");
        } else if (!at_end() && now() != quote) {
          value += text_[at_++];
        }
      }
      if (at_end()) {
        fail("the text ends inside quotes; was the file cut off?");
      }
      end_of_value_ = ++at_;
      skip();
    }
    return value;
  }

  void take_escape(std::string& value) {
    ++at_;
    const char c = now();
    constexpr std::string_view letters = "abfnrtv\\'\"?";
    constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"?";
    if (const auto i = letters.find(c); i != letters.npos && c != '\0') {
      value += meanings[i];
      ++at_;
    } else if (c >= '0' && c <= '7') {
      value += static_cast<char>(take_digits(3, 8) & 0xff);
    } else if (c == 'x' || c == 'X') {
      ++at_;
      value += static_cast<char>(take_digits(2, 16));
    } else if (c == 'u' || c == 'U') {
      ++at_;
      append_utf8(value, take_digits(c == 'u' ? 4 : 8, 16));
    } else {
      fail("unknown escape '\\" + (at_end() || static_cast<unsigned char>(c) < 32 ? std::string{} : std::string{c}) +
           "' in a text");
    }
  }
  std::uint32_t take_digits(std::size_t most, int base) {
    std::uint32_t value = 0;
    const auto rest = text_.substr(at_, most);
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
    if (status != std::errc{}) {
      fail("an escape in a text lacks its digits");
    }
    at_ += static_cast<std::size_t>(end - rest.data());
    return value;
  }
  void append_utf8(std::string& value, std::uint32_t point) const {
    const auto tail = [&](unsigned shift) { value += static_cast<char>(0x80 | (point >> shift & 0x3f)); };
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
      fail("an escape in a text is no character");
    }
    if (point < 0x80) {
      value += static_cast<char>(point);
    } else if (point < 0x800) {
      value += static_cast<char>(0xc0 | point >> 6);
      tail(0);
    } else if (point < 0x10000) {
      value += static_cast<char>(0xe0 | point >> 12);
      tail(6);
      tail(0);
    } else {
      value += static_cast<char>(0xf0 | point >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }

  std::string_view text_;
  std::string file_;
  std::vector<device_place>* places_;
  std::size_t at_ = 0;
  std::size_t end_of_value_ = 0; // behind what was taken last, before the blanks that follow
};

} // namespace detail

/// The binary encoding of a message given as text. For each node of its graphs and their functions, in the order of the
/// text, `places` gets where its device is. Throws `parse_error` with the line for what is no such text, for fields
/// that TensorFlow does not have, numbers out of range, and nesting deeper than 100. Complexity: O(size · depth).
inline std::string from_text(std::string_view text, schema::message_id root, const std::string& file,
                             std::vector<device_place>* places = nullptr) {
  return detail::text_parser{text, file, places}.parse(root);
}

} // namespace weft::tensorflow
