// SPDX-License-Identifier: BSL-1.0
/// Each op's successors spread over the devices.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/importance.hpp"

#include <algorithm>
#include <vector>

namespace weft::partition {

/// Visits the graph breadth-first. An op's unplaced successors, in descending remaining work (ties: the random order of
/// the seed), are distributed round-robin, starting at the op's own device. The sources are distributed first, starting
/// at device 0. A device that does not fit is skipped for the next one.
/// Departs: the published code keeps adding to one list and distributes it again for each op. Here each op's successors
/// are distributed once.
/// Source: [CP] §3. Complexity: O((n + m) log n + components·devices) at worst.
/// Choose it to compare with [CP]: it spreads successors however expensive their transfers are.
struct divide_successors {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng& random, workspace& scratch) const {
    const auto& w = p.workload();
    assignment a{p};
    const auto down = work_to_sink(p);
    const auto tie = random_ranks(p, random, scratch);
    const auto k = static_cast<device_id>(p.num_devices());
    auto queued = scratch.take<std::uint8_t>(p.num_ops());
    std::vector<op_id> queue;
    queue.reserve(p.num_ops());
    std::vector<op_id> hand;
    for (const op_id v : ids(p.num_ops())) {
      if (std::ranges::empty(w.inputs(v))) {
        hand.push_back(v);
      }
    }
    device_id start = 0;
    for (std::size_t next = 0;; ++next) {
      weft::sort(hand,
                [&](op_id u, op_id v) { return down[u] != down[v] ? down[u] > down[v] : tie[u] < tie[v]; });
      device_id target = start;
      for (const op_id v : hand) {
        if (const component_id c = p.component(v); !a.is_placed(c)) {
          const device_id d = a.first_fit(c, target);
          if (d == none) {
            return a.why_unplaced(c);
          }
          a.place(c, d);
          for (const op_id member : p.members(c)) {
            queue.push_back(member);
          }
          target = target + 1 == k ? 0 : target + 1;
        }
      }
      if (next == queue.size()) {
        return std::move(a).take();
      }
      hand.clear();
      start = a.device(queue[next]);
      graph::for_each_successor(w, queue[next], [&](op_id c) {
        if (!queued[c]) {
          queued[c] = 1;
          hand.push_back(c);
        }
      });
    }
  }
};

} // namespace weft::partition
