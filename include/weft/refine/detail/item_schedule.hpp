// SPDX-License-Identifier: BSL-1.0
/// The part of an incremental schedule that does not depend on the types of a problem: times, and changes that can be
/// taken back.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/exact_sum.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/refine/detail/item_lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::refine::detail {

/// See `incremental_schedule`, which derives from it. Invariant between transactions: labels rise along inputs and
/// lanes, starts are the earliest possible, tails the longest ways to the end.
class item_schedule : public item_lanes {
public:
  /// Makes the changes permanent. Precondition: they were evaluated to a finite makespan.
  void commit() {
    makespan_ = new_makespan_;
    charges_ = new_charges_;
    update_tails();
    forget_changes();
    if (crowded_ || ++commits_ >= 64 + num_items() / 2) {
      renumber();
    }
  }

  /// Takes back all changes since the last commit.
  void rollback() {
    while (!log_.empty()) {
      undo(log_.back());
      log_.pop_back();
    }
    new_charges_ = charges_;
    forget_changes();
    if (crowded_) {
      renumber();
    }
  }

  /// What is needed to make a plan of the present state later: cheap to take, without the graph.
  struct snapshot {
    double value = infinity;
    double makespan = infinity;
    std::vector<device_id> device, destination;
    std::vector<double> start, duration, label;
  };
  void save(snapshot& into) const {
    into.makespan = makespan_;
    into.device = device_;
    into.destination = dest_;
    into.start = start_;
    into.duration = duration_;
    into.label = label_;
  }

  /// How many changes were evaluated so far.
  std::uint64_t evaluations() const { return evaluations_; }

protected:
  /// The makespan after the changes since the last commit, or infinity once it is known to be greater than `limit`.
  double evaluate_makespan(double limit) {
    ++evaluations_;
    const double surely_beyond = limit * (1 + 1e-9); // start + tail is a sum in another order than the makespan
    for (const item_id i : pending_) {
      if (is_live(i)) {
        push(i);
      } else {
        queued_[i] = 0;
        fresh_[i] = 0;
      }
    }
    pending_.clear();
    while (heap_size_ > 0) {
      const item_id i = heap_[0].item;
      heap_operations<queue_entry, lower>{}.pop(heap_.data(), heap_size_--);
      queued_[i] = 0;
      const double start = earliest(i);
      if (start == start_[i] && !fresh_[i]) {
        continue;
      }
      if (is_beyond(i, start, surely_beyond)) {
        return infinity;
      }
      set_start(i, start);
      fresh_[i] = 0;
      for_each_successor(i, [this](item_id s) {
        if (!queued_[s]) {
          queued_[s] = 1;
          push(s);
        }
      });
    }
    new_makespan_ = last_finish();
    return new_makespan_ > limit ? infinity : new_makespan_;
  }

  using queue_entry = lane_entry;
  struct lower {
    constexpr bool operator()(const queue_entry& a, const queue_entry& b) const { return a.label < b.label; }
  };
  struct higher {
    constexpr bool operator()(const queue_entry& a, const queue_entry& b) const { return a.label > b.label; }
  };
  /// What to put back on a rollback.
  struct change {
    enum class kind : std::uint8_t {
      linked,
      unlinked,
      source,
      destination,
      count,
      device,
      start,
      duration,
      travel,
      tail,
      charge,
      free
    };
    kind what;
    std::uint32_t where;
    std::uint32_t id = 0; // an old id or count
    double value = 0;     // an old time or label
    byte_count bytes = 0;
  };
  using kind = typename change::kind;

  /// Whether a path of the new schedule that begins with i at `start` is known to end after `limit`.
  bool is_beyond(item_id i, double start, double limit) {
    if (moved_in_[i] == transaction_) { // its tail is that of its old place
      const way w = longest_way(i);
      return start + w.length > limit && tail_holds(w.through);
    }
    return start + tail_[i] > limit && tail_holds(i);
  }

  /// Whether the longest way from i before the change meets nothing that has moved, so that it is still there. Past the
  /// last place that was changed none does. What is found out is kept for other ways that lead here.
  bool tail_holds(item_id i) {
    const std::uint64_t yes = 2 * evaluations_;
    bool holds = true;
    item_id j = i;
    for (; j != none && label_[j] <= boundary_; j = through_[j]) {
      if (held_in_[j] == yes) {
        break;
      }
      if (held_in_[j] == yes + 1 || moved_in_[j] == transaction_) {
        holds = false;
        break;
      }
    }
    for (item_id k = i; k != j; k = through_[k]) {
      held_in_[k] = holds ? yes : yes + 1;
    }
    return holds;
  }

  // ---- changes that can be taken back

  void set_device(op_id v, device_id d) {
    log_.push_back({kind::device, v, device_[v]});
    device_[v] = d;
  }
  void set_source(std::uint32_t e, item_id s) {
    if (source_[e] != s) {
      log_.push_back({kind::source, e, source_[e]});
      touch(source_[e]);
      touch(s);
      source_[e] = s;
    }
  }
  void set_start(item_id i, double start) {
    log_.push_back({kind::start, i, 0, start_[i]});
    start_[i] = start;
  }
  void set_tail(item_id i, double tail) {
    log_.push_back({kind::tail, i, 0, tail_[i]});
    tail_[i] = tail;
  }
  void set_duration(item_id i, double duration) {
    log_.push_back({kind::duration, i, 0, duration_[i]});
    duration_[i] = duration;
  }
  void set_charge(item_id i, double charge) {
    log_.push_back({kind::charge, i, 0, charge_[i]});
    new_charges_.add(-charge_[i]);
    new_charges_.add(charge);
    charge_[i] = charge;
  }
  void set_count(item_id s, std::uint32_t count) {
    log_.push_back({kind::count, s - n_, count_[s - n_]});
    count_[s - n_] = count;
  }
  void set_destination(item_id s, device_id d) {
    log_.push_back({kind::destination, s - n_, dest_[s - n_]});
    dest_[s - n_] = d;
  }
  void change_free(device_id d, byte_count by) {
    log_.push_back({kind::free, d, 0, 0, free_[d]});
    free_[d] += by;
  }

  void drop_slot(item_id s) {
    unlink(s);
    touch(producer(s));
    set_destination(s, none);
  }

  /// Puts i into a lane, or, if it stands in none, just labels it.
  void link(item_id i, std::uint32_t lane, double label) {
    insert_into_lane(i, lane, label);
    log_.push_back({kind::linked, i});
    fresh_[i] = 1;
    moved_in_[i] = transaction_;
    boundary_ = std::max(boundary_, label);
    touch(i);
    mark(i);
    if (prev_[i] != none) {
      touch(prev_[i]);
    }
    if (next_[i] != none) {
      mark(next_[i]);
    }
  }
  void unlink(item_id i) {
    log_.push_back({kind::unlinked, i, lane_[i], label_[i]});
    moved_in_[i] = transaction_;
    boundary_ = std::max(boundary_, label_[i]);
    if (prev_[i] != none) {
      touch(prev_[i]);
    }
    if (next_[i] != none) {
      mark(next_[i]);
    }
    take_out_of_lane(i);
  }

  void undo(const change& x) {
    switch (x.what) {
    case kind::linked:
      take_out_of_lane(x.where);
      fresh_[x.where] = 0;
      break;
    case kind::unlinked: insert_into_lane(x.where, x.id, x.value); break;
    case kind::source: source_[x.where] = x.id; break;
    case kind::destination: dest_[x.where] = x.id; break;
    case kind::count: count_[x.where] = x.id; break;
    case kind::device: device_[x.where] = x.id; break;
    case kind::start: start_[x.where] = x.value; break;
    case kind::duration: duration_[x.where] = x.value; break;
    case kind::travel: travel_[x.where] = x.value; break;
    case kind::tail: tail_[x.where] = x.value; break;
    case kind::charge: charge_[x.where] = x.value; break;
    case kind::free: free_[x.where] = x.bytes; break;
    }
  }

  void forget_changes() {
    for (; heap_size_ > 0; --heap_size_) {
      queued_[heap_[heap_size_ - 1].item] = 0;
    }
    for (const item_id i : pending_) {
      queued_[i] = 0;
    }
    pending_.clear();
    touched_.clear();
    log_.clear();
    boundary_ = -infinity;
    ++transaction_;
  }

  // ---- moves

  static double between(double left, double right) {
    if (left == -infinity) {
      return right == infinity ? 0 : right - 1;
    }
    return right == infinity ? left + 1 : left + (right - left) / 2; // exact, fused or not
  }

  /// Puts an item that is nowhere into a lane, with a label between low and high, where the longest path through it is
  /// shortest: its inputs are there at `ready`, and `rest` seconds of path follow it. Of equal places the last one is
  /// taken that does not delay it.
  bool insert(item_id i, std::uint32_t lane, double ready, double rest, double low, double high) {
    if (!(low < high)) {
      return false; // a transfer that i would wait for comes later than what waits for i
    }
    double left = low;
    double right = high;
    double start = ready;
    if (stands_in_lane(i)) {
      const auto& row = lanes_[lane];
      const auto first =
        std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return x.label <= low; });
      const auto last = std::partition_point(first, row.end(), [&](const lane_entry& x) { return x.label < high; });
      // Going on past what finishes before `ready` costs nothing, going back past what has less to follow neither.
      auto at = std::partition_point(first, last, [&](const lane_entry& x) { return finish(x.item) <= ready; });
      const auto end = std::partition_point(at, last, [&](const lane_entry& x) { return tail_[x.item] > rest; });
      double least = infinity;
      for (auto place = at;; ++place) {
        const double begin = place == row.begin() ? ready : std::max(ready, finish((place - 1)->item));
        const double path = begin + std::max(rest, place == row.end() ? 0 : tail_[place->item]);
        if (path < least) {
          least = path;
          at = place;
          start = begin;
        }
        if (place == end) {
          break;
        }
      }
      if (at != row.begin()) {
        left = std::max(left, (at - 1)->label);
      }
      if (at != row.end()) {
        right = std::min(right, at->label);
      }
    } else {
      lane = none;
    }
    const double label = between(left, right);
    if (!(left < label && label < right)) {
      crowded_ = true;
      return false;
    }
    link(i, lane, label);
    set_start(i, start);
    return true;
  }

  // ---- times

  /// i's tail may have changed.
  void touch(item_id i) { touched_.push_back(i); }
  /// i's start may have changed.
  void mark(item_id i) {
    if (!queued_[i]) {
      queued_[i] = 1;
      pending_.push_back(i);
    }
  }
  void push(item_id i) { heap_operations<queue_entry, lower>{}.push(heap_.data(), heap_size_++, {label_[i], i}); }

  void update_tails() {
    const heap_operations<queue_entry, higher> last_first{};
    const auto add = [&](item_id i) {
      if (!queued_[i]) {
        queued_[i] = 1;
        last_first.push(heap_.data(), heap_size_++, {label_[i], i});
      }
    };
    for (const item_id i : touched_) {
      if (is_live(i)) {
        add(i);
      }
    }
    while (heap_size_ > 0) {
      const item_id i = heap_[0].item;
      last_first.pop(heap_.data(), heap_size_--);
      queued_[i] = 0;
      const auto [tail, through] = longest_way(i);
      through_[i] = through;
      if (tail != tail_[i]) {
        tail_[i] = tail;
        for_each_predecessor(i, add);
      }
    }
  }

  /// Labels by start, so that moves to a time find room there.
  void renumber() {
    double label = 0;
    for (const item_id i : in_order()) {
      label_[i] = label++;
    }
    for (auto& lane : lanes_) {
      for (auto& x : lane) {
        x.label = label_[x.item];
      }
    }
    crowded_ = false;
    commits_ = 0;
  }

  void recompute() {
    auto order = in_order();
    weft::sort(order, [&](item_id a, item_id b) { return label_[a] < label_[b]; });
    for (const item_id i : order) {
      start_[i] = earliest(i);
    }
    for (auto i = order.size(); i-- > 0;) {
      const auto [tail, through] = longest_way(order[i]);
      tail_[order[i]] = tail;
      through_[order[i]] = through;
    }
    makespan_ = last_finish();
    renumber();
  }

  // The change at hand.
  buffer<change> log_;
  std::vector<item_id> touched_, pending_;
  buffer<queue_entry> heap_, new_slots_;
  std::size_t heap_size_ = 0;
  std::vector<std::uint8_t> queued_, fresh_;
  std::vector<std::uint64_t> moved_in_; // the transaction in which an item moved last
  std::vector<std::uint64_t> held_in_;  // twice the evaluation that looked at an item's tail, plus one if it fails
  std::uint64_t transaction_ = 1;
  double boundary_ = -infinity;
  double new_makespan_ = 0;
  std::vector<double> charge_; // per item; none where nothing is charged
  exact_sum charges_, new_charges_; // of the last commit, and with the changes since
  bool crowded_ = false;
  std::size_t commits_ = 0;
  std::uint64_t evaluations_ = 0;
};

} // namespace weft::refine::detail
