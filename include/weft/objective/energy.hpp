// SPDX-License-Identifier: BSL-1.0
/// The energy that a run takes: of devices that idle, of ops and sends, of tensors that move.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/rounding.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/graph/edges.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <string_view>
#include <vector>

namespace weft {

/// M says what power devices of P draw and what moving data takes, as `platform_parts::has_power` has it.
template <class M, class P>
concept power_model_for = std::copy_constructible<M> && requires(const M& m, const P& p, device_id a, device_id b) {
  { m.idle_watts(p, a) } -> std::convertible_to<double>;
  { m.active_watts(p, a) } -> std::convertible_to<double>;
  { m.joules_per_byte(p, a, b) } -> std::convertible_to<double>;
};

/// The power that the platform states.
struct platform_power {
  template <platform_parts::has_power P>
  constexpr double idle_watts(const P& p, device_id d) const {
    return p.idle_watts(d);
  }
  template <platform_parts::has_power P>
  constexpr double active_watts(const P& p, device_id d) const {
    return p.active_watts(d);
  }
  template <platform_parts::has_power P>
  constexpr double joules_per_byte(const P& p, device_id from, device_id to) const {
    return p.joules_per_byte(from, to);
  }
};

/// The same for all devices of any platform.
struct uniform_power {
  double idle = 0;       ///< watts
  double active = 0;     ///< watts, not less
  double moved_byte = 0; ///< joules

  template <class P>
  constexpr double idle_watts(const P&, device_id) const {
    return idle;
  }
  template <class P>
  constexpr double active_watts(const P&, device_id) const {
    return active;
  }
  template <class P>
  constexpr double joules_per_byte(const P&, device_id, device_id) const {
    return moved_byte;
  }
};

namespace why_not {
template <class M, class P>
struct power_model_for {
  static_assert(
    weft::power_model_for<M, P>,
    "weft: nothing says what power these devices draw: give the platform idle_watts(device_id) const, "
    "active_watts(device_id) const and joules_per_byte(device_id, device_id) const, or the objective a power "
    "model, as in objective::energy{weft::uniform_power{.idle = 50, .active = 300}}; see docs/energy.md");
};
} // namespace why_not

/// The energy of a run, in joules.
struct energy_use {
  struct of_device {
    double idle = 0;   ///< its idle power, as long as the run lasted
    double active = 0; ///< on top, while it ran ops and sends
  };
  std::vector<of_device> devices = {};
  double transfers = 0;

  constexpr double idle() const { return sum(&of_device::idle); }
  constexpr double active() const { return sum(&of_device::active); }
  constexpr double total() const { return idle() + active() + transfers; }

private:
  constexpr double sum(double of_device::* part) const {
    double joules = 0;
    for (const of_device& d : devices) {
      joules += d.*part;
    }
    return joules;
  }
};

namespace objective {

/// Joules of a run:
///  - each device of the platform, used or not, draws its idle power until the makespan;
///  - each op and each send draws 1/slots of what its device draws on top when all slots are busy, `active_watts −
///    idle_watts`, for its time;
///  - each transfer takes its tensor's bytes times `joules_per_byte` from device to device, which is the sum over the
///    links of its route, however long the transfer takes.
///
/// For devices that run an op per slot. Power comes from the platform (`platform_parts::has_power`) or from a
/// `power_model_for` of your own. Products of watts and seconds are joules, so times must be in seconds.
/// Complexity of a score: O(ops + transfers + devices).
template <class Power = platform_power>
struct energy {
  Power power{};

  static constexpr std::string_view unit = "J";

  /// Of equal joules, the shorter run is better. Takes the times of the problem, which are those of devices with an op
  /// per slot; on devices of your own that change them, `energy_of` tells what the run took. Where
  /// nobody has said what devices draw (`draws_power`), all plans take 0 J.
  template <class Problem>
  constexpr weft::score score(const Problem& p, const trace& run) const {
    double joules = price(p).of(run.makespan);
    for (const op_id v : ids(run.ops.size())) {
      joules += op_charge(p, v, run.ops[v].device);
    }
    for (const transfer_record& x : run.transfers) {
      joules += transfer_charge(p, x.tensor, x.from, x.to);
    }
    return {0, joules, run.makespan};
  }

  /// All devices idle for the least makespan, each component is where its ops take least, and tensors whose producer
  /// and consumer can never meet move the cheapest way. Infinite if a component is allowed nowhere.
  /// Complexity: O(ops · devices + edges), and O(devices²) for each pair of sets of kinds that cannot meet.
  template <class Problem>
  constexpr double bound(const Problem& p, const lower_bound& makespan) const {
    const double watts = price(p).per_second;
    double joules = watts > 0 ? rounded(watts * makespan.value) : 0;
    for (component_id c = 0; c < p.num_components(); ++c) {
      double least = std::numeric_limits<double>::infinity();
      for (const device_id d : ids(p.num_devices())) {
        if (p.allows(c, d)) {
          double sum = 0;
          for (const op_id v : p.members(c)) {
            sum += op_charge(p, v, d);
          }
          least = std::min(least, sum);
        }
      }
      joules += least;
    }
    return joules + least_transfers(p);
  }

  template <class Problem>
  constexpr objective_parts::price_of_time price(const Problem& p) const {
    (void)sizeof(why_not::power_model_for<Power, typename Problem::platform_type>);
    double watts = 0;
    for (const device_id d : ids(p.num_devices())) {
      watts += power.idle_watts(p.platform(), d);
    }
    return {.per_second = watts};
  }
  template <class Problem>
  constexpr double op_charge(const Problem& p, op_id v, device_id d) const {
    return busy(p, d, p.compute_time(v, d));
  }
  template <class Problem>
  constexpr double transfer_charge(const Problem& p, tensor_id t, device_id from, device_id to) const {
    return moved(p, t, from, to) + busy(p, from, p.send_time(t, from, to));
  }

  /// Whether any device draws power at all; if none does, nobody has said what they draw.
  template <class Problem>
  constexpr bool draws_power(const Problem& p) const {
    const auto devices = ids(p.num_devices());
    return std::any_of(devices.begin(), devices.end(),
                       [&](device_id d) { return power.active_watts(p.platform(), d) > 0; });
  }
  /// A device's charge for an op or a send of so many seconds.
  template <class Problem>
  constexpr double busy(const Problem& p, device_id d, double seconds) const {
    const auto& q = p.platform();
    const double watts = (power.active_watts(q, d) - power.idle_watts(q, d)) / q.slots(d);
    return watts > 0 ? rounded(watts * seconds) : 0; // what takes for ever takes nothing of nothing
  }
  /// The energy that the links of a route take for a tensor.
  template <class Problem>
  constexpr double moved(const Problem& p, tensor_id t, device_id from, device_id to) const {
    return rounded(static_cast<double>(p.workload().bytes(t)) * power.joules_per_byte(p.platform(), from, to));
  }

private:
  /// Joules of the transfers that kinds force, however ops are placed.
  template <class Problem>
  constexpr double least_transfers(const Problem& p) const {
    const auto& q = p.platform();
    kind_set present;
    for (const device_id d : ids(p.num_devices())) {
      present = present | q.kind(d);
    }
    kind_set last_from;
    kind_set last_to; // neighbours in the graph mostly have the same kinds
    double per_byte = 0;
    double joules = 0;
    for (const tensor_id t : ids(p.num_tensors())) {
      const kind_set from = p.kinds(p.component(p.workload().producer(t))) & present;
      double forced = 0;
      for (const op_id c : p.workload().consumers(t)) {
        const kind_set to = p.kinds(p.component(c)) & present;
        if (from.empty() || to.empty() || !(from & to).empty()) {
          continue;
        }
        if (from != last_from || to != last_to) {
          last_from = from;
          last_to = to;
          per_byte = cheapest_byte(p, from, to);
        }
        forced = std::max(forced, rounded(static_cast<double>(p.workload().bytes(t)) * per_byte));
      }
      joules += forced;
    }
    return joules;
  }
  template <class Problem>
  constexpr double cheapest_byte(const Problem& p, kind_set from, kind_set to) const {
    const auto& q = p.platform();
    double least = std::numeric_limits<double>::infinity();
    for (const device_id a : ids(p.num_devices())) {
      for (const device_id b : ids(p.num_devices())) {
        if (from.contains(q.kind(a)) && to.contains(q.kind(b))) {
          least = std::min<double>(least, power.joules_per_byte(q, a, b));
        }
      }
    }
    return least;
  }
};
template <class Power>
energy(Power) -> energy<Power>;

} // namespace objective

/// The energy of a run, device by device, by the times of its record; also of a run that an executor or a file
/// recorded.
/// Precondition: every op ran on a device of the problem. Complexity: O(ops + transfers + devices).
template <class Problem, class Power = platform_power>
constexpr energy_use energy_of(const Problem& p, const trace& run, const objective::energy<Power>& how = {}) {
  energy_use use;
  for (const device_id d : ids(p.num_devices())) {
    use.devices.push_back({.idle = rounded(how.power.idle_watts(p.platform(), d) * run.makespan)});
  }
  for (const op_record& r : run.ops) {
    use.devices[r.device].active += how.busy(p, r.device, r.finish - r.start);
  }
  for (const transfer_record& x : run.transfers) {
    use.devices[x.from].active += how.busy(p, x.from, x.send_finish - x.send_start);
    use.transfers += how.moved(p, x.tensor, x.from, x.to);
  }
  return use;
}

} // namespace weft
