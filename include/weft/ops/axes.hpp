// SPDX-License-Identifier: BSL-1.0
/// Axes of an op: which dimensions of its operands go together, and so along what it may be split.
#pragma once

#include "weft/ops/axes_rules.hpp" // IWYU pragma: export
#include "weft/ops/catalogue.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace weft::ops {

/// The axes of an op, from its type and the shapes of its operands, and where attributes matter from those; its
/// attribute `axes`, if it has one, is an index expression such as `mk,nk->mn` (see `axes_finder::by_expression`),
/// which counts instead. No axes if nobody knows how to split the type. Throws `value_error` for an expression that
/// does not fit the operands. Complexity: linear in dimensions.
/// Source: index expressions as in Einstein summation; splitting along them as in Xu et al., *GSPMD: General and
/// Scalable Parallelization for ML Computation Graphs*, 2021.
inline axes axes_of(const call& c) {
  const auto shapes_of = [](const std::vector<std::optional<call::extents>>& operands) {
    std::vector<shape> shapes;
    for (const auto& dims : operands) {
      shapes.push_back(dims ? shape{dims->begin(), dims->end()} : shape{});
    }
    return shapes;
  };
  const auto inputs = shapes_of(c.inputs), outputs = shapes_of(c.outputs);
  axes_finder made{c, inputs, outputs};
  const auto expression = c.text("axes", {});
  const auto* known = find_by_name(c.type);
  if (!expression.empty()) {
    made.by_expression(expression);
  } else if (known != nullptr && known->axes != nullptr) {
    known->axes(made);
  } else if (known != nullptr && is_elementwise(c.type, inputs.size()) && !outputs.empty()) {
    made.elementwise();
  }
  return std::move(made).result();
}

} // namespace weft::ops
