// SPDX-License-Identifier: BSL-1.0
/// Instructions of a device that runs a plan: ops, and messages to and from other devices, one after another.
#pragma once

#include "weft/core/ids.hpp"

#include <cstdint>

namespace weft {

/// One instruction of a device's program. Only `run` takes long and only `wait` waits.
struct instruction {
  enum class kind : std::uint8_t {
    run,     ///< compute op `id`; its outputs take their memory now
    send,    ///< begin to send message `id`, whose tensor is there
    receive, ///< take memory for message `id` and be ready for it
    wait,    ///< go on when message `id` has arrived, or, on the device that sends it, need not be kept any longer
    free,    ///< the memory of buffer `id` is free again
  };
  kind what = kind::run;
  std::uint32_t id = none;
  friend constexpr bool operator==(const instruction&, const instruction&) = default;
};

/// A tensor on its way to another device, which gets it once however many ops there read it.
struct message {
  tensor_id tensor = none;
  device_id from = none;
  device_id to = none;
  std::uint32_t tag = 0;    ///< counts the messages between these two, from 0
  std::uint32_t source = 0; ///< the buffer that it is sent from
  std::uint32_t target = 0; ///< the buffer that it is received in
  byte_count bytes = 0;
  friend constexpr bool operator==(const message&, const message&) = default;
};

} // namespace weft
