// SPDX-License-Identifier: BSL-1.0
/// The longest remaining time first.
#pragma once

#include "weft/schedule/concepts.hpp"

namespace weft::schedule {

/// PCT: runs the item with the longest path to a sink first, in time under the placement. An op counts its compute
/// time; a transfer counts its send, the time on the link, and a receive that takes as long as a send on the receiver
/// would (in this rank only; in the run, receiving takes no time).
/// Source: [CP] §2. Complexity: O(n + m) per run and O(log ready) per pick.
/// Choose it for placements that come without an order.
struct path_completion_time {
  template <class Problem>
  constexpr void assign_keys(const context<Problem>& c, std::span<double> keys) const {
    const auto& f = c.flow;
    const auto& p = f.problem();
    f.from_the_end(
      keys, [&](op_id v, double rest) { return rest + f.duration(v); },
      [&](std::uint32_t k, double rest) {
        const transfer& x = f.transfers()[k];
        const double received = x.send_time > 0 ? rest + p.send_time(x.tensor, x.to, x.from) : rest;
        return received + x.transfer_time + x.send_time;
      });
  }
};

} // namespace weft::schedule
