// SPDX-License-Identifier: BSL-1.0
/// Axes of an op: which dimensions of its operands go together, and so along what it may be split.
#pragma once

#include "weft/ops/axes_rules.hpp" // IWYU pragma: export
#include "weft/ops/catalogue.hpp"

#include <span>
#include <string_view>
#include <utility>

namespace weft::ops {

/// The axes of an op, from its type and the shapes of its operands, and for types whose attributes matter from an index
/// expression such as `mk,nk->mn` (see `axes_finder::by_expression`). No axes if nobody knows how to split the type.
/// Throws `value_error` for an expression that does not fit the operands. Complexity: linear in dimensions.
/// Source: index expressions as in Einstein summation; splitting along them as in Xu et al., *GSPMD: General and
/// Scalable Parallelization for ML Computation Graphs*, 2021.
inline axes axes_of(std::string_view type, std::string_view expression, std::span<const shape> inputs,
                    std::span<const shape> outputs) {
  axes_finder made{inputs, outputs};
  const auto* known = find_by_name(type);
  if (!expression.empty()) {
    made.by_expression(expression);
  } else if (known != nullptr && known->axes != nullptr) {
    known->axes(made);
  } else if (known != nullptr && is_elementwise(type, inputs.size()) && !outputs.empty()) {
    made.elementwise();
  }
  return std::move(made).result();
}

} // namespace weft::ops
