// SPDX-License-Identifier: BSL-1.0
/// The least time that a tensor needs between two different devices, whichever they are.
#pragma once

#include "weft/bound/detail/relaxation.hpp"
#include "weft/cost/linear.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace weft::bound::detail {

/// Whether C computes send and transfer times as `cost::link_transfers` does, that is, inherits both functions and
/// hides neither. Such times are a constant plus bytes / bandwidth for each pair of devices.
template <class C, class W, class P>
concept moves_over_links = platform_parts::has_links<P> && requires {
  requires std::is_same_v<decltype(&C::template transfer_time<W, P>),
                          double (cost::link_transfers::*)(const W&, tensor_id, const P&, device_id, device_id) const>;
  requires std::is_same_v<decltype(&C::template send_time<W, P>),
                          double (cost::link_transfers::*)(const W&, tensor_id, const P&, device_id, device_id) const>;
};

/// For each tensor, a lower bound on send plus transfer time between any two different devices, in seconds;
/// infinite if there is one device only.
/// Over links: O(devices² + tensors). For other models, every pair is asked for every tensor, unless that is more
/// than a million pairs: then transfers are taken to be free.
template <class W, class P, class C>
constexpr std::vector<double> cheapest_transfers(const problem<W, P, C>& p) {
  const auto num_devices = static_cast<device_id>(p.num_devices());
  std::vector<double> least(p.num_tensors(), 0.0);
  if (num_devices < 2 || least.empty()) {
    least.assign(least.size(), infinity);
    return least;
  }
  if constexpr (moves_over_links<C, W, P>) {
    double fixed = infinity;
    double bandwidth = 0;
    for (device_id from = 0; from < num_devices; ++from) {
      const double send = p.send_time(0, from, from == 0 ? 1 : 0);
      for (device_id to = 0; to < num_devices; ++to) {
        if (to != from) {
          fixed = std::min<double>(fixed, send + p.platform().latency(from, to));
          bandwidth = std::max<double>(bandwidth, p.platform().bandwidth(from, to));
        }
      }
    }
    for (const tensor_id t : ids(least.size())) {
      least[t] = fixed + static_cast<double>(p.workload().bytes(t)) / bandwidth;
    }
  } else if (least.size() <= std::size_t{1'000'000} / num_devices / num_devices) {
    for (const tensor_id t : ids(least.size())) {
      least[t] = infinity;
      for (device_id from = 0; from < num_devices; ++from) {
        for (device_id to = 0; to < num_devices; ++to) {
          if (to != from) {
            least[t] = std::min<double>(least[t], p.send_time(t, from, to) + p.transfer_time(t, from, to));
          }
        }
      }
    }
  }
  return least;
}

} // namespace weft::bound::detail
