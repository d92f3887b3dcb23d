// SPDX-License-Identifier: BSL-1.0
/// Memory rules: the senses in which a plan keeps to the memory of its devices.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>

namespace weft {

/// The rule by which a plan fits into memory; docs/memory.md compares the two.
enum class memory_rule : std::uint8_t {
  reserved,  ///< what components demand (`problem::demand`) fits on their device; holds for every order and policy
  over_time, ///< what is alive on a device fits at each moment of the plan's run
};

} // namespace weft
