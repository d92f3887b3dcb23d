// SPDX-License-Identifier: BSL-1.0
/// ONNX models as bytes: recognition, an estimate of what decoding them takes, and fields of messages.
#pragma once

#include "weft/io/protobuf.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

namespace weft::onnx::wire {

using io::protobuf::field;
using io::protobuf::fields;
using io::protobuf::kind;
using io::protobuf::put;

/// The bytes in a field of a message; the last one counts, as for decoders.
inline std::string_view text_in(std::string_view message, std::uint32_t number) {
  std::string_view text;
  bool damaged = false;
  for (const auto& f : fields{message, damaged}) {
    text = f.number == number && f.kind == kind::bytes ? f.bytes : text;
  }
  return text;
}

/// True if bytes start like a ModelProto: with its `ir_version`, then only fields that it has, in their encodings, the
/// graph among them. What comes after the end of a truncated graph does not matter, so that a truncated model is still
/// recognised as one. A SavedModel of TensorFlow starts alike but has no graph in field 7.
/// Complexity: O(number of the outermost fields).
inline bool is_model(std::string_view bytes) {
  constexpr std::uint32_t others[] = {2, 3, 4, 6, 7, 8, 14, 20, 25, 26}; // texts and messages
  bool graph = false;
  bool first = true;
  bool damaged = false;
  for (const auto& f : fields{bytes, damaged}) {
    const bool number = f.number == 1 || f.number == 5;
    const bool known = number || std::ranges::find(others, f.number) != std::end(others);
    if (!known || f.kind != (number ? kind::varint : kind::bytes) ||
        (std::exchange(first, false) && (f.number != 1 || f.value == 0 || f.value > 255))) {
      return false;
    }
    graph = graph || f.number == 7;
  }
  return graph;
}

/// The messages of onnx.proto that can hold many others.
enum class message : std::uint8_t {
  none, leaf, model, graph, node, attribute, tensor, sparse, value, type, typed, shape, function, training, count
};

/// The message in a length-delimited field of another one, `leaf` if it is small; `none` for texts, bytes and numbers.
constexpr message held_in(message m, std::uint32_t number) {
  using enum message;
  struct nesting {
    message in;
    std::uint32_t first, last; // fields
    message holds;
  };
  constexpr nesting nestings[] = {
    {model, 7, 7, graph},        {model, 8, 8, leaf},       {model, 14, 14, leaf},       {model, 20, 20, training},
    {model, 25, 25, function},   {graph, 1, 1, node},       {graph, 5, 5, tensor},       {graph, 11, 13, value},
    {graph, 14, 14, leaf},       {graph, 15, 15, sparse},   {node, 5, 5, attribute},     {attribute, 5, 5, tensor},
    {attribute, 6, 6, graph},    {attribute, 10, 10, tensor}, {attribute, 11, 11, graph}, {attribute, 14, 15, type},
    {attribute, 22, 23, sparse}, {tensor, 3, 3, leaf},      {tensor, 13, 13, leaf},      {sparse, 1, 2, tensor},
    {value, 2, 2, type},         {type, 1, 5, typed},       {type, 7, 31, typed},        {typed, 1, 1, type},
    {typed, 2, 2, shape},        {shape, 1, 1, leaf},       {function, 7, 7, node},      {function, 9, 9, leaf},
    {function, 11, 11, attribute}, {function, 12, 12, value}, {training, 1, 2, graph},   {training, 3, 4, leaf}};
  constexpr auto table = [&] {
    std::array<std::array<message, 32>, static_cast<std::size_t>(count)> held{};
    for (const auto& n : nestings) {
      std::fill(held[static_cast<std::size_t>(n.in)].begin() + n.first,
                held[static_cast<std::size_t>(n.in)].begin() + n.last + 1, n.holds);
    }
    return held;
  }();
  return number < 32 ? table[static_cast<std::size_t>(m)][number] : none;
}

/// The bytes of memory that it takes, about, to decode a message and to work on it; weights count once. Stops early
/// above `most`, and skips what is nested deeper than 100 messages or is no message, both of which a decoder refuses.
inline std::uint64_t decoded_bytes(std::string_view bytes, std::uint64_t most, message m = message::model,
                                   unsigned depth = 0) {
  std::uint64_t total = m == message::node ? 330 : m == message::tensor ? 400 : m == message::leaf ? 100 : 200;
  bool damaged = false;
  for (const auto& f : fields{bytes, damaged}) {
    if (total > most || depth > 100) {
      break;
    }
    if (f.kind != kind::bytes) {
      total += 16;
      continue;
    }
    const auto inner = held_in(m, f.number);
    const bool output = m == message::node && f.number == 2; // makes a tensor with a shape
    total += inner != message::none ? decoded_bytes(f.bytes, most - total, inner, depth + 1)
                                    : f.bytes.size() + (output ? 400 : 48);
    if (m == message::tensor && (f.number == 5 || f.number == 7 || f.number == 1 || f.number == 11)) {
      total += 7 * f.bytes.size(); // packed varints, a byte each at the least
    }
  }
  return total;
}

} // namespace weft::onnx::wire
