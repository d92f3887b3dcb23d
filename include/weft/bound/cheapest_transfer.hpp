// SPDX-License-Identifier: BSL-1.0
/// The least time that a tensor needs between two different devices, whichever they are.
#pragma once

#include "weft/problem.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::bound {

/// For each tensor, a lower bound on send plus transfer time between any two different devices of those given, in
/// seconds; infinite if there is no second one. Complexity: O(devices² + tensors) if transfers are lines. For other
/// models, every pair is asked for every tensor, unless that is more than a million pairs: then transfers are taken to
/// be free.
template <class W, class P, class C>
constexpr std::vector<double> cheapest_transfers(const problem<W, P, C>& p, const std::vector<device_id>& devices) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> least(p.num_tensors(), 0.0);
  if (devices.size() < 2 || least.empty()) {
    least.assign(least.size(), infinity);
    return least;
  }
  if constexpr (problem<W, P, C>::sends_by_bytes) {
    if (p.has_lines()) {
      double fixed = infinity, fixed_of_message = infinity;
      double bandwidth = 0;
      for (const device_id from : devices) {
        const double send = p.send_overhead(from), send_of_message = p.send_overhead(from, true);
        for (const device_id to : devices) {
          if (to != from) {
            const auto line = p.transfer_line(from, to);
            fixed = std::min<double>(fixed, send + line.latency());
            fixed_of_message = std::min<double>(fixed_of_message, send_of_message + line.latency());
            bandwidth = std::max<double>(bandwidth, line.bandwidth());
          }
        }
      }
      for (const tensor_id t : ids(least.size())) {
        least[t] = (is_message(p.workload(), t) ? fixed_of_message : fixed) +
                   static_cast<double>(p.workload().bytes(t)) / bandwidth;
      }
      return least;
    }
  }
  if (least.size() <= std::size_t{1'000'000} / devices.size() / devices.size()) {
    for (const tensor_id t : ids(least.size())) {
      least[t] = infinity;
      for (const device_id from : devices) {
        for (const device_id to : devices) {
          if (to != from) {
            least[t] = std::min<double>(least[t], p.send_time(t, from, to) + p.transfer_time(t, from, to));
          }
        }
      }
    }
  }
  return least;
}

/// The same between all devices of the platform.
template <class W, class P, class C>
constexpr std::vector<double> cheapest_transfers(const problem<W, P, C>& p) {
  std::vector<device_id> all;
  for (const device_id d : ids(p.num_devices())) {
    all.push_back(d);
  }
  return cheapest_transfers(p, all);
}

} // namespace weft::bound
