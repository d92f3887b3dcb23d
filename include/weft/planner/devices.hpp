// SPDX-License-Identifier: BSL-1.0
/// The devices that may share a step, and where replicas of it have their ops.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/replica_placement.hpp"
#include "weft/plan/plan.hpp"
#include "weft/platform/canonical_order.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::planner {

/// Of the sets of devices that are alike (kind, speed, memory and its bandwidth) the one that computes most,
/// accelerators first, in the order of their numbers. Complexity: O(devices²).
inline std::vector<device_id> alike_devices(const platform<>& p) {
  const auto key = [&](device_id d) {
    return std::tuple{hardware_kind(p, d), p.speed(d), p.memory_bandwidth(d), p.memory_capacity(d)};
  };
  const auto merit = [&](const std::vector<device_id>& all) {
    return all.empty() ? std::tuple{false, 0.0, 0.0, byte_count{0}}
                       : std::tuple{hardware_kind(p, all.front()) != device_kind::cpu,
                                    static_cast<double>(all.size()) * p.speed(all.front()),
                                    p.memory_bandwidth(all.front()), p.memory_capacity(all.front())};
  };
  std::vector<device_id> best;
  std::vector<bool> seen(p.num_devices(), false);
  for (const device_id d : ids(p.num_devices())) {
    std::vector<device_id> alike;
    for (device_id e = d; e < p.num_devices() && !seen[d]; ++e) {
      if (!seen[e] && key(e) == key(d)) {
        alike.push_back(e);
      }
    }
    for (const device_id e : alike) {
      seen[e] = true;
    }
    if (merit(best) < merit(alike)) {
      best = std::move(alike);
    }
  }
  return best;
}

/// So many of the fastest accelerators (0: all) by their numbers, if they are not all alike; of equally fast ones those
/// that come first whatever their numbers (`canonical_order`). Empty if all are alike.
inline std::vector<device_id> unlike_devices(const platform<>& p, std::size_t count = 0) {
  const auto is_accelerator = [&](device_id d) { return hardware_kind(p, d) != device_kind::cpu; };
  std::vector<device_id> all;
  for (const device_id d : ids(p.num_devices())) {
    if (is_accelerator(d)) {
      all.push_back(d);
    }
  }
  if (all.size() <= alike_devices(p).size()) {
    return {};
  }
  if (count == 0 || count >= all.size()) {
    return all;
  }
  std::vector<device_id> fastest;
  for (const device_id d : canonical_order(p)) {
    if (is_accelerator(d)) {
      fastest.push_back(d);
    }
  }
  std::stable_sort(fastest.begin(), fastest.end(), [&](device_id a, device_id b) { return p.speed(a) > p.speed(b); });
  fastest.resize(count);
  std::sort(fastest.begin(), fastest.end());
  return fastest;
}

/// The bytes that each of these devices may fill, if those that work in one memory have equal parts of it: of those
/// that have least. Complexity: O(devices²).
inline byte_count memory_for_each(const platform<>& p, const std::vector<device_id>& devices) {
  constexpr auto unlimited = std::numeric_limits<byte_count>::max();
  byte_count least = unlimited;
  for (const device_id d : devices) {
    const auto sharing = std::ranges::count(devices, p.memory_of(d), [&](device_id e) { return p.memory_of(e); });
    const auto all = p.memory_capacity(d);
    least = std::min(least, all == unlimited ? all : all / static_cast<byte_count>(sharing));
  }
  return least;
}

/// All ops on the device; those that may not run there, and their colocation groups, on the one that may and is
/// nearest. Complexity: O(n + devices) for each op that may not.
inline placement replica_on(device_id home, const workload& w, const platform<>& p) {
  placement where(w.num_ops(), home);
  std::vector<kind_set> of_group(w.num_groups(), kind_set::all());
  for (const op_id v : ids(w.num_ops())) {
    if (w.group(v) != none) {
      of_group[w.group(v)] = of_group[w.group(v)] & w.kinds(v);
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    const auto kinds = w.group(v) != none ? of_group[w.group(v)] : w.kinds(v);
    if (kinds.contains(p.kind(home))) {
      continue;
    }
    const auto there = parallel::nearest_device(p, home, [&](device_id d) { return kinds.contains(p.kind(d)); });
    where[v] = there == none ? home : there;
  }
  return where;
}

/// The same for each of these devices.
inline std::vector<placement> replicas_on(const std::vector<device_id>& devices, const workload& w,
                                          const platform<>& p) {
  std::vector<placement> replicas;
  for (const device_id d : devices) {
    replicas.push_back(replica_on(d, w, p));
  }
  return replicas;
}

} // namespace weft::planner
