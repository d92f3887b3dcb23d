// SPDX-License-Identifier: BSL-1.0
/// List scheduling that compares the ready ops by their best and second best completion times.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/schedule/queue_end.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::partition {

/// Of the ready ops, the one with the largest `Preference` goes next to the device where it is complete first, without
/// insertion. `preference(best, second)` is given its two earliest completion times on different devices; `second` is
/// infinite if only one takes it. Ties: topologically first; devices: the smaller id.
///
/// Kinds, memory, colocation, slots and sends as in `list_scheduler`. The preferences of an op are computed when it
/// becomes ready, and anew when one of its two best devices gets busier or can no longer take it.
/// Complexity: O(n · ready ops + devices · updates), with at most ready ops updates per step. Uses no randomness.
template <class Preference, class Slot = schedule::queue_end>
struct batch_scheduler {
  [[no_unique_address]] Preference preference{};

  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    const auto& w = p.workload();
    list::schedule_builder<Problem, Slot> b{p};
    graph::release_counter waiting{w, scratch.template take<std::uint32_t>()};
    auto position = scratch.template take<std::uint32_t>(p.num_ops());
    buffer<candidate> ready;
    std::uint32_t number = 0;
    for (const op_id v : p.topological_order()) {
      position[v] = number++;
    }
    waiting.for_each_ready([&](op_id v) { ready.push_back(look_at(b, v)); });
    while (!ready.empty()) {
      std::size_t chosen = 0;
      for (std::size_t i = 1; i < ready.size(); ++i) {
        if (ready[i].value > ready[chosen].value ||
            (ready[i].value == ready[chosen].value && position[ready[i].op] < position[ready[chosen].op])) {
          chosen = i;
        }
      }
      const candidate c = ready[chosen];
      if (c.best == none) {
        return b.why_unplaced(c.op);
      }
      ready[chosen] = ready.back();
      ready.pop_back();
      b.take(c.op, b.at(c.op, c.best));
      const auto may_change = [&](device_id d) { return d != none && p.memory_of(d) == p.memory_of(c.best); };
      for (candidate& r : ready) {
        const device_id there = b.placed().device(r.op);
        if (may_change(r.best) || may_change(r.second) || (there != none && (r.best != there || r.second != none))) {
          r = look_at(b, r.op);
        }
      }
      waiting.finish(w, c.op, [&](op_id u) { ready.push_back(look_at(b, u)); });
    }
    return std::move(b).decided(scratch);
  }

private:
  struct candidate {
    op_id op = none;
    device_id best = none;
    device_id second = none;
    double value = 0;
  };

  template <class Builder>
  constexpr candidate look_at(Builder& b, op_id v) const {
    constexpr double infinity = Builder::infinity;
    candidate c{.op = v};
    double best = infinity;
    double second = infinity;
    for (const device_id d : ids(b.problem().num_devices())) {
      if (!b.allows(v, d)) {
        continue;
      }
      const double finish = b.at(v, d).finish;
      if (finish < best) {
        second = std::exchange(best, finish);
        c.second = std::exchange(c.best, d);
      } else if (finish < second) {
        second = finish;
        c.second = d;
      }
    }
    c.value = c.best == none ? infinity : preference(best, second);
    return c;
  }
};

} // namespace weft::partition
