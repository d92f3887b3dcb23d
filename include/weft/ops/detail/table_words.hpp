// SPDX-License-Identifier: BSL-1.0
/// The vocabulary of the tables of ops.
#pragma once

#include "weft/ops/flop_rules.hpp"
#include "weft/ops/flop_rules_attention.hpp"
#include "weft/ops/flop_rules_classical.hpp"
#include "weft/ops/axes_rules_attributes.hpp"
#include "weft/ops/facts.hpp"

#include <array>
#include <string_view>

namespace weft::ops::detail {

/// Ways in which ops are differentiated.
namespace gradients {
/// Comparisons, shapes, indices, integers, constants, random numbers, what has effects only.
inline constexpr gradient_rule none{.differentiable = false, .reads = gradient_reads::nothing};
inline constexpr gradient_rule reads_nothing{.reads = gradient_reads::nothing}; ///< sums
inline constexpr gradient_rule variable{.reads = gradient_reads::nothing, .variable = true};
/// Linear ops that hold axes, shapes or sizes.
inline constexpr gradient_rule moves{.parameters = false, .reads = gradient_reads::nothing};
inline constexpr gradient_rule finds{.parameters = false}; ///< some of the inputs again in the outputs
inline constexpr gradient_rule limits{.parameters = false, .reads = gradient_reads::inputs};
inline constexpr gradient_rule masks{.parameters = false, .reads = gradient_reads::outputs};
inline constexpr gradient_rule selects{.reads = gradient_reads::selectors};
inline constexpr gradient_rule reads_inputs{.reads = gradient_reads::inputs};
inline constexpr gradient_rule reads_outputs{.reads = gradient_reads::outputs};
inline constexpr gradient_rule product{.product = true, .reads = gradient_reads::inputs};
inline constexpr gradient_rule products{.product = true}; ///< several in one op
} // namespace gradients

/// Types of which the same is known.
struct family {
  std::string_view types; ///< separated by blanks
  ops::facts facts;
};

namespace op_words { // short ones, for the table
namespace axes = ops::axes_rules;
namespace flop = ops::flop_rules;
namespace gradient = gradients;
using use = device_use;
using attends = attention_part;

} // namespace op_words

} // namespace weft::ops::detail
