// SPDX-License-Identifier: BSL-1.0
/// The most remaining work first.
#pragma once

#include "weft/schedule/concepts.hpp"

namespace weft::schedule {

/// Runs the item with the most work on a path to a sink first, in work units, wherever the ops are placed. A send
/// counts as much as the best of the consumers that it reaches.
/// Source: [CP] §2. Complexity: O(n + m) per run and O(log ready) per pick.
/// Choose it to compare with `path_completion_time`, which takes the placement into account.
struct largest_remaining_work {
  template <class Problem>
  constexpr void assign_keys(const context<Problem>& c, std::span<double> keys) const {
    const auto& w = c.flow.problem().workload();
    c.flow.from_the_end(
      keys, [&](op_id v, double rest) { return rest + w.work(v); }, [](std::uint32_t, double rest) { return rest; });
  }
};

} // namespace weft::schedule
