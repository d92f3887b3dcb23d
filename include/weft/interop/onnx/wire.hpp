// SPDX-License-Identifier: BSL-1.0
/// Protocol buffers as bytes: recognises a model, estimates what decoding it would take, and lets a writer change parts
/// of it while the rest stays as it is, byte by byte.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::onnx::wire {

/// The encoding of a field.
enum class kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group_begin = 3, group_end = 4, fixed32 = 5 };

/// One field of a message.
struct field {
  std::uint64_t number = 0;
  wire::kind kind = wire::kind::varint;
  std::uint64_t value = 0;       ///< of a varint
  std::string_view content = {}; ///< of a length-delimited field
  std::string_view whole = {};   ///< the field with its tag
  bool complete = true;          ///< false if the message ends before its content does
};

/// Walks over the fields of one message without a look inside them.
class reader {
public:
  explicit reader(std::string_view message) : rest_{message} {}

  /// The next field; nothing at the end, and nothing after what no message can hold (see `ok`).
  std::optional<field> next() {
    if (rest_.empty() || !ok_) {
      return std::nullopt;
    }
    const auto start = rest_;
    field f;
    const auto tag = varint();
    f.number = tag.value_or(0) >> 3;
    f.kind = static_cast<wire::kind>(tag.value_or(0) & 7);
    if (!tag || f.number == 0 || *tag > 0xffffffffu) {
      ok_ = false;
      return std::nullopt;
    }
    switch (f.kind) {
    case kind::varint: {
      const auto value = varint();
      ok_ = value.has_value();
      f.value = value.value_or(0);
      break;
    }
    case kind::fixed64: take(8); break;
    case kind::fixed32: take(4); break;
    case kind::bytes: {
      const auto size = varint();
      if (!size) {
        ok_ = false;
        break;
      }
      f.complete = *size <= rest_.size();
      f.content = rest_.substr(0, *size);
      rest_.remove_prefix(f.content.size());
      ok_ = f.complete;
      break;
    }
    default: ok_ = false; // groups are not part of these formats
    }
    f.whole = start.substr(0, start.size() - rest_.size());
    return ok_ || f.kind == kind::bytes ? std::optional{f} : std::nullopt;
  }

  /// Whether everything so far was well-formed.
  bool ok() const { return ok_; }

private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    return std::nullopt;
  }
  void take(std::size_t count) {
    ok_ = rest_.size() >= count;
    rest_.remove_prefix(ok_ ? count : rest_.size());
  }

  std::string_view rest_;
  bool ok_ = true;
};

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>((value & 0x7f) | 0x80);
  }
  out += static_cast<char>(value);
}

/// Appends a length-delimited field.
inline void append_field(std::string& out, std::uint64_t number, std::string_view content) {
  append_varint(out, number << 3 | static_cast<std::uint64_t>(kind::bytes));
  append_varint(out, content.size());
  out += content;
}

/// Whether bytes start like a ModelProto: with its `ir_version`, then only fields that it has, in their encodings, the
/// graph among them. What comes after the end of a truncated graph does not matter, so that a truncated model is still
/// recognised as one. A SavedModel of TensorFlow starts alike but has no graph in field 7.
/// Complexity: O(number of the outermost fields).
inline bool is_model(std::string_view bytes) {
  reader fields{bytes};
  const auto first = fields.next();
  if (!first || first->number != 1 || first->kind != kind::varint || first->value == 0 || first->value > 255) {
    return false;
  }
  bool graph = false;
  while (const auto f = fields.next()) {
    const bool number = f->number == 1 || f->number == 5;
    const bool text = f->number == 2 || f->number == 3 || f->number == 4 || f->number == 6;
    const bool message =
      f->number == 7 || f->number == 8 || f->number == 14 || f->number == 20 || f->number == 25 || f->number == 26;
    if (!(number ? f->kind == kind::varint : (text || message) && f->kind == kind::bytes)) {
      return false;
    }
    graph = graph || f->number == 7;
    if (!f->complete) {
      break;
    }
  }
  return graph;
}

namespace detail {

/// The messages of onnx.proto that can hold many others.
enum class message : std::uint8_t {
  leaf,
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse,
  value,
  type,
  typed,
  shape,
  function,
  training
};

/// What a length-delimited field of a message is: a message (`leaf` if a small one), or nothing if it is text, bytes or
/// packed numbers.
inline std::optional<message> held_in(message m, std::uint64_t f) {
  using enum message;
  switch (m) {
  case model:
    return f == 7              ? std::optional{graph}
           : f == 20           ? std::optional{training}
           : f == 25           ? std::optional{function}
           : f == 8 || f == 14 ? std::optional{leaf}
                               : std::nullopt;
  case graph:
    return f == 1               ? std::optional{node}
           : f == 5             ? std::optional{tensor}
           : f == 15            ? std::optional{sparse}
           : f >= 11 && f <= 13 ? std::optional{value}
           : f == 14            ? std::optional{leaf}
                                : std::nullopt;
  case node: return f == 5 ? std::optional{attribute} : std::nullopt;
  case attribute:
    return f == 5 || f == 10    ? std::optional{tensor}
           : f == 6 || f == 11  ? std::optional{graph}
           : f == 22 || f == 23 ? std::optional{sparse}
           : f == 14 || f == 15 ? std::optional{type}
                                : std::nullopt;
  case tensor: return f == 3 || f == 13 ? std::optional{leaf} : std::nullopt;
  case sparse: return f <= 2 ? std::optional{tensor} : std::nullopt;
  case value: return f == 2 ? std::optional{type} : std::nullopt;
  case type: return f == 6 ? std::nullopt : std::optional{typed};
  case typed: return f == 1 ? std::optional{type} : f == 2 ? std::optional{shape} : std::nullopt;
  case shape: return f == 1 ? std::optional{leaf} : std::nullopt;
  case function:
    return f == 7    ? std::optional{node}
           : f == 9  ? std::optional{leaf}
           : f == 11 ? std::optional{attribute}
           : f == 12 ? std::optional{value}
                     : std::nullopt;
  case training: return f <= 2 ? std::optional{graph} : f <= 4 ? std::optional{leaf} : std::nullopt;
  case leaf: break;
  }
  return std::nullopt;
}

} // namespace detail

/// About how many bytes of memory it takes to decode a message and to work on it; weights count once. Stops early
/// above `most`, and skips what is nested deeper than 100 messages or is no message, both of which a decoder refuses.
inline std::uint64_t decoded_bytes(std::string_view bytes, std::uint64_t most,
                                   detail::message m = detail::message::model, unsigned depth = 0) {
  using detail::message;
  std::uint64_t total = m == message::node ? 330 : m == message::tensor ? 400 : m == message::leaf ? 100 : 200;
  reader fields{bytes};
  while (const auto f = fields.next()) {
    if (total > most || depth > 100) {
      break;
    }
    if (f->kind != kind::bytes) {
      total += 16;
      continue;
    }
    const auto inner = detail::held_in(m, f->number);
    const bool output = m == message::node && f->number == 2; // makes a tensor with a shape
    total +=
      inner ? decoded_bytes(f->content, most - total, *inner, depth + 1) : f->content.size() + (output ? 400 : 48);
    if (m == message::tensor && (f->number == 5 || f->number == 7 || f->number == 1 || f->number == 11)) {
      total += 7 * f->content.size(); // packed varints, a byte each at the least
    }
  }
  return total;
}

} // namespace weft::onnx::wire
