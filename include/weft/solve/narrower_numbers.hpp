// SPDX-License-Identifier: BSL-1.0
/// Ops that a plan has on CPUs only because accelerators have no room for numbers as wide as a model's are.
#pragma once

#include "weft/partition/first_device.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/stored_as.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

namespace weft::solve {

/// The room that narrower numbers would make on accelerators.
struct narrower_numbers {
  std::size_t ops_on_cpus = 0;     ///< of the plan, that accelerators may run, too
  byte_count resident_on_cpus = 0; ///< bytes that these hold
  byte_count needed = 0;           ///< bytes on accelerators at the peak, with all that they may run, as numbers are
  byte_count needed_then = 0;      ///< the same with the narrower ones
  byte_count capacity = 0;         ///< of all accelerators
};

/// What narrower numbers would change, if a plan has ops on CPUs that accelerators may run, but have no room for, and
/// that would all find room there with numbers stored as `f` (`stored_as`, also for `frozen`); else nothing. All that
/// accelerators may run is taken to be on the first of them, one op at a time by path completion times, and to have the
/// memory of all: several may need more, as what is sent is in two places.
/// Throws as `stored_as`. Complexity: that of one simulated run, and O(n · accelerators + m).
template <must_be::problem Problem>
std::optional<narrower_numbers> fits_in_narrower_numbers(const Problem& p, const placement& where,
                                                         const storage_format& f,
                                                         std::span<const byte_count> frozen = {}) {
  const auto is_cpu = [&](device_id d) { return hardware_kind(p.platform(), d) == device_kind::cpu; };
  const auto accelerators = partition::accelerators(p);
  narrower_numbers found;
  for (const op_id v : ids(p.num_ops())) {
    const bool has_choice = std::any_of(accelerators.begin(), accelerators.end(), [&](device_id d) {
      return !is_cpu(d) && p.kinds(p.component(v)).contains(p.platform().kind(d));
    });
    if (has_choice && is_cpu(where[v])) {
      ++found.ops_on_cpus;
      found.resident_on_cpus += p.workload().resident_bytes(v);
    }
  }
  const auto on_first = found.ops_on_cpus > 0 ? partition::first_device{}(p) : outcome<placement>{where};
  if (found.ops_on_cpus == 0 || !on_first) {
    return std::nullopt;
  }
  trace run;
  simulator{p, schedule::path_completion_time{}}.run(plan{*on_first}, simulate::recorder{run});
  const workload narrow = stored_as(p.workload(), f, frozen);
  const problem then{narrow, p.platform()};
  simulate::memory_tracker memory{p};
  simulate::memory_tracker memory_then{then};
  memory.follow(*on_first, run);
  memory_then.follow(*on_first, run);
  for (const device_id d : p.memories().of(accelerators)) {
    found.needed += memory.peaks()[d];
    found.needed_then += memory_then.peaks()[d];
    found.capacity += std::min(p.capacity(d), std::numeric_limits<byte_count>::max() - found.capacity);
  }
  return found.needed > found.capacity && found.needed_then <= found.capacity ? std::optional{found} : std::nullopt;
}

} // namespace weft::solve
