// SPDX-License-Identifier: BSL-1.0
/// The kernel of list scheduling: op by op in the order of a priority, each to the device that a choice prefers.
#pragma once

#include "weft/core/heap.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/choice.hpp"
#include "weft/partition/list/ranking.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/partition/list/sort_by_key.hpp"
#include "weft/schedule/queue_end.hpp"
#include "weft/schedule/timeline.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace weft::partition {

/// A list scheduler made of policies:
/// - `Priority`: `priority(problem, scratch)` returns a `list::ranking`. If its keys never rise along an edge
///   (`falls_along_edges`), the ops are sorted once; else the largest key among the ready ops comes next. Ties:
///   topologically first.
/// - `Choice`: `choice(builder, op, ranking, group_weight)` returns the `list::option` to take, without a device if
///   nothing fits; `list::least<…>` for the device where something is least.
/// - `Slot`: `schedule::timeline` to insert ops into gaps, `schedule::queue_end` to append.
/// - `Path`: how times are looked up; changes no plan.
/// - `Network`: what is known of the network on which the plan will run, see `on`.
///
/// Returns the order that it planned, too, for `schedule::static_order`. Beyond the literature that it serves: a tensor
/// is sent to a device once and arrives a send and a transfer after its producer finished; devices have slots; an op
/// goes only where its component fits, by reservation (`assignment::fits`); the first member of a colocation group
/// decides for the whole group, which is why `group_weight` times the other members' compute time on a device counts
/// against it.
///
/// Complexity: the priority's, plus O(n log n) to order (O(n) for keys that spread evenly), plus the choice's for each
/// op, plus the gaps passed. Uses no randomness.
template <class Priority, class Choice, class Slot = schedule::timeline,
          list::row_path Path = list::row_path::automatic, class Network = list::no_network>
struct list_scheduler {
  [[no_unique_address]] Priority priority{};
  [[no_unique_address]] Choice choice{};
  double group_weight = 1; ///< share of a group's other work that counts when its first member chooses
  [[no_unique_address]] Network network{}; ///< the network on which the plan will run, see `on`

  /// The same for runs on a network: transfers are booked on what they share there, and arrive when that is free.
  /// ```
  /// partition::heft{}.on(simulate::fair_sharing{})
  /// ```
  /// Priorities are those without contention.
  template <class N>
  constexpr list_scheduler<Priority, Choice, Slot, Path, N> on(N shared) const {
    return {priority, choice, group_weight, std::move(shared)};
  }

  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    const list::ranking r = priority(p, scratch);
    list::schedule_builder<Problem, Slot, Path, decltype(network.bookings_for(p))> b{p, network.bookings_for(p)};
    const op_id failed = Priority::falls_along_edges || r.key.empty() ? in_list_order(b, r, scratch)
                                                                      : in_ready_order(b, r, scratch);
    if (failed != none) {
      return b.why_unplaced(failed);
    }
    return std::move(b).decided(scratch);
  }

private:
  template <class Builder>
  constexpr bool schedule(Builder& b, op_id v, const list::ranking& r) const {
    const list::option o = choice(b, v, r, group_weight);
    if (o.device == none) {
      return false;
    }
    b.take(v, o);
    return true;
  }

  /// The op that fits nowhere, or `none`.
  template <class Builder>
  constexpr op_id in_list_order(Builder& b, const list::ranking& r, workspace& scratch) const {
    const auto topological = b.problem().topological_order();
    auto sequence = scratch.template take<op_id>(topological.size());
    std::copy(topological.begin(), topological.end(), sequence.begin());
    if (!r.key.empty()) {
      const std::span<op_id> all{sequence.begin(), sequence.size()};
      list::sort_by_key(all, list::largest_first{r.key}, list::in_given_order{}, scratch);
    }
    constexpr std::size_t ahead = 16; // what comes soon is fetched from memory meanwhile
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      if (i % ahead == 0 && i + 3 * ahead <= sequence.size()) {
        b.rows().prefetch({&sequence[i + 2 * ahead], ahead}, {&sequence[i + ahead], ahead});
      }
      if (!schedule(b, sequence[i], r)) {
        return sequence[i];
      }
    }
    return none;
  }

  template <class Builder>
  constexpr op_id in_ready_order(Builder& b, const list::ranking& r, workspace& scratch) const {
    const auto& p = b.problem();
    const auto& w = p.workload();
    auto position = scratch.template take<std::uint32_t>(p.num_ops());
    graph::release_counter waiting{w, scratch.template take<std::uint32_t>()};
    auto heap = scratch.template take<op_id>(p.num_ops());
    std::size_t size = 0;
    const auto before = [&](op_id u, op_id v) {
      return r.key[u] != r.key[v] ? r.key[u] > r.key[v] : position[u] < position[v];
    };
    const heap_operations<op_id, decltype(before)> operations{before};
    std::uint32_t number = 0;
    for (const op_id v : p.topological_order()) {
      position[v] = number++;
    }
    const auto push = [&](op_id v) { operations.push(&heap[0], size++, v); };
    waiting.for_each_ready(push);
    while (size > 0) {
      const op_id v = heap[0];
      operations.pop(&heap[0], size--);
      if (!schedule(b, v, r)) {
        return v;
      }
      waiting.finish(w, v, push);
    }
    return none;
  }
};

} // namespace weft::partition
