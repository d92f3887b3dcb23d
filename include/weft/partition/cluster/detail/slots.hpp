// SPDX-License-Identifier: BSL-1.0
/// The busy times of all slots of all devices while a schedule is being built.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/timeline.hpp"

#include <cstddef>

namespace weft::partition::cluster::detail {

/// Finds and books gaps. Slots that were never used take no memory.
template <class Problem>
class slots {
public:
  constexpr explicit slots(const Problem& p) : p_{&p}, used_(p.num_devices()) {}

  /// The earliest start, not before `ready`, of a gap of `duration` seconds on d. O(slots in use), plus the gaps passed.
  constexpr double earliest(device_id d, double ready, double duration) { return find(d, ready, duration).start; }

  /// Books the earliest gap and returns its start.
  constexpr double book(device_id d, double ready, double duration) {
    const gap g = find(d, ready, duration);
    if (g.slot == used_[d].size()) {
      used_[d].push_back({});
    }
    used_[d][g.slot].reserve(g.start, g.start + duration);
    return g.start;
  }

private:
  struct gap {
    std::size_t slot; ///< of the device
    double start;
  };

  constexpr gap find(device_id d, double ready, double duration) {
    auto& used = used_[d];
    gap best{used.size(), ready};
    if (used.size() == p_->platform().slots(d)) {
      best = {0, used[0].earliest_gap(ready, duration)};
    }
    for (std::size_t s = 0; s < used.size(); ++s) {
      const double start = used[s].earliest_gap(ready, duration);
      if (start < best.start || (start == best.start && s < best.slot)) {
        best = {s, start};
      }
    }
    return best;
  }

  const Problem* p_;
  buffer<buffer<schedule::timeline>> used_; // per device
};

} // namespace weft::partition::cluster::detail
