// SPDX-License-Identifier: BSL-1.0
/// FLOP of ONNX ops, by the catalogue of ops (ops/catalogue.hpp).
#pragma once

#include "weft/ops/catalogue.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace weft::onnx {

/// The facts about a type of ops, with its domain in front unless that is ONNX's own; or null. An op of the domain
/// com.microsoft with the name of an op of ONNX is that op. Complexity: O(log of the number of known types).
inline const ops::facts* find_op(std::string_view type) {
  constexpr std::string_view extensions = "com.microsoft.";
  if (type.starts_with(extensions)) {
    return ops::find({type, type.substr(extensions.size())});
  }
  return ops::find({"onnx." + std::string{type}, type});
}

/// FLOP of an op, or nothing if there is no rule for its type. A Dropout counts as in inference, where it passes its
/// input on. Complexity: as `find_op`.
inline std::optional<double> flop_of(const ops::call& o) {
  const auto* facts = find_op(o.type);
  return facts == nullptr || facts->flop == nullptr ? std::nullopt : std::optional{facts->flop(o)};
}

/// True for types that are on texts by their name, whatever is known of the tensors: string ops of ONNX, tokenisers
/// and the like of onnxruntime-extensions and of one's own. Complexity: O(length).
inline bool is_on_text(std::string_view type) {
  type = type.substr(type.rfind('.') + 1); // `npos` + 1 is 0
  std::string lower;
  for (const char c : type) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  constexpr std::string_view words[] = {"string",        "regex",      "tokeniz",     "sentencepiece",
                                        "sentencebreak", "bpedecoder", "wordpiece", "unicode"};
  return std::any_of(std::begin(words), std::end(words), [&](auto word) { return lower.find(word) != lower.npos; });
}

} // namespace weft::onnx
