// SPDX-License-Identifier: BSL-1.0
/// A problem in whole numbers of a tiny unit of time, rounded so that its schedules are never longer.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/graph/edges.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ranges>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Ops with a time on each machine and delays between ops that depend on both devices: all times rounded down to
/// multiples of a unit, sending part of the delay. Whoever could meet a makespan in the problem can here, so that "no"
/// holds there, too, and sums are exact.
///
/// A machine is a device, or a slot of one with several. Slots are machines of their own if nothing is sent at the
/// sender's cost and there are few; devices with a slot for every op need no order. If neither is so, devices with
/// several slots count in sums of work only. Where that does not happen, and nothing costs the sender, the schedules
/// are those of the problem but for rounding. What is placed is a component, or, where slots are machines, an op.
struct whole_times {
  using amount = std::int64_t;
  static constexpr amount nowhere = -1;
  static constexpr amount most = amount{1} << 43;  ///< the makespan that sets the unit
  static constexpr amount never = amount{1} << 48; ///< more than any makespan
  static constexpr std::size_t most_machines = 16;

  struct machine {
    std::uint32_t device;    ///< its place among `devices`
    std::uint32_t slots = 1; ///< how many ops it runs at once
    bool in_order = true;    ///< one after the other
  };
  struct input {
    op_id op;
    std::uint32_t tensor;
  };

  std::size_t num_ops = 0;
  std::size_t num_units = 0;          ///< what is placed
  std::vector<device_id> devices;     ///< usable ones
  buffer<machine> machines;           ///< device by device
  std::vector<std::uint32_t> unit_of; ///< per op
  std::vector<op_id> order;           ///< topological
  std::vector<amount> time;           ///< ops x machines, or `nowhere`
  std::vector<std::uint32_t> first_input[2];
  buffer<input> inputs[2];               ///< per op and direction: what it waits for, or, reversed, what waits for it
  std::vector<amount> delays;            ///< tensors x devices x devices
  std::vector<std::uint32_t> first_unit; ///< per component, of its first op
  std::vector<byte_count> demand;        ///< per component
  std::vector<byte_count> capacity;      ///< per device
  std::vector<std::pair<std::uint32_t, std::uint32_t>> together; ///< units on one device, if slots are machines
  double unit = 1;
  bool is_exact = true; ///< the schedules are those of the problem but for rounding
  bool memory_matters = false;

  std::size_t num_machines() const { return machines.size(); }
  amount delay(std::uint32_t tensor, std::size_t from, std::size_t to) const {
    return delays[(tensor * devices.size() + machines[from].device) * devices.size() + machines[to].device];
  }
  /// A makespan of the problem in units, rounded down.
  amount limit(double makespan) const { return static_cast<amount>(std::floor(makespan / unit)); }

  /// `makespan`: one that some plan has, above 0. Precondition: each component is allowed somewhere.
  template <class Problem>
  whole_times(const Problem& p, const std::vector<device_id>& usable, double makespan)
      : num_ops{p.num_ops()}, devices{usable},
        order(p.topological_order().begin(), p.topological_order().end()), unit{makespan / static_cast<double>(most)} {
    const bool sends = take_delays(p);
    const bool split = take_machines(p, sends);
    num_units = split ? num_ops : p.num_components();
    byte_count all = 0;
    for (component_id c = 0; c < p.num_components(); ++c) {
      demand.push_back(p.demand(c));
      all += std::min(p.demand(c), std::numeric_limits<byte_count>::max() - all);
      first_unit.push_back(split ? p.members(c).front() : c);
      for (const op_id v : p.members(c)) {
        if (split && v != p.members(c).front()) {
          together.emplace_back(p.members(c).front(), v);
        }
      }
    }
    for (const device_id d : devices) {
      capacity.push_back(static_cast<byte_count>(p.platform().memory_capacity(d)));
      memory_matters = memory_matters || capacity.back() < all;
    }
    for (const op_id v : ids(num_ops)) {
      unit_of.push_back(split ? v : p.component(v));
      for (const machine& m : machines) {
        const device_id d = devices[m.device];
        time.push_back(p.allows(p.component(v), d) ? whole(p.compute_time(v, d)) : nowhere);
        time.back() = time.back() >= never ? nowhere : time.back();
      }
    }
    const auto collect = [&](int direction, auto for_each) {
      for (const op_id v : ids(num_ops)) {
        first_input[direction].push_back(static_cast<std::uint32_t>(inputs[direction].size()));
        for_each(v, [&](op_id u, const flow_edge& e) { inputs[direction].push_back({u, e.tensor}); });
      }
      first_input[direction].push_back(static_cast<std::uint32_t>(inputs[direction].size()));
    };
    collect(0, [&](op_id v, auto f) { graph::for_each_predecessor(p.workload(), v, f); });
    collect(1, [&](op_id v, auto f) { graph::for_each_successor(p.workload(), v, f); });
  }

private:
  /// Whether something costs the sender.
  template <class Problem>
  bool take_delays(const Problem& p) {
    bool sends = false;
    for (const tensor_id t : ids(p.num_tensors())) {
      const bool moves = !std::ranges::empty(p.workload().consumers(t));
      for (const device_id from : devices) {
        for (const device_id to : devices) {
          double delay = 0;
          if (from != to && moves) {
            const double send = p.send_time(t, from, to);
            sends = sends || send > 0;
            delay = send + p.transfer_time(t, from, to);
          }
          delays.push_back(whole(delay));
        }
      }
    }
    is_exact = !sends;
    return sends;
  }

  /// Whether slots are machines.
  template <class Problem>
  bool take_machines(const Problem& p, bool sends) {
    const auto slots = [&](device_id d) { return std::min<std::size_t>(p.platform().slots(d), num_ops); };
    std::size_t all = 0;
    for (const device_id d : devices) {
      all += slots(d) < num_ops ? slots(d) : 1;
    }
    const bool split = !sends && all > devices.size() && all <= most_machines;
    for (std::uint32_t i = 0; i < devices.size(); ++i) {
      const auto count = static_cast<std::uint32_t>(slots(devices[i]));
      if (split && count < num_ops) {
        for (std::uint32_t s = 0; s < count; ++s) {
          machines.push_back({i});
        }
      } else {
        machines.push_back({i, count, count == 1});
        is_exact = is_exact && (count == 1 || count == num_ops);
      }
    }
    return split;
  }

  amount whole(double seconds) const {
    const double units = std::floor(seconds / unit);
    return units < static_cast<double>(never) ? static_cast<amount>(units) : never;
  }
};

} // namespace weft::bound::exact
