// SPDX-License-Identifier: BSL-1.0
/// A problem in whole numbers of a tiny unit of time, rounded so that its schedules are never longer.
#pragma once

#include "weft/bound/exact/excerpt.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Ops with a time on each machine and delays between ops that depend on both devices: all times rounded down to
/// multiples of a unit, sending part of the delay. A makespan that can be met in the problem can be met here, so that
/// "no" holds there, too, and sums are exact.
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
  static constexpr std::size_t max_machines = 16;

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
  std::vector<std::size_t> memory;       ///< per device, the first that works in the same memory
  buffer<std::pair<std::uint32_t, std::uint32_t>> together; ///< units on one device, if slots are machines
  double unit = 1;
  bool is_exact = true; ///< the schedules are those of the problem but for rounding
  bool memory_matters = false;

  std::size_t num_machines() const { return machines.size(); }
  amount delay(std::uint32_t tensor, std::size_t from, std::size_t to) const {
    return delays[(tensor * devices.size() + machines[from].device) * devices.size() + machines[to].device];
  }
  /// A makespan of the problem in units, rounded down.
  amount limit(double makespan) const { return static_cast<amount>(std::floor(makespan / unit)); }

  /// `makespan`: one that some plan has, above 0. Precondition: each component is allowed somewhere. `may_split`:
  /// slots may be machines.
  template <class Problem>
  whole_times(const excerpt<Problem>& x, double makespan, bool may_split = true)
      : num_ops{x.num_ops()}, devices{x.devices()}, order(x.order()), unit{makespan / static_cast<double>(most)} {
    const bool sends = take_delays(x);
    const bool split = take_machines(x, sends, may_split);
    num_units = split ? num_ops : x.num_components();
    byte_count all = 0;
    for (std::uint32_t c = 0; c < x.num_components(); ++c) {
      demand.push_back(x.demand(c));
      all += std::min(demand.back(), std::numeric_limits<byte_count>::max() - all);
      first_unit.push_back(split ? x.members(c).front() : c);
      for (const op_id v : x.members(c)) {
        if (split && v != x.members(c).front()) {
          together.emplace_back(x.members(c).front(), v);
        }
      }
    }
    for (std::size_t d = 0; d < devices.size(); ++d) {
      capacity.push_back(x.capacity(d));
      memory.push_back(x.memory_of(d));
      memory_matters = memory_matters || capacity.back() < all;
    }
    for (const op_id v : ids(num_ops)) {
      unit_of.push_back(split ? v : x.component(v));
      for (const machine& m : machines) {
        const amount least = whole(x.compute_time(v, m.device));
        time.push_back(least < never ? least : nowhere);
      }
    }
    const auto collect = [&](int direction, auto for_each) {
      for (const op_id v : ids(num_ops)) {
        first_input[direction].push_back(static_cast<std::uint32_t>(inputs[direction].size()));
        for_each(v, [&](op_id u, std::uint32_t t) { inputs[direction].push_back({u, t}); });
      }
      first_input[direction].push_back(static_cast<std::uint32_t>(inputs[direction].size()));
    };
    collect(0, [&](op_id v, auto f) { x.for_each_before(v, f); });
    collect(1, [&](op_id v, auto f) { x.for_each_after(v, f); });
  }
  /// Of all ops.
  template <class Problem>
  whole_times(const Problem& p, const std::vector<device_id>& usable, double makespan, bool may_split = true)
      : whole_times{excerpt<Problem>{p, usable}, makespan, may_split} {}

private:
  /// Whether something costs the sender.
  template <class Problem>
  bool take_delays(const excerpt<Problem>& x) {
    bool sends = false;
    for (std::uint32_t t = 0; t < x.num_tensors(); ++t) {
      for (std::size_t from = 0; from < devices.size(); ++from) {
        for (std::size_t to = 0; to < devices.size(); ++to) {
          double delay = 0;
          if (from != to) {
            const double send = x.send_time(t, from, to);
            sends = sends || send > 0;
            delay = send + x.transfer_time(t, from, to);
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
  bool take_machines(const excerpt<Problem>& x, bool sends, bool may_split) {
    const auto slots = [&](std::size_t d) { return std::min(x.slots(d), num_ops); };
    std::size_t all = 0;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      all += slots(d) < num_ops ? slots(d) : 1;
    }
    const bool split = may_split && !sends && all > devices.size() && all <= max_machines;
    for (std::uint32_t d = 0; d < devices.size(); ++d) {
      const auto count = static_cast<std::uint32_t>(slots(d));
      if (split && count < num_ops) {
        for (std::uint32_t s = 0; s < count; ++s) {
          machines.push_back({d});
        }
      } else {
        machines.push_back({d, count, count == 1});
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
