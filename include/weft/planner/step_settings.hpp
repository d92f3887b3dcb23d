// SPDX-License-Identifier: BSL-1.0
/// Settings by which a step is made of a model.
#pragma once

#include "weft/platform/number_format.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/recomputation.hpp"

#include <optional>
#include <string>

namespace weft::planner {

/// Settings by which a step is made of a model.
struct step_settings {
  std::optional<optimizer> train = {}; ///< its gradients and updates are added; none: it stays as it is
  std::string freeze = {};             ///< names of parameters that are not trained (`name_patterns`)
  std::optional<number_format> numbers = {};   ///< of tensors and parameters; none: those of the model
  std::optional<recomputation> recompute = {}; ///< what its backward pass makes again
};

} // namespace weft::planner
