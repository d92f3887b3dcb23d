// SPDX-License-Identifier: BSL-1.0
/// The roofline model: an op is bound by arithmetic or by memory traffic, whichever is slower.
#pragma once

#include "weft/cost/linear.hpp"

#include <algorithm>

namespace weft::cost {

/// max(work / speed, bytes moved / memory bandwidth) + launch overhead, in seconds. The bytes moved are the op's
/// inputs, outputs and resident bytes, each once. Source: Williams, Waterman, Patterson, CACM 52(4), 2009.
struct roofline : link_transfers {
  double launch_overhead = 0; ///< seconds per op, e.g. 5e-6 for a GPU kernel launch

  template <class W, platform_parts::has_speeds P>
    requires requires(const P& p, device_id d) { p.memory_bandwidth(d); }
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    auto moved = static_cast<double>(w.resident_bytes(v));
    for (const tensor_id t : w.inputs(v)) {
      moved += static_cast<double>(w.bytes(t));
    }
    for (const tensor_id t : w.outputs(v)) {
      moved += static_cast<double>(w.bytes(t));
    }
    return std::max(w.work(v) / p.speed(d), moved / p.memory_bandwidth(d)) + launch_overhead;
  }
};

} // namespace weft::cost
