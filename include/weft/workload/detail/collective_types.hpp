// SPDX-License-Identifier: BSL-1.0
/// The types of the ops that collectives are made of (parallel/collective_ops.hpp).
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::detail {

/// Those whose outputs are messages, which one kernel on each device sends: what starts it, and what it does.
inline constexpr std::string_view message_types[] = {"AddChunk", "PackBucket", "PassChunk", "StartCollective"};

constexpr bool makes_messages(std::string_view type) {
  for (const auto known : message_types) {
    if (known == type) {
      return true;
    }
  }
  return false;
}

} // namespace weft::detail
