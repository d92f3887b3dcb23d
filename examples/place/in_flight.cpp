// SPDX-License-Identifier: BSL-1.0
#include "in_flight.hpp"

#include "weft/throughput/in_flight.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/workload/role.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace place {

using namespace weft;

std::string about_steps_in_flight(const problem& p, const answer& a) {
  const auto& where = a.plan.placement;
  const double period = throughput::period(p, where);
  const auto one = throughput::peaks_in_flight(p, where, a.run, std::numeric_limits<double>::infinity());
  const auto all = throughput::peaks_in_flight(p, where, a.run, period);
  device_id fullest = 0;
  bool more = false;
  for (const device_id d : ids(p.num_devices())) {
    const auto share = [&](device_id e) { return static_cast<double>(all[e]) / static_cast<double>(p.capacity(e)); };
    fullest = share(d) > share(fullest) ? d : fullest;
    more = more || all[d] > one[d];
  }
  if (!more && !is_training_step(p.workload())) {
    return {};
  }
  const auto steps = std::max(1.0, period > 0 ? std::ceil(a.run.makespan / period - 1e-9) : 1.0);
  const auto text = fmt::format("memory of the {:.0f} step{} that {} in flight at once: {} of {} on {}", steps,
                                steps == 1 ? "" : "s", steps == 1 ? "is" : "are", readable_bytes(all[fullest]),
                                readable_bytes(p.capacity(fullest)), p.platform().name(fullest));
  const auto alone = fmt::format("; peak memory is that of one step, {} there", readable_bytes(one[fullest]));
  return all[fullest] <= p.capacity(fullest)
           ? text + (more ? alone : "")
           : text + ": it does not suffice for this period, with fewer steps in flight it is longer" + alone;
}

} // namespace place
