// SPDX-License-Identifier: BSL-1.0
/// The part of an incremental schedule that does not depend on the types of a problem: items in lanes, their times,
/// and changes that can be taken back.
#pragma once

#include "weft/core/heap.hpp"
#include "weft/core/ids.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::refine::detail {

/// See `incremental_schedule`, which derives from it. Item v is op v; item `num_ops() + k` is a transfer, which happens
/// while `dest_[k]` is a device. Invariant between transactions: labels rise along inputs and lanes, starts are the
/// earliest possible, tails the longest ways to the end.
class item_schedule {
public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double makespan() const { return makespan_; }
  std::size_t num_ops() const { return n_; }
  /// Ops are `0 … num_ops() - 1`, what comes after them are transfers, of which `is_live` says if they happen.
  std::size_t num_items() const { return lane_.size(); }
  bool is_live(item_id i) const { return i < n_ || dest_[i - n_] != none; }
  bool is_op(item_id i) const { return i < n_; }
  bool stands_in_lane(item_id i) const { return i < n_ || duration_[i] > 0; }
  device_id device(op_id v) const { return device_[v]; }
  double start(item_id i) const { return start_[i]; }
  double finish(item_id i) const { return start_[i] + duration_[i]; }
  /// Seconds from the start of i to the end of the schedule along the longest path that begins with i.
  double tail(item_id i) const { return tail_[i]; }
  /// The length of the longest path through i; the makespan for critical items.
  double path(item_id i) const { return start_[i] + tail_[i]; }
  /// The neighbours in its lane, or `none`.
  item_id before(item_id i) const { return prev_[i]; }
  item_id after(item_id i) const { return next_[i]; }
  op_id producer(item_id transfer) const { return producer_[tensor_of_[transfer - n_]]; }
  /// Bytes that are not reserved on d.
  byte_count free(device_id d) const { return free_[d]; }
  /// The item that v waits for longest: the op or transfer that brings its last input. `none` without inputs.
  item_id last_input(item_id i) const {
    if (i >= n_) {
      return producer(i);
    }
    item_id last = none;
    double most = -1;
    for (std::uint32_t e = in_row_[i]; e < in_row_[i + 1]; ++e) {
      if (const double x = available(source_[e]); x > most) {
        most = x;
        last = source_[e];
      }
    }
    return last;
  }

  /// When what i waits for is there, its lane aside.
  double ready(item_id i) const {
    if (i >= n_) {
      return finish(producer(i));
    }
    double time = 0;
    for (auto e = in_row_[i]; e < in_row_[i + 1]; ++e) {
      time = std::max(time, available(source_[e]));
    }
    return time;
  }

  /// Calls f for every item of d that starts in [from, until), lane by lane.
  template <class F>
  void for_each_in_window(device_id d, double from, double until, F f) const {
    for (auto l = first_lane_[d]; l < first_lane_[d + 1]; ++l) {
      const auto& row = lanes_[l];
      auto at = std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return start_[x.item] < from; });
      for (; at != row.end() && start_[at->item] < until; ++at) {
        f(at->item);
      }
    }
  }

  /// The makespan after the changes since the last commit, or infinity once it is known to be greater than `limit`.
  double evaluate(double limit = infinity) {
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

  /// Makes the changes permanent. Precondition: they were evaluated to a finite makespan.
  void commit() {
    makespan_ = new_makespan_;
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
    forget_changes();
    if (crowded_) {
      renumber();
    }
  }

  /// What is needed to make a plan of the present state later: cheap to take, without the graph.
  struct snapshot {
    double makespan = infinity;
    std::vector<device_id> device, destination;
    std::vector<double> start, duration, label;
  };
  /// Precondition: no change is pending. Reuses the memory of `into`. Complexity: O(items), without sorting.
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
  struct lane_entry {
    double label;
    item_id item;
  };
  using queue_entry = lane_entry;
  struct lower {
    constexpr bool operator()(const queue_entry& a, const queue_entry& b) const { return a.label < b.label; }
  };
  struct higher {
    constexpr bool operator()(const queue_entry& a, const queue_entry& b) const { return a.label > b.label; }
  };
  struct interval {
    double low;
    double high;
  };
  /// What to put back on a rollback.
  struct change {
    enum class kind : std::uint8_t { linked, unlinked, source, destination, count, device, start, duration, travel, tail, free };
    kind what;
    std::uint32_t where;
    std::uint32_t id = 0; // an old id or count
    double value = 0;     // an old time or label
    byte_count bytes = 0;
  };
  using kind = typename change::kind;

  device_id device_of(item_id i) const { return i < n_ ? device_[i] : device_[producer(i)]; }
  /// When what i brings is there.
  double available(item_id i) const { return i < n_ ? finish(i) : finish(i) + travel_[i - n_]; }

  item_id find_slot(tensor_id t, device_id d) const {
    for (auto k = slot_row_[t]; k < slot_row_[t + 1]; ++k) {
      if (dest_[k] == d) {
        return n_ + k;
      }
    }
    return none;
  }

  /// Calls f for what waits for i, its lane aside.
  template <class F>
  void for_each_consumer(item_id i, F f) const {
    if (i >= n_) {
      const tensor_id t = tensor_of_[i - n_];
      for (auto k = cons_row_[t]; k < cons_row_[t + 1]; ++k) {
        if (source_[cons_edge_[k]] == i) {
          f(cons_[k]);
        }
      }
      return;
    }
    for (auto o = out_row_[i]; o < out_row_[i + 1]; ++o) {
      const tensor_id t = out_tensor_[o];
      for (auto k = cons_row_[t]; k < cons_row_[t + 1]; ++k) {
        if (source_[cons_edge_[k]] == i) {
          f(cons_[k]);
        }
      }
      for (auto k = slot_row_[t]; k < slot_row_[t + 1]; ++k) {
        if (dest_[k] != none) {
          f(n_ + k);
        }
      }
    }
  }
  template <class F>
  void for_each_successor(item_id i, F f) const {
    if (next_[i] != none) {
      f(next_[i]);
    }
    for_each_consumer(i, f);
  }
  template <class F>
  void for_each_predecessor(item_id i, F f) const {
    if (prev_[i] != none) {
      f(prev_[i]);
    }
    if (i >= n_) {
      f(producer(i));
      return;
    }
    for (auto e = in_row_[i]; e < in_row_[i + 1]; ++e) {
      f(source_[e]);
    }
  }

  double earliest(item_id i) const {
    double start = prev_[i] == none ? 0 : finish(prev_[i]);
    if (i >= n_) {
      return std::max(start, finish(producer(i)));
    }
    for (auto e = in_row_[i]; e < in_row_[i + 1]; ++e) {
      start = std::max(start, available(source_[e]));
    }
    return start;
  }

  /// The longest way from i to the end, and the item that it goes to next.
  struct way {
    double length = 0;
    item_id through = none;
  };
  way longest_way(item_id i) const {
    way w;
    const double lag = i < n_ ? 0 : travel_[i - n_];
    const auto consider = [&](double rest, item_id s) {
      if (rest > w.length) {
        w = {rest, s};
      }
    };
    if (next_[i] != none) {
      consider(tail_[next_[i]], next_[i]);
    }
    for_each_consumer(i, [&](item_id s) { consider(lag + tail_[s], s); });
    w.length += duration_[i];
    return w;
  }

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

  double last_finish() const {
    double last = 0;
    for (const auto& lane : lanes_) {
      if (!lane.empty()) {
        last = std::max(last, finish(lane.back().item));
      }
    }
    return last;
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

  void insert_into_lane(item_id i, std::uint32_t lane, double label) {
    label_[i] = label;
    lane_[i] = lane;
    prev_[i] = next_[i] = none;
    if (lane == none) {
      return;
    }
    auto& row = lanes_[lane];
    const auto at = std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return x.label < label; });
    if (at != row.begin()) {
      prev_[i] = (at - 1)->item;
      next_[prev_[i]] = i;
    }
    if (at != row.end()) {
      next_[i] = at->item;
      prev_[next_[i]] = i;
    }
    row.insert(at, {label, i});
  }
  void take_out_of_lane(item_id i) {
    if (lane_[i] == none) {
      return;
    }
    auto& row = lanes_[lane_[i]];
    row.erase(std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return x.label < label_[i]; }));
    if (prev_[i] != none) {
      next_[prev_[i]] = next_[i];
    }
    if (next_[i] != none) {
      prev_[next_[i]] = prev_[i];
    }
    lane_[i] = prev_[i] = next_[i] = none;
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

  /// The labels between what i waits for and what waits for it, lanes aside.
  interval window(item_id i) const {
    interval x{-infinity, infinity};
    if (i >= n_) {
      x.low = label_[producer(i)];
    } else {
      for (auto e = in_row_[i]; e < in_row_[i + 1]; ++e) {
        x.low = std::max(x.low, label_[source_[e]]);
      }
    }
    for_each_consumer(i, [&](item_id s) { x.high = std::min(x.high, label_[s]); });
    return x;
  }

  /// The lane of d that is free first around `time`.
  std::uint32_t pick_lane(device_id d, double time) const {
    std::uint32_t best = first_lane_[d];
    if (first_lane_[d + 1] - best == 1) {
      return best;
    }
    double least = infinity;
    for (auto l = first_lane_[d]; l < first_lane_[d + 1]; ++l) {
      const auto& row = lanes_[l];
      const auto at =
        std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return start_[x.item] < time; });
      const double end = at == row.begin() ? 0 : finish((at - 1)->item);
      if (end < least) {
        least = end;
        best = l;
      }
    }
    return best;
  }

  static double between(double left, double right) {
    if (left == -infinity) {
      return right == infinity ? 0 : right - 1;
    }
    return right == infinity ? left + 1 : left + (right - left) / 2;
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
      for (auto place = at; place <= end; ++place) {
        const double begin = place == row.begin() ? ready : std::max(ready, finish((place - 1)->item));
        const double path = begin + std::max(rest, place == row.end() ? 0 : tail_[place->item]);
        if (path < least) {
          least = path;
          at = place;
          start = begin;
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

  /// All live items, each after what it waits for, by start.
  std::vector<item_id> in_order() const {
    std::vector<item_id> order;
    for (const item_id i : ids(num_items())) {
      if (is_live(i)) {
        order.push_back(i);
      }
    }
    std::sort(order.begin(), order.end(), [&](item_id a, item_id b) {
      return start_[a] != start_[b]     ? start_[a] < start_[b]
             : finish(a) != finish(b) ? finish(a) < finish(b)
                                      : label_[a] < label_[b];
    });
    return order;
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
    std::sort(order.begin(), order.end(), [&](item_id a, item_id b) { return label_[a] < label_[b]; });
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

  item_id n_ = 0; // ops
  // The graph: rows of inputs and outputs per op, of consumers and transfers per tensor.
  std::vector<std::uint32_t> in_row_, out_row_, cons_row_, slot_row_;
  std::vector<tensor_id> in_tensor_, out_tensor_, tensor_of_;
  std::vector<op_id> producer_, cons_;
  std::vector<std::uint32_t> cons_edge_; // per (tensor, consumer): the consumer's input
  // The schedule.
  std::vector<device_id> device_;      // per op
  std::vector<byte_count> free_;       // per device
  std::vector<item_id> source_;        // per input of an op: the item that brings it
  std::vector<device_id> dest_;        // per transfer; none if it does not happen
  std::vector<std::uint32_t> count_;   // per transfer: how many consumers wait for it
  std::vector<double> travel_;         // per transfer: seconds from the end of its send to its arrival
  std::vector<std::uint32_t> first_lane_;
  std::vector<std::vector<lane_entry>> lanes_;
  std::vector<std::uint32_t> lane_;    // per item, as all that follow
  std::vector<item_id> prev_, next_;
  std::vector<double> label_, start_, duration_, tail_;
  std::vector<item_id> through_; // where the longest way to the end goes next
  double makespan_ = 0;
  // The change at hand.
  std::vector<change> log_;
  std::vector<item_id> touched_, pending_;
  std::vector<queue_entry> heap_, new_slots_;
  std::size_t heap_size_ = 0;
  std::vector<std::uint8_t> queued_, fresh_;
  std::vector<std::uint64_t> moved_in_; // the transaction in which an item moved last
  std::vector<std::uint64_t> held_in_;  // twice the evaluation that looked at an item's tail, plus one if it fails
  std::uint64_t transaction_ = 1;
  double boundary_ = -infinity;
  double new_makespan_ = 0;
  bool crowded_ = false;
  std::size_t commits_ = 0;
  std::uint64_t evaluations_ = 0;
};

} // namespace weft::refine::detail
