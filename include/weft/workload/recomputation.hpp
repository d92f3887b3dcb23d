// SPDX-License-Identifier: BSL-1.0
/// The results that a training step makes again.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>

namespace weft {

/// The results of a forward pass that are recomputed for the backward pass instead of being kept.
enum class recomputation : std::uint8_t {
  attention, ///< those inside attentions, which grow with the square of the sequence
  blocks     ///< all inside a block of the network, of which only what leaves it is kept
};

} // namespace weft
