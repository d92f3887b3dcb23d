// SPDX-License-Identifier: BSL-1.0
/// The critical path as a lower bound.
#pragma once

#include "weft/bound/detail/relaxation.hpp"

namespace weft::bound {

/// The longest path, each op on the device where it is fastest among those that its component allows, communication
/// free; seconds. Valid because ops on a path run one after the other, and none faster than that.
/// Complexity: O(n · device types + m). Source: Fernandez and Bussell, Bounds on the number of processors and time
/// for multiprocessor optimal schedules, 1973, §II, for devices that differ.
template <class Problem>
constexpr double critical_path(const Problem& p) {
  const detail::relaxation<Problem> r{p};
  return r.feasible() ? detail::longest(r, detail::longest_paths(r)) : detail::infinity;
}

} // namespace weft::bound
