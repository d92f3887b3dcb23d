// SPDX-License-Identifier: BSL-1.0
/// The devices that an exact search has to look at.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/problem.hpp"

#include <vector>

namespace weft::refine::detail {

/// The devices that some component is allowed on, ascending. No plan has anything to do with the others.
/// Complexity: O(devices) where each device takes the first component, at most O(components · devices).
template <class Problem>
constexpr std::vector<device_id> usable_devices(const Problem& p) {
  std::vector<device_id> usable;
  for (const device_id d : ids(p.num_devices())) {
    component_id c = 0;
    while (c < p.num_components() && !p.allows(c, d)) {
      ++c;
    }
    if (c < p.num_components()) {
      usable.push_back(d);
    }
  }
  return usable;
}

} // namespace weft::refine::detail
