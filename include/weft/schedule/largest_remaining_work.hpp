// SPDX-License-Identifier: BSL-1.0
/// The most remaining work first.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/schedule/concepts.hpp"

#include <algorithm>

namespace weft::schedule {

/// The item from which the path with the most work leads to a sink, in work units, wherever the ops are placed. A
/// send counts as much as the best of the consumers that it reaches.
/// Source: [CP] §2. Complexity: O(n + m) per run and O(log ready) per pick.
/// Choose it to compare: what is it worth that `path_completion_time` knows the placement?
struct largest_remaining_work {
  template <class Problem>
  constexpr void assign_keys(const context<Problem>& c, std::span<double> keys) const {
    const auto& f = c.flow;
    const auto& w = f.problem().workload();
    for (const op_id v : reversed(f.problem().topological_order())) {
      double rest = 0;
      for (const tensor_id t : w.outputs(v)) {
        for (const op_id u : f.local_consumers(t)) {
          rest = std::max(rest, keys[u]);
        }
        for (const std::uint32_t k : f.transfers_of(t)) {
          double key = 0;
          for (const op_id u : f.consumers_of_transfer(k)) {
            key = std::max(key, keys[u]);
          }
          keys[f.send_of(k)] = key;
          rest = std::max(rest, key);
        }
      }
      keys[v] = rest + w.work(v);
    }
  }
};

} // namespace weft::schedule
