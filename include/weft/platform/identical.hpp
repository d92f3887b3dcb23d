// SPDX-License-Identifier: BSL-1.0
/// Identical devices that cost nothing to connect, the machine of classical scheduling.
#pragma once

#include "weft/platform/platform.hpp"

#include <cstdint>
#include <vector>

namespace weft::presets {

/// `count` devices of speed 1 with room for everything and links that take no time: the P in P | prec | Cmax. An op
/// takes as many seconds as it has work. Throws `value_error` for more than 4096, whose links would need 256 MiB.
inline platform<> identical(std::uint32_t count) {
  if (count > 4096) {
    throw value_error("identical platform", "has " + std::to_string(count) + " devices; at most 4096 are possible");
  }
  return platform<>{std::vector<device>(count, device{.reached_rates = true}), link_matrix{count}};
}

} // namespace weft::presets
