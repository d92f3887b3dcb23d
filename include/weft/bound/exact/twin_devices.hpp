// SPDX-License-Identifier: BSL-1.0
/// Interchangeable devices: those with equal times and links, which a search need not tell apart.
#pragma once

#include "weft/problem.hpp"

#include <cstddef>
#include <vector>

namespace weft::bound::exact {

/// True if exchanging all ops of two of these devices changes nothing: same kind, memory, slots, times and links.
/// Complexity: O(n + tensors · devices).
template <class Problem>
bool interchangeable(const Problem& p, const std::vector<device_id>& devices, device_id a, device_id b) {
  const auto& q = p.platform();
  if (q.kind(a) != q.kind(b) || p.capacity(a) != p.capacity(b) || q.slots(a) != q.slots(b) ||
      !p.memories().alike(a, b)) {
    return false;
  }
  for (const op_id v : ids(p.num_ops())) {
    if (p.compute_time(v, a) != p.compute_time(v, b)) {
      return false;
    }
  }
  const auto same_move = [&](tensor_id t, device_id from, device_id to, device_id from2, device_id to2) {
    return p.transfer_time(t, from, to) == p.transfer_time(t, from2, to2) &&
           p.send_time(t, from, to) == p.send_time(t, from2, to2);
  };
  for (const tensor_id t : ids(p.num_tensors())) {
    if (!same_move(t, a, b, b, a)) {
      return false;
    }
    for (const device_id d : devices) {
      if (d != a && d != b && (!same_move(t, a, d, b, d) || !same_move(t, d, a, d, b))) {
        return false;
      }
    }
  }
  return true;
}

/// Per device, the place of the nearest one before it that is like it, so that going on from there meets all of them;
/// their number if there is none. `all`: these devices and the others that ops may be on.
template <class Problem>
std::vector<std::size_t> twin_devices(const Problem& p, const std::vector<device_id>& devices,
                                      const std::vector<device_id>& all) {
  std::vector<std::size_t> twin(devices.size(), devices.size());
  for (std::size_t i = 1; i < devices.size(); ++i) {
    for (std::size_t j = i; j-- > 0 && twin[i] == devices.size();) {
      if (interchangeable(p, all, devices[j], devices[i])) {
        twin[i] = j;
      }
    }
  }
  return twin;
}
template <class Problem>
std::vector<std::size_t> twin_devices(const Problem& p, const std::vector<device_id>& devices) {
  return twin_devices(p, devices, devices);
}

} // namespace weft::bound::exact
