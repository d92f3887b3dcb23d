// SPDX-License-Identifier: BSL-1.0
/// Memory rules: the senses in which a plan keeps to the memory of its devices.
#pragma once

#include "weft/core/ids.hpp"

#include <cstdint>
#include <limits>

namespace weft {

/// The rule by which a plan fits into memory; docs/memory.md compares the two.
enum class memory_rule : std::uint8_t {
  reserved,  ///< what components demand (`problem::demand`) fits on their device; holds for every order and policy
  over_time, ///< what is alive on a device fits at each moment of the plan's run
};

/// The whole bytes of a number that is not negative, at most as many as a `byte_count` holds.
constexpr byte_count whole_bytes(double bytes) {
  return bytes < 0x1p64 ? static_cast<byte_count>(bytes) : std::numeric_limits<byte_count>::max();
}

/// The memory that a plan may use.
struct memory_limit {
  memory_rule rule = memory_rule::reserved;
  double capacity_share = 1; ///< over time: of the capacity of each device; above 0, at most 1

  /// The bytes that a device of that capacity may hold at a time.
  constexpr byte_count of(byte_count capacity) const {
    return capacity_share == 1 ? capacity : whole_bytes(static_cast<double>(capacity) * capacity_share);
  }
};

} // namespace weft
