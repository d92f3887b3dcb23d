// SPDX-License-Identifier: BSL-1.0
/// List scheduling that chooses op and device together: the best of all pairs of a ready op and a device.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/rank_set.hpp"
#include "weft/partition/list/ranking.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/partition/list/sort_by_key.hpp"
#include "weft/schedule/queue_end.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::partition {

/// A list scheduler that takes, again and again, the pair of a ready op and a device with the least **score**: the
/// op's start there, behind everything that was scheduled on the device, plus the `Offset` of the pair. Ties: the op
/// that is first by `Priority` (then topologically first), then the smaller device id.
/// - `Priority`: as for `list_scheduler`; it decides ties, and an offset may use it.
/// - `Offset`: `offset(problem, ranking, op, device, compute_time)` in seconds; `list::no_offset` for 0.
/// - `Slot`: where ops are appended, without insertion.
///
/// Kinds, memory, colocation, slots and sends as in `list_scheduler`; the first member of a colocation group to be
/// taken decides for the group, by its own score.
///
/// How it is fast: a pair's arrival time is fixed once its op is ready, and a device only gets busier. So each device
/// keeps two heaps, of the ops whose inputs are there, by offset, and of the others, by arrival + offset. A pair moves
/// from the second to the first when it comes to the top and the device has become the later one; nothing is ever
/// looked at again but the tops.
/// Complexity: O(devices · (n log n + m)). Memory: schedule_builder's, and up to 24 bytes per ready op and device.
/// Uses no randomness.
template <class Priority, class Offset, class Slot = schedule::queue_end>
struct pair_scheduler {
  [[no_unique_address]] Priority priority{};
  [[no_unique_address]] Offset offset{};

  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    const list::ranking r = priority(p, scratch);
    run<Problem> state{p, r, offset, scratch};
    const op_id failed = state.schedule_all();
    if (failed != none) {
      return state.builder.why_unplaced(failed);
    }
    return std::move(state.builder).decided(scratch);
  }

private:
  using here_queue = std::conditional_t<std::same_as<Offset, list::no_offset>, list::rank_set, list::rank_heap>;

  struct coming_pair {
    double score = 0;
    double arrival = 0;
    std::uint32_t rank = 0;
  };
  struct sooner {
    constexpr bool operator()(const coming_pair& a, const coming_pair& b) const {
      return a.score != b.score ? a.score < b.score : a.rank < b.rank;
    }
  };

  template <class Problem>
  struct run {
    const Problem& p;
    const list::ranking& ranks;
    const Offset& offset;
    list::schedule_builder<Problem, Slot> builder;
    std::vector<op_id> op_of; // by rank
    std::vector<std::uint32_t> rank_of;
    graph::release_counter<> waiting;
    std::vector<std::uint8_t> scheduled;
    buffer<here_queue> here;            // per device: ops whose inputs are there
    buffer<buffer<coming_pair>> coming; // per device: a heap

    constexpr run(const Problem& problem, const list::ranking& r, const Offset& o, workspace& scratch)
        : p{problem}, ranks{r}, offset{o}, builder{problem},
          op_of(problem.topological_order().begin(), problem.topological_order().end()), rank_of(problem.num_ops(), 0),
          waiting{problem.workload()}, scheduled(problem.num_ops(), 0),
          here(problem.num_devices(), here_queue{problem.num_ops()}),
          coming(problem.num_devices()) {
      if (!r.key.empty() && r.key_orders) {
        list::sort_by_key({op_of.data(), op_of.size()}, list::largest_first{r.key}, list::in_given_order{}, scratch);
      }
      for (std::uint32_t i = 0; i < op_of.size(); ++i) {
        rank_of[op_of[i]] = i;
      }
    }

    /// The first op, by rank, that is left over because it fits nowhere, or `none`.
    constexpr op_id schedule_all() {
      waiting.for_each_ready([this](op_id v) { release(v); });
      while (builder.num_scheduled() < p.num_ops()) {
        const auto [v, d] = best_pair();
        if (v == none) {
          break;
        }
        builder.take(v, builder.at(v, d));
        scheduled[v] = 1;
        waiting.finish(p.workload(), v, [this](op_id c) { release(c); });
      }
      for (const op_id v : op_of) {
        if (!scheduled[v] && waiting.is_ready(v)) {
          return v;
        }
      }
      return none;
    }

    constexpr void release(op_id v) {
      builder.rows().begin(v);
      const device_id there = builder.placed().device(v);
      const bool everywhere = there == none && builder.placed().fits_everywhere(v);
      for (const device_id d : ids(p.num_devices())) {
        if (!everywhere && !builder.allows(v, d)) {
          continue;
        }
        const double arrival = builder.rows().arrival(d);
        const double more = offset_of(v, d);
        if (arrival <= builder.available()[d]) {
          here[d].push(more, rank_of[v]);
        } else {
          coming[d].push_back({});
          heap.push(coming[d].data(), coming[d].size() - 1, {arrival + more, arrival, rank_of[v]});
        }
      }
    }

    constexpr double offset_of(op_id v, device_id d) const {
      if constexpr (std::same_as<Offset, list::no_offset>) {
        return 0;
      } else {
        return offset(p, ranks, v, d, p.compute_time(v, d));
      }
    }

    constexpr bool is_past(std::uint32_t rank, device_id d) const {
      const op_id v = op_of[rank];
      return scheduled[v] || !builder.allows(v, d);
    }

    constexpr std::pair<op_id, device_id> best_pair() {
      double least = 0;
      std::uint32_t rank = none;
      device_id device = none;
      const auto offer = [&](double score, std::uint32_t r, device_id d) {
        if (rank == none || score < least || (score == least && r < rank)) {
          least = score;
          rank = r;
          device = d;
        }
      };
      for (const device_id d : ids(p.num_devices())) {
        const double free = builder.available()[d];
        auto& later = coming[d];
        while (!later.empty() && (later[0].arrival <= free || is_past(later[0].rank, d))) {
          const coming_pair top = later[0];
          heap.pop(later.data(), later.size());
          later.pop_back();
          if (!is_past(top.rank, d)) {
            here[d].push(offset_of(op_of[top.rank], d), top.rank);
          }
        }
        while (!here[d].empty() && is_past(here[d].top(), d)) {
          here[d].pop();
        }
        if (!here[d].empty()) {
          offer(free + here[d].key(), here[d].top(), d);
        }
        if (!later.empty()) {
          offer(later[0].score, later[0].rank, d);
        }
      }
      return {rank == none ? none : op_of[rank], device};
    }

    static constexpr heap_operations<coming_pair, sooner> heap{};
  };
};

} // namespace weft::partition
