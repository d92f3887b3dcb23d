// SPDX-License-Identifier: BSL-1.0
/// The placement of a replica on other devices than those of the first one, hosts included.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace weft::parallel {

/// The device that `may_be(d)` holds for from which a megabyte gets to `home` first; of equally near ones the first.
/// `none` if there is none. Complexity: O(devices).
template <class Platform, class MayBe>
device_id nearest_device(const Platform& p, device_id home, MayBe may_be) {
  const auto seconds = [&](device_id d) { return d == home ? 0 : p.latency(d, home) + 1e6 / p.bandwidth(d, home); };
  device_id nearest = none;
  for (const device_id d : ids(p.num_devices())) {
    if (may_be(d) && (nearest == none || seconds(d) < seconds(nearest))) {
      nearest = d;
    }
  }
  return nearest;
}

/// A placement `where` whose ops on `from[i]` move to `to[i]`. What is on another device, such as the host of a node,
/// moves from beside some `from[i]`, to which it is nearest, to the device of its kind that is nearest to `to[i]`: the
/// host of that node. Beside a device that does not move it stays.
///
/// Throws `value_error` if there are no devices, or not as many in both. Complexity: O(ops + devices²).
template <class Platform>
placement replica_placement(const placement& where, std::span<const device_id> from, std::span<const device_id> to,
                            const Platform& p) {
  if (from.empty() || from.size() != to.size()) {
    throw value_error("replica_placement", std::to_string(from.size()) + " devices become " +
                                             std::to_string(to.size()));
  }
  std::vector<device_id> becomes(p.num_devices(), none);
  for (const device_id d : ids(p.num_devices())) {
    const auto beside = nearest_device(p, d, [&](device_id x) {
      return std::find(from.begin(), from.end(), x) != from.end();
    });
    const auto there = to[static_cast<std::size_t>(std::find(from.begin(), from.end(), beside) - from.begin())];
    becomes[d] = beside == d       ? there
                 : beside == there ? d
                                   : nearest_device(p, there, [&](device_id x) { return p.kind(x) == p.kind(d); });
  }
  placement moved;
  moved.reserve(where.size());
  for (const device_id d : where) {
    moved.push_back(becomes[d]);
  }
  return moved;
}

} // namespace weft::parallel
