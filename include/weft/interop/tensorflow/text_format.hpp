// SPDX-License-Identifier: BSL-1.0
/// Protocol Buffers' text format by TensorFlow's schema: turned into the binary encoding, and written from it.
///
/// Source: Protocol Buffers documentation, *Text Format Language Specification*.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/tensorflow/data_type.hpp"
#include "weft/interop/tensorflow/schema.hpp"
#include "weft/io/protobuf.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow {

namespace wire = io::protobuf;

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
    for (; !at_end() && (now() == ' ' || (now() >= '\t' && now() <= '\r') || now() == '#'); ++at_) {
      at_ = now() == '#' ? std::min(text_.find('\n', at_), text_.size()) - 1 : at_;
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
      const auto* const found = schema::find(m, &schema::field::name, name);
      if (found == nullptr) {
        fail("unknown field " + io::in_quotes(name) + " of " + std::string{m.name} + "; the fields here are " +
             io::joined(m.fields, &schema::field::name));
      }
      const auto& f = *found;
      const auto bit = std::uint64_t{1} << (found - m.fields.data());
      if (!f.repeated && (m.one_of ? seen != 0 : (seen & bit) != 0)) {
        fail("field '" + std::string{f.name} + "' of " + std::string{m.name} +
             ((seen & bit) != 0 ? " is given twice" : " is given together with another one, but only one may be"));
      }
      seen |= bit;
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
    using enum schema::type;
    switch (f.type) {
    case message: return parse_message(f, out, depth);
    case text: return wire::put(out, f.number, take_text(f));
    case boolean: return wire::put(out, f.number, take_bool(f));
    case data_type: return wire::put(out, f.number, take_data_type());
    case unread: return skip_value(f);
    case float32: return wire::put(out, f.number, narrowed(take_float(f)));
    case float64: return wire::put(out, f.number, take_float(f));
    default: {
      const unsigned bits = f.type == int32 || f.type == uint32 ? 32 : 64;
      const auto half = std::uint64_t{1} << (bits - 1);
      const bool is_signed = f.type == int32 || f.type == int64;
      return wire::put(out, f.number, take_integer(f, is_signed ? half : 0, is_signed ? half - 1 : 2 * (half - 1) + 1));
    }
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
        (void)take_text(f);
        continue;
      }
      if (c == '{' || c == '<' || c == '[') {
        open += c == '{' ? '}' : c == '<' ? '>' : ']';
      } else if (c == '}' || c == '>' || c == ']') {
        if (open.empty() || open.back() != c) {
          fail("a bracket in '" + std::string{f.name} + "' is closed that is not open");
        }
        open.pop_back();
      } else {
        at_ = std::min(text_.find_first_of("\"'{}<>[]#,; \t\n\r\f\v", at_ + 1), text_.size()) - 1;
      }
      end_of_value_ = ++at_;
      skip();
    } while (!open.empty());
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
    wire::put(out, f.number, inner);
  }

  std::uint64_t take_integer(const schema::field& f, std::uint64_t most_negative, std::uint64_t most) {
    const bool negative = accept('-');
    const auto digits = take_name("a whole number");
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    const bool octal = !hex && digits.size() > 1 && digits.front() == '0';
    const auto body = digits.substr(hex ? 2 : octal ? 1 : 0);
    const int base = hex ? 16 : octal ? 8 : 10;
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), value, base);
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
    if (digits.size() > 1 && digits.back() == 'f' && digits != "inf") {
      digits.pop_back();
    }
    double value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value); // also inf and nan
    if (end != digits.data() + digits.size() || status == std::errc::invalid_argument) {
      fail(std::string{f.name} + " " + io::in_quotes(digits) + " is not a number");
    }
    if (status == std::errc::result_out_of_range) {
      value = digits.find("e-") != digits.npos ? 0 : std::numeric_limits<double>::infinity();
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
      fail("expected a quoted string after '" + std::string{f.name} + ":'");
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
          fail("a quoted string goes beyond its line");
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
           "' in a string");
    }
  }
  std::uint32_t take_digits(std::size_t most, int base) {
    std::uint32_t value = 0;
    const auto rest = text_.substr(at_, most);
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
    if (status != std::errc{}) {
      fail("an escape in a string has no digits");
    }
    at_ += static_cast<std::size_t>(end - rest.data());
    return value;
  }
  void append_utf8(std::string& value, std::uint32_t point) const {
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
      fail("an escape in a string is not a character");
    }
    const unsigned tails = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    constexpr std::uint8_t marks[] = {0, 0xc0, 0xe0, 0xf0};
    value += static_cast<char>(marks[tails] | point >> (6 * tails));
    for (unsigned shift = 6 * tails; shift > 0; shift -= 6) {
      value += static_cast<char>(0x80 | (point >> (shift - 6) & 0x3f));
    }
  }

  std::string_view text_;
  std::string file_;
  std::vector<device_place>* places_;
  std::size_t at_ = 0;
  std::size_t end_of_value_ = 0; // behind what was taken last, before the blanks that follow
};

/// A text in quotes, for Protocol Buffers' text format.
inline std::string quoted(std::string_view text) {
  using namespace std::string_view_literals;
  constexpr auto octal = "01234567"sv;
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const auto named = "\n\r\t"sv.find(c); named != std::string_view::npos) {
      result += {'\\', "nrt"[named]};
    } else if (c == '"' || c == '\'' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 32 || byte >= 127) {
      result += {'\\', octal[byte >> 6], octal[byte >> 3 & 7], octal[byte & 7]};
    } else {
      result += c;
    }
  }
  return result + '"';
}

class text_printer {
public:
  std::string print(schema::message_id root, std::string_view bytes) {
    print_fields(schema::of(root), bytes, 0);
    return std::move(out_);
  }

private:
  void print_fields(const schema::message& m, std::string_view bytes, std::size_t depth) {
    if (depth >= text_parser::max_depth) {
      throw error("messages are nested more than " + std::to_string(text_parser::max_depth) + " deep");
    }
    using enum schema::type;
    const std::string indent(2 * depth, ' ');
    for (const auto& f : wire::fields{bytes}) {
      const auto* const known = schema::find(m, &schema::field::number, f.number);
      if (known == nullptr || known->type == unread) { // what it says is not known
        continue;
      }
      const auto print = [&](const std::string& value) { ((out_ += indent) += known->name) += ": " + value + "\n"; };
      if (known->type == message) {
        ((out_ += indent) += known->name) += " {\n";
        print_fields(schema::of(known->of), f.bytes, depth + 1);
        out_ += indent + "}\n";
      } else if (known->type == text) {
        print(quoted(f.bytes));
      } else if (f.kind != wire::kind::bytes) {
        print(number(known->type, f.value));
      } else {
        for (auto rest = f.bytes; !rest.empty();) { // packed numbers
          const auto size = known->type == float32 ? 4u : known->type == float64 ? 8u : 0u;
          print(number(known->type, size > 0 ? wire::fixed(wire::take(rest, size)) : wire::take_varint(rest)));
        }
      }
    }
  }

  static std::string number(schema::type type, std::uint64_t bits) {
    using enum schema::type;
    switch (type) {
    case float32: return decimal(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case float64: return decimal(std::bit_cast<double>(bits));
    case boolean: return bits != 0 ? "true" : "false";
    case data_type: {
      const auto value = value_type(static_cast<tensorflow::data_type>(bits));
      const bool named = bits >> 32 == 0 && value < std::size(data_types);
      return !named ? std::to_string(static_cast<std::uint32_t>(bits))
                    : std::string{data_types[value].name}.append(value != bits ? "_REF" : "");
    }
    case uint32: return std::to_string(static_cast<std::uint32_t>(bits));
    case uint64: return std::to_string(bits);
    case int32: return std::to_string(static_cast<std::int32_t>(bits));
    default: return std::to_string(static_cast<std::int64_t>(bits));
    }
  }
  template <class Float>
  static std::string decimal(Float value) {
    if (std::isnan(value)) { // whose sign tells nothing
      return "nan";
    }
    char buffer[64];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, result.ptr};
  }

  std::string out_;
};

} // namespace detail

/// The binary encoding of a message given as text. For each node of its graphs and their functions, in the order of the
/// text, `places` gets where its device is. Throws `parse_error` with the line for what is no such text, for fields
/// that TensorFlow does not have, numbers out of range, and nesting deeper than 100. Complexity: O(size · depth).
inline std::string from_text(std::string_view text, schema::message_id root, const std::string& file,
                             std::vector<device_place>* places = nullptr) {
  return detail::text_parser{text, file, places}.parse(root);
}

/// The text of an encoded message, as Protocol Buffers' own printer lays it out. Fields that the schema does not have
/// are left out. Throws `error` for bytes that are no message and nesting deeper than 100. Complexity: O(size · depth).
inline std::string to_text(std::string_view bytes, schema::message_id message) {
  return detail::text_printer{}.print(message, bytes);
}

} // namespace weft::tensorflow
