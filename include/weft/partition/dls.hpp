// SPDX-License-Identifier: BSL-1.0
/// Dynamic level scheduling: of all ready ops and devices the pair with the largest dynamic level.
#pragma once

#include "weft/partition/pair_scheduler.hpp"

namespace weft::partition {

namespace list {

/// Minus what a pair's dynamic level adds to minus its start: static level + mean compute time − compute time there.
struct minus_dynamic_level {
  template <class Problem>
  constexpr double operator()(const Problem&, const ranking& r, op_id v, device_id, double compute) const {
    return compute - r.mean_compute[v] - r.key[v];
  }
};

/// Static levels for the offset; ties stay topologically first.
struct by_topology_with_levels {
  template <class Problem>
  constexpr ranking operator()(const Problem& p, workspace&) const {
    ranking r{.key = static_levels(p), .mean_compute = std::vector<double>(p.num_ops(), 0.0), .key_orders = false};
    const mean_costs mean{p};
    for (const op_id v : ids(p.num_ops())) {
      r.mean_compute[v] = mean.compute(v);
    }
    return r;
  }
};

} // namespace list

/// DLS, in its generalised form for unequal devices: schedules the pair of a ready op and a device with the largest
/// dynamic level DL = static level − start + (mean compute time − compute time there), without insertion. Ties:
/// topologically first, the smaller device id.
///
/// Departs: the static level counts mean compute times (the paper: medians, which are the same on its example), and
/// devices that may not run an op are left out of both.
/// Source: Sih, Lee, IEEE TPDS 4(2), 1993. Complexity: O(devices · (n log n + m)), see `pair_scheduler`.
/// Choose it beside HEFT for unrelated devices or cheap transfers, if a few times HEFT's planning time is acceptable.
using dls = pair_scheduler<list::by_topology_with_levels, list::minus_dynamic_level>;

} // namespace weft::partition
