// SPDX-License-Identifier: BSL-1.0
/// Protocol Buffers' text format, written from the binary encoding by TensorFlow's schema.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/tensorflow/data_type.hpp"
#include "weft/interop/tensorflow/schema.hpp"
#include "weft/interop/tensorflow/wire.hpp"
#include "weft/io/text.hpp"

#include <bit>
#include <cmath>
#include <string>
#include <string_view>

namespace weft::tensorflow {

namespace detail {

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
  static constexpr int max_depth = 100;

  void print_fields(const schema::message& m, std::string_view bytes, std::size_t depth) {
    if (depth >= max_depth) {
      throw error("messages are nested more than " + std::to_string(max_depth) + " deep");
    }
    for (const auto& f : wire::fields{bytes}) {
      for (const auto& known : m.fields) {
        if (known.number == f.number) {
          print_field(known, f, depth);
        }
      }
    }
  }

  void print_field(const schema::field& known, const wire::field& f, std::size_t depth) {
    using enum schema::type;
    const std::string indent(2 * depth, ' ');
    if (known.type == message) {
      (out_ += indent).append(known.name) += " {\n";
      print_fields(schema::of(known.of), f.bytes, depth + 1);
      out_ += indent + "}\n";
    } else if (known.type == unread) {
      return; // what it says is not known
    } else if (known.type == text) {
      (out_ += indent).append(known.name) += ": " + quoted(f.bytes) + "\n";
    } else if (f.kind == wire::kind::bytes) { // packed numbers
      for (auto rest = f.bytes; !rest.empty();) {
        const auto value = known.type == float32   ? wire::detail::fixed(wire::detail::take(rest, 4))
                           : known.type == float64 ? wire::detail::fixed(wire::detail::take(rest, 8))
                                                   : wire::detail::take_varint(rest);
        print_number(indent, known, value);
      }
    } else {
      print_number(indent, known, f.value);
    }
  }

  void print_number(const std::string& indent, const schema::field& known, std::uint64_t bits) {
    (out_ += indent).append(known.name) += ": " + number(known.type, bits) + "\n";
  }
  static std::string number(schema::type type, std::uint64_t bits) {
    using enum schema::type;
    switch (type) {
    case float32: return decimal(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case float64: return decimal(std::bit_cast<double>(bits));
    case boolean: return bits != 0 ? "true" : "false";
    case data_type: {
      const auto value = value_type(static_cast<tensorflow::data_type>(bits));
      const bool named = bits == static_cast<tensorflow::data_type>(bits) && value < std::size(data_types);
      return !named ? std::to_string(static_cast<std::uint32_t>(bits))
                    : std::string{data_types[value].name} +
                        (is_reference(static_cast<tensorflow::data_type>(bits)) ? "_REF" : "");
    }
    case uint32: return std::to_string(static_cast<std::uint32_t>(bits));
    case uint64: return std::to_string(bits);
    case int32: return std::to_string(static_cast<std::int32_t>(bits));
    default: return std::to_string(static_cast<std::int64_t>(bits));
    }
  }
  template <class Float>
  static std::string decimal(Float value) {
    if (std::isnan(value)) {
      return "nan";
    }
    if (std::isinf(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    char buffer[64];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, result.ptr};
  }

  std::string out_;
};

} // namespace detail

/// The text of an encoded message, as Protocol Buffers' own printer lays it out. Fields that the schema does not have
/// are left out. Throws `error` for bytes that are no message and nesting deeper than 100. Complexity: O(size · depth).
inline std::string to_text(std::string_view bytes, schema::message_id message) {
  return detail::text_printer{}.print(message, bytes);
}

} // namespace weft::tensorflow
