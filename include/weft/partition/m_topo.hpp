// SPDX-License-Identifier: BSL-1.0
/// Memory-constrained topological placement: device after device is filled.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::partition {

/// m-TOPO: ops in topological order fill one device after another. A device takes components until the next one would
/// exceed the device's share of memory: total demand / devices, plus the largest demand of one component. An op whose
/// component does not fit there goes to the next device, wrapping around, where it fits. Returns the topological order
/// as the plan's order.
///
/// Departs: the source's devices are identical; here a device that does not allow an op is skipped for that op only.
/// Source: Jeon, Cai, Srivastava, Jiang, Ke, Meng, Xie, Gupta, "Baechi", SoCC 2020, section 3.
/// Complexity: O(n + components passed over · devices). Uses no randomness.
/// Choose it as the baseline of plans within memory: it fills device after device and ignores times.
struct m_topo {
  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p) const {
    const auto k = static_cast<device_id>(p.num_devices());
    assignment<Problem> made{p};
    double total = 0;
    double largest = 0;
    for (component_id c = 0; c < p.num_components(); ++c) {
      total += static_cast<double>(p.demand(c));
      largest = std::max(largest, static_cast<double>(p.demand(c)));
    }
    const double share = total / static_cast<double>(k) + largest;
    plan result;
    result.order.reserve(p.num_ops());
    device_id filling = 0;
    std::vector<double> held(k, 0.0);
    for (const op_id v : p.topological_order()) {
      result.order.push_back(step::run(v));
      const component_id c = p.component(v);
      if (made.is_placed(c)) {
        continue;
      }
      const auto demand = static_cast<double>(p.demand(c));
      if (held[filling] + demand > share && filling + 1 < k) {
        ++filling;
      }
      const device_id d = made.first_fit(c, filling);
      if (d == none) {
        return made.why_unplaced(c);
      }
      made.place(c, d);
      held[d] += demand;
    }
    result.placement = std::move(made).take();
    return result;
  }
};

} // namespace weft::partition
