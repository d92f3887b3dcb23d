// SPDX-License-Identifier: BSL-1.0
/// A memory shortage: the device and moment at which a run needs more memory than there is, and what fills it.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/readable.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The moment at which a run holds most on a device that cannot hold as much.
struct memory_shortage {
  /// A tensor that is there at that moment.
  struct live_tensor {
    tensor_id tensor = none;
    op_id producer = none;
    byte_count bytes = 0;
    op_id keeper = none; ///< the op there that needs it last; `none`: a send or nothing does
    bool received = false; ///< whether it is a copy of what another device made
    friend constexpr bool operator==(const live_tensor&, const live_tensor&) = default;
  };

  device_id device = none;
  double time = 0;         ///< seconds: the first moment at which the device holds as much as `peak`
  byte_count peak = 0;     ///< bytes held then
  byte_count capacity = 0; ///< bytes that it can hold
  byte_count resident = 0; ///< of the peak, what the ops of the device hold all the time
  std::vector<live_tensor> alive = {}; ///< of the peak, the rest: largest first, ties by id

  constexpr byte_count excess() const { return peak - capacity; }
};

namespace detail {

/// `op 3 'loss'`, or `op 3` if the name is empty.
inline std::string numbered_name(const char* what, std::uint32_t id, std::string_view name) {
  return what + std::to_string(id) + (name.empty() ? "" : " '" + std::string{name} + "'");
}

} // namespace detail

/// The shortage on one line, and below it the `most` largest tensors, a line each. `memory` says what is short, such as
/// `the memory that cpu and gpu0 share`; `op_name(v)` may return empty names.
template <class OpName>
std::string about_shortage(const memory_shortage& s, const std::string& memory, OpName op_name, std::size_t most = 10) {
  using detail::numbered_name;
  byte_count tensors = 0;
  for (const auto& t : s.alive) {
    tensors += t.bytes;
  }
  std::string text = memory + " lacks " + readable_bytes(s.excess()) +
                     " at " + readable_number(s.time) + " s: it needs " + readable_bytes(s.peak) + " and has " +
                     readable_bytes(s.capacity) + "; " + readable_bytes(s.resident) + " are resident and " +
                     readable_bytes(tensors) + " are " + std::to_string(s.alive.size()) +
                     (s.alive.size() == 1 ? " tensor" : " tensors");
  for (std::size_t i = 0; i < std::min(most, s.alive.size()); ++i) {
    const auto& t = s.alive[i];
    text += "\n  " + readable_bytes(t.bytes) + "  " + (t.received ? "a copy of what " : "made by ") +
            numbered_name("op ", t.producer, op_name(t.producer)) + (t.received ? " made" : "") +
            (t.keeper == none ? "" : ", kept for " + numbered_name("op ", t.keeper, op_name(t.keeper)));
  }
  if (s.alive.size() > most) {
    text += "\n  and " + std::to_string(s.alive.size() - most) + " smaller ones";
  }
  return text;
}

/// The same of the device's memory. `device_name(d)` may return empty names, too.
template <class OpName, class DeviceName>
std::string to_string(const memory_shortage& s, OpName op_name, DeviceName device_name, std::size_t most = 10) {
  return about_shortage(s, detail::numbered_name("device ", s.device, device_name(s.device)), op_name, most);
}

/// The same with ids only.
inline std::string to_string(const memory_shortage& s, std::size_t most = 10) {
  const auto nameless = [](std::uint32_t) { return std::string_view{}; };
  return to_string(s, nameless, nameless, most);
}

} // namespace weft
