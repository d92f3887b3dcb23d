// SPDX-License-Identifier: BSL-1.0
/// Random heterogeneous platforms.
#pragma once

#include "weft/core/random.hpp"
#include "weft/platform/platform.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::generate {

/// Options of random platforms. The defaults are those of the critical-path paper's generator ([CP], class
/// DeviceConfig of its published code): fast devices have little memory.
struct heterogeneous_options {
  std::uint32_t devices = 50;
  std::uint32_t min_speed = 10; ///< work units per second, drawn uniformly
  std::uint32_t max_speed = 100;
  std::uint32_t min_bandwidth = 10; ///< bytes per second, drawn uniformly per pair of devices, both directions
  std::uint32_t max_bandwidth = 60;
  std::uint64_t memory_times_speed = 1'000'000'000; ///< memory in bytes = this / speed, rounded down
  double gpu_share = 0.4;                           ///< probability that a device is a GPU; else it is a CPU
  double send_work = 10;                            ///< work units that the sender pays per transfer
};

/// A random platform, its devices named `cpu0`, `gpu1`, … by kind and id. The same options and seed give the same
/// platform everywhere. Throws `value_error` for options that are out of range. Complexity: O(devices²).
inline platform<> heterogeneous(const heterogeneous_options& o = {}, std::uint64_t seed = 0) {
  if (o.min_speed == 0 || o.min_speed > o.max_speed || o.min_bandwidth == 0 || o.min_bandwidth > o.max_bandwidth) {
    throw value_error("generator options of a platform", "speeds and bandwidths need 0 < smallest <= largest");
  }
  if (o.devices == 0 || !(o.gpu_share >= 0 && o.gpu_share <= 1)) {
    throw value_error("generator options of a platform", "needs at least one device and a gpu_share from 0 to 1");
  }
  rng random{seed};
  std::vector<device> devices;
  std::vector<std::string> names;
  for (const device_id d : ids(o.devices)) {
    const auto speed = static_cast<std::uint32_t>(random.between(o.min_speed, o.max_speed));
    const auto kind = random.uniform() < o.gpu_share ? device_kind::gpu : device_kind::cpu;
    devices.push_back({.kind = kind,
                       .speed = speed * 1.0,
                       .memory_capacity = o.memory_times_speed / speed,
                       .reached_rates = true});
    names.push_back(to_string(kind) + std::to_string(d));
  }
  link_matrix links{o.devices};
  for (const device_id a : ids(o.devices)) {
    for (device_id b = a + 1; b < o.devices; ++b) {
      links.connect(a, b, {.bandwidth = static_cast<double>(random.between(o.min_bandwidth, o.max_bandwidth))});
    }
  }
  platform<> made{std::move(devices), std::move(links), o.send_work};
  made.set_names(std::move(names));
  return made;
}

} // namespace weft::generate
