// SPDX-License-Identifier: BSL-1.0
/// The memories of a platform's devices: which devices work in the same one.
#pragma once

#include "weft/core/error.hpp"
#include "weft/platform/concepts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Answers for platforms whose devices may share memories (`memory_of`). A memory goes by the device whose it is.
template <class Platform>
class device_memories {
public:
  /// Throws `value_error` if a device works in the memory of one that has none of its own. Complexity: O(devices).
  constexpr explicit device_memories(const Platform& p) : platform_{&p} {
    if constexpr (requires { p.memory_of(device_id{}); }) {
      for (const device_id d : ids(p.num_devices())) {
        const device_id m = p.memory_of(d);
        if (m >= p.num_devices() || p.memory_of(m) != m) {
          throw value_error("platform: memory_of(" + std::to_string(d) + ")",
                            "must be a device that has memory of its own");
        }
        is_shared_ = is_shared_ || m != d;
      }
    }
  }

  /// Calls f(device) for d and all that work in the same memory. O(1) where no devices share one, else O(devices).
  template <class F>
  constexpr void for_each_sharing(device_id d, F f) const {
    if (!is_shared_) {
      f(d);
      return;
    }
    for (const device_id e : ids(platform_->num_devices())) {
      if (memory_of(*platform_, e) == memory_of(*platform_, d)) {
        f(e);
      }
    }
  }
  /// Takes bytes of what is free in d's memory, which `free[e]` says for each device e that works there; `give` gives
  /// them back. Complexity: as `for_each_sharing`.
  template <class Row>
  constexpr void take(Row& free, device_id d, byte_count bytes) const {
    for_each_sharing(d, [&](device_id e) { free[e] -= bytes; });
  }
  template <class Row>
  constexpr void give(Row& free, device_id d, byte_count bytes) const {
    for_each_sharing(d, [&](device_id e) { free[e] += bytes; });
  }
  /// True if a and b work in one memory, or each has one to itself: then, if these are as large, exchanging what they
  /// hold fits as before. Complexity: as `for_each_sharing`.
  constexpr bool alike(device_id a, device_id b) const {
    const auto is_alone = [this](device_id d) {
      std::size_t count = 0;
      for_each_sharing(d, [&](device_id) { ++count; });
      return count == 1;
    };
    return memory_of(*platform_, a) == memory_of(*platform_, b) || (is_alone(a) && is_alone(b));
  }
  /// The memories that these devices work in, each once. Complexity: O(all devices).
  template <class Devices>
  constexpr std::vector<device_id> of(const Devices& devices) const {
    std::vector<device_id> found;
    std::vector<std::uint8_t> seen(platform_->num_devices(), 0);
    for (const device_id d : devices) {
      if (const device_id m = memory_of(*platform_, d); seen[m] == 0) {
        seen[m] = 1;
        found.push_back(m);
      }
    }
    return found;
  }

private:
  const Platform* platform_;
  bool is_shared_ = false;
};

} // namespace weft
