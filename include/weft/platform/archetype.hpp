// SPDX-License-Identifier: BSL-1.0
/// A type that offers exactly what `device_platform` asks.
#pragma once

#include "weft/platform/concepts.hpp"

namespace weft {

/// Models `device_platform` and nothing beyond it.
struct platform_archetype {
  std::size_t num_devices() const { return 1; }
  device_kind kind(device_id) const { return device_kind::cpu; }
  byte_count memory_capacity(device_id) const { return 0; }
  std::uint32_t slots(device_id) const { return 1; }
};

static_assert(device_platform<platform_archetype>);
static_assert(!platform_parts::has_speeds<platform_archetype> && !platform_parts::has_links<platform_archetype> &&
              !platform_parts::has_routes<platform_archetype> && !platform_parts::has_power<platform_archetype>);

} // namespace weft
