// SPDX-License-Identifier: BSL-1.0
/// Proof of infeasibility by capacity: components that fit into no device, even alone.
#pragma once

#include "weft/plan/infeasibility.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/problem.hpp"

#include <limits>
#include <optional>

namespace weft::bound {

/// The reason why no plan at all can run c: the platform has no device of a kind that it allows, or c would take for
/// ever on each, or none of them can hold one of its ops, even over time: while an op runs, if that takes time, its
/// inputs but those that it writes over, its outputs and all that its component holds are there. Nothing if that is not
/// so. Complexity: O(devices · what c consumes and produces).
template <class Problem>
constexpr std::optional<infeasibility> why_never_fits(const Problem& p, component_id c) {
  const auto& w = p.workload();
  const byte_count resident = p.resident_bytes(c);
  infeasibility best{.cause = infeasibility::kind::no_device_of_kind,
                     .op = p.members(c).front(),
                     .num_members = p.members(c).size(),
                     .kinds = p.kinds(c)};
  for (const device_id d : ids(p.num_devices())) {
    if (!p.kinds(c).contains(p.platform().kind(d))) {
      continue;
    }
    if (!(p.component_time(c, d) < std::numeric_limits<double>::infinity())) {
      best.cause = best.cause == infeasibility::kind::no_device_of_kind ? infeasibility::kind::never_ends : best.cause;
      continue;
    }
    const byte_count capacity = p.capacity(d);
    byte_count most = resident;
    op_id largest = p.members(c).front();
    for (const op_id v : p.members(c)) {
      byte_count needs = resident;
      if (p.compute_time(v, d) > 0) {
        for (const tensor_id t : w.inputs(v)) {
          needs += is_overwritten(w, t) || is_resident(w, t) ? 0 : w.bytes(t);
        }
        for (const tensor_id t : w.outputs(v)) {
          needs += is_resident(w, t) ? 0 : w.bytes(t);
        }
      }
      if (needs > most) {
        most = needs;
        largest = v;
      }
    }
    if (most <= capacity) {
      return std::nullopt;
    }
    if (best.cause != infeasibility::kind::out_of_memory || capacity > best.largest_free) {
      best = {infeasibility::kind::out_of_memory, largest, p.members(c).size(), p.kinds(c), most, capacity};
    }
  }
  return best;
}

/// Whether `why`, with which a search ended, proves that there is no plan. That reservations left no room does not,
/// unless the component would fit nowhere by itself: where they fail, a plan may keep to the memory over time.
template <class Problem>
constexpr bool proves_infeasible(const Problem& p, const infeasibility& why) {
  switch (why.cause) {
  case infeasibility::kind::no_device_of_kind:
  case infeasibility::kind::never_ends:
  case infeasibility::kind::out_of_memory: return why.op < p.num_ops() && why_never_fits(p, p.component(why.op));
  case infeasibility::kind::out_of_all_memory:
  case infeasibility::kind::every_placement_fails:
  case infeasibility::kind::every_plan_fails: return true;
  case infeasibility::kind::not_found: break;
  }
  return false;
}

} // namespace weft::bound
