// SPDX-License-Identifier: BSL-1.0
/// Optimisers by the cost of an update.
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace weft {

/// The update rule of parameters. Per parameter: `sgd` costs 2 FLOP and no state; `momentum` 4 FLOP and one slot
/// variable; `rmsprop` 11 FLOP (mean square 4, momentum 6, step 1) and two slot variables; `adam` 12 FLOP and two.
enum class optimizer { sgd, momentum, rmsprop, adam };

/// The name of an update op, and its cost per parameter.
struct optimizer_cost {
  const char* name;
  const char* update_type;
  double flop_per_parameter;
  std::size_t slots; ///< state as large as the parameters, so many times
};

constexpr optimizer_cost cost_of(optimizer rule) {
  switch (rule) {
  case optimizer::sgd: return {"GradientDescent", "ApplyGradientDescent", 2, 0};
  case optimizer::momentum: return {"Momentum", "ApplyMomentum", 4, 1};
  case optimizer::rmsprop: return {"RMSProp", "ApplyRMSProp", 11, 2};
  case optimizer::adam: break;
  }
  return {"Adam", "ApplyAdam", 12, 2};
}

} // namespace weft
