// SPDX-License-Identifier: BSL-1.0
/// The moments at which the memory of all moments is decided: those where a maximal set of ops is live.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/shard/variant_problem.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::shard::detail {

/// The moments [begin, end) during which something is live.
struct moment_range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool empty() const { return begin == end; }
  friend bool operator==(const moment_range&, const moment_range&) = default;
};

/// A moment is kept for each run of begins that is followed by an end: whatever is live at another time is live at one
/// of these, too.
struct moments {
  buffer<moment_range> of; ///< by op
  std::uint32_t count = 0;

  /// Complexity: O(ops log ops).
  explicit moments(const variant_problem& p) : of(p.num_ops()) {
    struct event {
      std::int64_t at;
      bool begins;
      op_id op;
    };
    buffer<event> events;
    for (const op_id v : ids(p.num_ops())) {
      if (!p.live(v).empty()) {
        events.push_back({p.live(v).begin, true, v});
        events.push_back({p.live(v).end, false, v});
      }
    }
    weft::sort(events, [](const event& a, const event& b) {
      return a.at != b.at ? a.at < b.at : a.begins != b.begins ? b.begins : a.op < b.op; // ends first
    });
    bool grown = false;
    for (const auto& e : events) {
      if (!e.begins && grown) {
        ++count;
      }
      grown = e.begins;
      (e.begins ? of[e.op].begin : of[e.op].end) = count;
    }
  }
};

} // namespace weft::shard::detail
