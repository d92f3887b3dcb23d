// SPDX-License-Identifier: BSL-1.0
/// Ops that may run on an accelerator, kept there.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <vector>

namespace weft::partition {

/// The workload with each op that may run on an accelerator of the platform, and its colocation group, on these alone,
/// so that it has their memory and not that of hosts; other ops may run where they may now. Accelerators are devices
/// that are no CPUs; without any the workload stays as it is. Complexity: O(n + devices).
template <link_model Links>
workload on_accelerators(const workload& w, const platform<Links>& q) {
  kind_set accelerators = kind_set::from_bits(0);
  for (const device_id d : ids(q.num_devices())) {
    if (hardware_kind(q, d) != device_kind::cpu) {
      accelerators = accelerators | q.kind(d);
    }
  }
  std::vector<kind_set> of_groups(w.num_groups(), kind_set::all());
  for (const op_id v : ids(w.num_ops())) {
    if (w.group(v) != none) {
      of_groups[w.group(v)] = of_groups[w.group(v)] & w.kinds(v);
    }
  }
  std::vector<kind_set> kinds;
  for (const op_id v : ids(w.num_ops())) {
    const auto together = w.group(v) != none ? of_groups[w.group(v)] : w.kinds(v);
    kinds.push_back((together & accelerators).empty() ? w.kinds(v) : together & accelerators);
  }
  return w.with_kinds(kinds);
}

} // namespace weft::partition
