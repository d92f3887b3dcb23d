// SPDX-License-Identifier: BSL-1.0
/// A problem in whole numbers of a tiny unit of time, rounded so that its schedules are never longer.
#pragma once

#include "weft/bound/detail/relaxation.hpp"
#include "weft/graph/edges.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace weft::bound::detail {

/// Ops with a time on each usable device and delays between ops that depend on both devices: all times rounded down to
/// multiples of a unit, sending part of the delay. Whoever could meet a makespan in the problem can here, so that "no"
/// holds there, too, and sums are exact. Where sends take no time and no device has several slots, it is the problem but
/// for rounding.
struct whole_times {
  using amount = std::int64_t;
  static constexpr amount nowhere = -1;
  static constexpr amount never = amount{1} << 44;      ///< more than any makespan
  static constexpr amount most = amount{1} << 40;       ///< the makespan that sets the unit

  struct input {
    op_id op;
    std::uint32_t tensor;
  };

  std::size_t num_ops = 0;
  std::size_t num_components = 0;
  std::vector<device_id> devices;        ///< usable ones
  std::vector<std::uint32_t> slots;      ///< per device
  std::vector<component_id> component;   ///< per op
  std::vector<op_id> order;              ///< topological
  std::vector<amount> time;              ///< ops x devices, or `nowhere`
  std::vector<std::uint32_t> first_input[2];
  std::vector<input> inputs[2];          ///< per op and direction: what it waits for, or, reversed, what waits for it
  std::vector<amount> delays;            ///< tensors x devices x devices
  std::vector<byte_count> demand;        ///< per component
  std::vector<byte_count> capacity;      ///< per device
  double unit = 1;
  bool sends = false;
  bool memory_matters = false;

  std::size_t num_devices() const { return devices.size(); }
  amount delay(std::uint32_t tensor, std::size_t from, std::size_t to) const {
    return delays[(tensor * devices.size() + from) * devices.size() + to];
  }
  /// Whether its schedules are those of the problem, but for rounding.
  bool is_exact() const { return !sends && std::all_of(slots.begin(), slots.end(), [](auto s) { return s == 1; }); }

  /// A makespan of the problem in units, rounded down.
  amount limit(double makespan) const { return static_cast<amount>(std::floor(makespan / unit)); }

  /// `makespan`: one that some plan has. Precondition: each component is allowed somewhere.
  template <class Problem>
  whole_times(const Problem& p, const std::vector<device_id>& usable, double makespan)
      : num_ops{p.num_ops()}, num_components{p.num_components()}, devices{usable},
        order(p.topological_order().begin(), p.topological_order().end()),
        unit{makespan / static_cast<double>(most)} {
    byte_count all = 0;
    for (component_id c = 0; c < num_components; ++c) {
      demand.push_back(p.demand(c));
      all += std::min(p.demand(c), std::numeric_limits<byte_count>::max() - all);
    }
    for (const device_id d : devices) {
      slots.push_back(p.platform().slots(d));
      capacity.push_back(static_cast<byte_count>(p.platform().memory_capacity(d)));
      memory_matters = memory_matters || capacity.back() < all;
    }
    for (const op_id v : ids(num_ops)) {
      component.push_back(p.component(v));
      for (const device_id d : devices) {
        time.push_back(p.allows(p.component(v), d) ? whole(p.compute_time(v, d)) : nowhere);
        time.back() = time.back() >= never ? nowhere : time.back();
      }
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      for (const device_id from : devices) {
        for (const device_id to : devices) {
          double delay = 0;
          if (from != to) {
            const double send = p.send_time(t, from, to);
            sends = sends || (send > 0 && !std::ranges::empty(p.workload().consumers(t)));
            delay = send + p.transfer_time(t, from, to);
          }
          delays.push_back(whole(delay));
        }
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
  amount whole(double seconds) const {
    const double units = std::floor(seconds / unit);
    return units < static_cast<double>(never) ? static_cast<amount>(units) : never;
  }
};

} // namespace weft::bound::detail
