// SPDX-License-Identifier: BSL-1.0
/// Fast load balancing: the earliest start of two candidates.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/choice.hpp"
#include "weft/partition/list/ranking.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/schedule/queue_end.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::partition {

/// FLB: schedules the ready op with the earliest start, of two candidates only. An op's **enabling device** makes the
/// input that would arrive last on any other device. If that device is busy until the message has arrived elsewhere,
/// the op may as well run on another device. The first candidate is, among such ops, the one whose last message arrives
/// first, on the device that is free first. The second is, among the other ops, the one that starts first on its own
/// enabling device. The earlier start goes next, without insertion; ties: the first candidate. Ties within: the larger
/// upward rank, then topologically first; devices: the smaller id.
///
/// Kinds, memory, colocation, slots and sends as in `list_scheduler`. An op that does not fit its candidate device goes
/// to the fitting device where it starts first. Mean transfer times decide when a message arrives on another device;
/// start times are exact.
/// Departs: devices are scanned instead of kept in heaps: O(devices) instead of O(log devices) per op.
/// Source: Radulescu, van Gemund, ICPP 1999. Complexity: O(n · (devices + log n) + m). Uses no randomness.
/// Choose it for many identical devices and little planning time: it tries two pairs per step.
struct flb {
  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    run<Problem> state{p};
    graph::release_counter waiting{p.workload(), scratch.template take<std::uint32_t>()};
    const auto release = [&](op_id v) { state.release(v); };
    waiting.for_each_ready(release);
    while (state.builder.num_scheduled() < p.num_ops()) {
      const op_id v = state.schedule_next();
      if (!state.builder.is_scheduled(v)) {
        return state.builder.why_unplaced(v);
      }
      waiting.finish(p.workload(), v, release);
    }
    return std::move(state.builder).decided(scratch);
  }

private:
  struct entry {
    double key = 0;     // what comes first: the arrival on the enabling device, or of the last message elsewhere
    double rank = 0;    // upward
    double message = 0; // when the last message arrives elsewhere
    std::uint32_t position = 0;
    op_id op = none;
  };
  struct before {
    constexpr bool operator()(const entry& a, const entry& b) const {
      return a.key != b.key ? a.key < b.key : a.rank != b.rank ? a.rank > b.rank : a.position < b.position;
    }
  };
  class queue {
  public:
    constexpr bool empty() const { return entries_.empty(); }
    constexpr const entry& top() const { return entries_[0]; }
    constexpr void push(const entry& e) {
      entries_.push_back({});
      heap_.push(entries_.data(), entries_.size() - 1, e);
    }
    constexpr entry pop() {
      const entry e = entries_[0];
      heap_.pop(entries_.data(), entries_.size());
      entries_.pop_back();
      return e;
    }

  private:
    static constexpr heap_operations<entry, before> heap_{};
    buffer<entry> entries_;
  };

  template <class Problem>
  struct run {
    const Problem& p;
    list::schedule_builder<Problem, schedule::queue_end> builder;
    list::mean_costs<Problem> mean;
    std::vector<double> rank;
    std::vector<std::uint32_t> position;
    queue anywhere;            // by the last message
    std::vector<queue> bound;  // per enabling device, by the arrival there
    std::vector<queue> expiry; // per enabling device the same ops, by the last message

    constexpr explicit run(const Problem& problem)
        : p{problem}, builder{problem}, mean{problem}, rank{list::upward_ranks(problem)},
          position(problem.num_ops(), 0), bound(problem.num_devices(), queue{}),
          expiry(problem.num_devices(), queue{}) {
      std::uint32_t number = 0;
      for (const op_id v : p.topological_order()) {
        position[v] = number++;
      }
    }

    constexpr void release(op_id v) {
      device_id enabling = none;
      double message = 0;
      graph::for_each_predecessor(p.workload(), v, [&](op_id u, const flow_edge& e) {
        const double arrival = builder.times(u).finish + mean.transfer(e.tensor);
        if (enabling == none || arrival > message) {
          enabling = builder.placed().device(u);
          message = arrival;
        }
      });
      entry e{message, rank[v], message, position[v], v};
      if (enabling == none || builder.available()[enabling] > message) {
        anywhere.push(e);
        return;
      }
      expiry[enabling].push(e);
      e.key = builder.rows().arrival(v, enabling);
      bound[enabling].push(e);
    }

    /// Returns the op whose turn it was; it is not scheduled if it fits nowhere.
    constexpr op_id schedule_next() {
      device_id idle = 0;
      device_id enabling = none;
      double start = 0;
      for (const device_id d : ids(p.num_devices())) {
        const double free = builder.available()[d];
        idle = free < builder.available()[idle] ? d : idle;
        settle(d);
        if (!bound[d].empty() && (enabling == none || std::max(bound[d].top().key, free) < start)) {
          enabling = d;
          start = std::max(bound[d].top().key, free);
        }
      }
      while (!anywhere.empty() && builder.is_scheduled(anywhere.top().op)) {
        anywhere.pop();
      }
      if (!anywhere.empty()) {
        const op_id v = anywhere.top().op;
        const double there = std::max(builder.available()[idle], builder.rows().arrival(v, idle));
        if (enabling == none || there <= start) {
          anywhere.pop();
          return schedule(v, idle), v;
        }
      }
      const op_id v = bound[enabling].pop().op;
      return schedule(v, enabling), v;
    }

    /// Ops whose enabling device is busy until their last message is there may go anywhere from now on.
    constexpr void settle(device_id d) {
      while (!expiry[d].empty() && (builder.is_scheduled(expiry[d].top().op) ||
                                    expiry[d].top().message < builder.available()[d])) {
        const entry e = expiry[d].pop();
        if (!builder.is_scheduled(e.op)) {
          anywhere.push(e);
        }
      }
      while (!bound[d].empty() && (builder.is_scheduled(bound[d].top().op) ||
                                   bound[d].top().message < builder.available()[d])) {
        bound[d].pop();
      }
    }

    constexpr void schedule(op_id v, device_id d) {
      const list::option o = builder.allows(v, d) ? builder.at(v, d) : builder.best(v, list::start_time{}, {}, 0);
      if (o.device != none) {
        builder.take(v, o);
      }
    }
  };
};

} // namespace weft::partition
