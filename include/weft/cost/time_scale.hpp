// SPDX-License-Identifier: BSL-1.0
/// The scale of what ops take: a sign of work and speeds in units that do not match.
#pragma once

#include "weft/core/ids.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft::cost {

/// Times that a program may have, or that hardly any has.
struct time_scale {
  enum class kind : std::uint8_t {
    usual,
    too_long,  ///< more than a year on all devices at once
    too_short, ///< no op takes longer than a fraction of a clock cycle
  };
  kind is = kind::usual;
  double shared = 0;  ///< seconds if each op ran where it is fastest, and all devices shared them without waiting
  double longest = 0; ///< seconds of the longest op where it is fastest
};

inline constexpr double seconds_per_year = 365.25 * 24 * 3600;
inline constexpr double shortest_op = 1e-12; ///< seconds; clocks of processors tick every 2e-10 s

/// The scale of the times of a workload on a platform. Ops that end nowhere do not count. Complexity: O(ops × devices).
template <class W, class P, class Cost>
time_scale time_scale_of(const W& w, const P& p, const Cost& cost) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  time_scale made;
  double sum = 0, slots = 0;
  for (const device_id d : ids(p.num_devices())) {
    slots += p.slots(d);
  }
  for (const op_id v : ids(w.num_ops())) {
    double fastest = infinity;
    for (const device_id d : ids(p.num_devices())) {
      if (w.kinds(v).contains(p.kind(d))) {
        fastest = std::min(fastest, cost.compute_time(w, v, p, d));
      }
    }
    if (std::isfinite(fastest)) {
      sum += fastest;
      made.longest = std::max(made.longest, fastest);
    }
  }
  made.shared = std::max(made.longest, slots > 0 ? sum / slots : 0);
  made.is = made.shared > seconds_per_year                   ? time_scale::kind::too_long
            : made.longest > 0 && made.longest < shortest_op ? time_scale::kind::too_short
                                                             : time_scale::kind::usual;
  return made;
}

} // namespace weft::cost
