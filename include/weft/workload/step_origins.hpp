// SPDX-License-Identifier: BSL-1.0
/// The ops and tensors of a forward pass that those of a training step come from, and what for.
#pragma once

#include "weft/core/ids.hpp"

#include <cstdint>
#include <vector>

namespace weft {

/// The purpose of an op of a training step.
enum class step_role : std::uint8_t {
  forward,
  again, ///< a forward op once more, whose results were not kept
  loss,  ///< … of what its forward op makes, and its gradient
  gradient,
  parameter_gradient, ///< of parameters that an op holds
  sum,                ///< of gradients
  parameter_sum,      ///< of gradients of parameters that an op holds
  update
};

/// One output of a forward op.
struct forward_output {
  op_id op = none;
  std::uint32_t output = 0;
};

/// The origins of a training step's ops and tensors among those of the forward pass.
struct step_origins {
  std::vector<op_id> op;          ///< by op: the forward op that it is, is a copy of, or works backward for
  std::vector<step_role> role;    ///< by op
  /// By op: the one whose parameters it reads, changes or makes gradients of; `none` of those that need no parameters.
  std::vector<op_id> holder;
  std::vector<forward_output> of; ///< by tensor: what it is, is a copy of or the gradient of; `none` of parameters
};

} // namespace weft
