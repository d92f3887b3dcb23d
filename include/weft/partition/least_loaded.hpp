// SPDX-License-Identifier: BSL-1.0
/// Ops on the device that has least to do so far.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"

#include <utility>

namespace weft::partition {

/// In topological order, each op goes with its component to the device that has least to do with it; ties: the smallest
/// id. Transfers do not count.
/// Source: list scheduling without an order: Graham, *Bounds for Certain Multiprocessing Anomalies*, Bell System
/// Technical Journal 45, 1966. Complexity: O(n · devices).
/// Choose it as a baseline that only balances.
struct least_loaded {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p) const {
    assignment<Problem> where{p};
    for (const op_id v : p.topological_order()) {
      if (where.device(v) != none) {
        continue;
      }
      const component_id c = p.component(v);
      device_id chosen = none;
      double least = 0;
      for (const device_id d : ids(p.num_devices())) {
        const double load = where.fits(c, d) ? where.load(d) + p.component_time(c, d) : 0;
        if (where.fits(c, d) && (chosen == none || load < least)) {
          chosen = d;
          least = load;
        }
      }
      if (chosen == none) {
        return where.why_unplaced(c);
      }
      where.place(c, chosen);
    }
    return std::move(where).take();
  }
};

} // namespace weft::partition
