// SPDX-License-Identifier: BSL-1.0
/// How much ONNX ops compute, by the catalogue of ops (workload/op_catalogue.hpp).
#pragma once

#include "weft/workload/op_catalogue.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weft::onnx {

using weft::op_call;

/// What is known of a type of ops, with its domain in front unless that is ONNX's own; or null. What the domain
/// com.microsoft calls like an op of ONNX is that op. Complexity: O(log of the number of known types).
inline const op_facts* find_op(std::string_view type) {
  constexpr std::string_view extensions = "com.microsoft.";
  if (type.starts_with(extensions)) {
    return weft::find_op({type, type.substr(extensions.size())});
  }
  return weft::find_op({"onnx." + std::string{type}, type});
}

/// FLOP of an op, or nothing if there is no rule for its type. A Dropout counts as in inference, where it passes its
/// input on. Complexity: as find_op.
inline std::optional<double> flop_of(const op_call& o) {
  const auto* facts = find_op(o.type);
  return facts == nullptr || facts->flop == nullptr ? std::nullopt : std::optional{facts->flop(o)};
}

} // namespace weft::onnx
