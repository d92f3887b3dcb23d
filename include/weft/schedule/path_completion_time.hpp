// SPDX-License-Identifier: BSL-1.0
/// The longest remaining time first.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/schedule/concepts.hpp"

#include <algorithm>

namespace weft::schedule {

/// PCT: the item from which the longest path in time leads to a sink, under the placement. An op counts its compute
/// time; a transfer its send, the time on the link, and a receive that costs as much as a send would on the receiver
/// (the receive counts in this rank only; in the run, receiving is free).
/// Source: [CP] §2. Complexity: O(n + m) per run and O(log ready) per pick.
/// Choose it for placements that come without an order.
struct path_completion_time {
  template <class Problem>
  constexpr void assign_keys(const context<Problem>& c, std::span<double> keys) const {
    const auto& f = c.flow;
    const auto& p = f.problem();
    for (const op_id v : reversed(p.topological_order())) {
      double rest = 0;
      for (const tensor_id t : p.workload().outputs(v)) {
        for (const op_id u : f.local_consumers(t)) {
          rest = std::max(rest, keys[u]);
        }
        for (const std::uint32_t k : f.transfers_of(t)) {
          const transfer& x = f.transfers()[k];
          double key = 0;
          for (const op_id u : f.consumers_of_transfer(k)) {
            key = std::max(key, keys[u]);
          }
          if (x.send_time > 0) {
            key += p.send_time(t, x.to, x.from);
          }
          key = key + x.transfer_time + x.send_time;
          keys[f.send_of(k)] = key;
          rest = std::max(rest, key);
        }
      }
      keys[v] = rest + f.duration(v);
    }
  }
};

} // namespace weft::schedule
