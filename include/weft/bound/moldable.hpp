// SPDX-License-Identifier: BSL-1.0
/// A lower bound for problems in which ops share the cores of a device.
#pragma once

#include "weft/bound/critical_path.hpp"
#include "weft/bound/lower_bound.hpp"
#include "weft/concurrency/concepts.hpp"
#include "weft/platform/machine.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weft::bound {

/// The larger of two bounds on the makespan of a moldable problem, in seconds:
/// - the critical path, each op alone on its fastest device with its fastest team,
/// - the core-seconds that all ops need at least, each on the device and with the team that uses the smallest share of
///   a device's cores, spread evenly over all devices; two threads of one core do at most `smt_gain` of its work.
///
/// Bounds of devices that run one op at a time do not hold here: side by side on half of the cores each, two ops may
/// end before either order of running them on all. Infinite if some component is allowed nowhere.
/// Complexity: O(n · devices · cores + m).
template <moldable_problem Problem>
lower_bound moldable(const Problem& p) {
  lower_bound found{critical_path(p), lower_bound::rule::critical_path};
  double device_seconds = 0;
  for (const op_id v : ids(p.num_ops())) {
    double least = std::numeric_limits<double>::infinity();
    for (const device_id d : ids(p.num_devices())) {
      if (!p.allows(p.component(v), d)) {
        continue;
      }
      const machine& m = p.platform().machine(d);
      const double gain = m.threads_per_core > 1 ? m.smt_gain : 1;
      for (std::uint32_t threads = 1; threads <= m.cores(); ++threads) {
        for (const auto a : {affinity::packed, affinity::spread}) {
          const double seconds = concurrency::checked_seconds(p.cost(), p.workload(), v, m, {threads, a});
          least = std::min(least, seconds * threads / (m.cores() * gain));
        }
      }
    }
    device_seconds += least;
  }
  const double area = device_seconds / static_cast<double>(p.num_devices());
  return area > found.value ? lower_bound{area, lower_bound::rule::area} : found;
}

} // namespace weft::bound
