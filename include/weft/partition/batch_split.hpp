// SPDX-License-Identifier: BSL-1.0
/// Equal batches of ops in order of importance.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/importance.hpp"

#include <algorithm>
#include <numeric>

namespace weft::partition {

/// Sorts the ops by importance, descending (ties: ascending id), and gives the op at position i to device `floor(i / (n
/// / k))`, with its whole component. If that does not fit, it goes to the next device that does, wrapping around. The
/// division is in single precision, as in the published code, because it decides where batches end.
/// Source: [CP] §3. Complexity: O(n log n + m + components·devices) at worst. Uses no randomness.
/// Choose it to compare with [CP]: it places ops as the published code does. It ignores speeds and transfers.
struct batch_split {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng&, workspace& scratch) const {
    assignment a{p};
    const auto imp = importance(p);
    auto sequence = scratch.take<op_id>(p.num_ops());
    std::iota(sequence.begin(), sequence.end(), 0u);
    weft::sort(sequence,
              [&](op_id u, op_id v) { return imp[u] != imp[v] ? imp[u] > imp[v] : u < v; });
    const auto k = static_cast<device_id>(p.num_devices());
    const float ops_per_device = static_cast<float>(p.num_ops()) / static_cast<float>(k);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const component_id c = p.component(sequence[i]);
      if (a.is_placed(c)) {
        continue;
      }
      const auto first = static_cast<device_id>(static_cast<float>(i) / ops_per_device);
      const device_id d = a.first_fit(c, std::min(first, k - 1)); // rounding may reach k for the last op
      if (d == none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    return std::move(a).take();
  }
};

} // namespace weft::partition
