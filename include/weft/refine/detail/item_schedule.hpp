// SPDX-License-Identifier: BSL-1.0
/// The part of an incremental schedule that does not depend on the types of a problem: when items happen.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/revertible.hpp"
#include "weft/core/sort.hpp"
#include "weft/core/unique_queue.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/refine/detail/item_lanes.hpp"
#include "weft/refine/detail/label_exchange.hpp"
#include "weft/refine/detail/schedule_snapshot.hpp"
#include "weft/schedule/changing_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::refine::detail {

/// Times of items whose durations are given; `incremental_schedule` knows them. Invariant between transactions: labels
/// rise along edges and lanes, starts are the earliest possible, tails the longest ways to the end.
class item_schedule {
public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  template <class Problem>
  explicit item_schedule(const Problem& p)
      : flow_{p}, lanes_{p.platform(), p.num_devices(), flow_.num_items()}, start_(flow_.num_items(), 0),
        duration_(flow_.num_items(), 0), travel_(flow_.num_items() - flow_.num_ops(), 0), tail_(flow_.num_items(), 0),
        through_(flow_.num_items(), none), queue_{flow_.num_items()}, fresh_(flow_.num_items(), 0),
        moved_in_(flow_.num_items(), 0), held_in_(flow_.num_items(), 0) {}

  const changing_flow& flow() const { return flow_; }
  const item_lanes& lanes() const { return lanes_; }
  double makespan() const { return makespan_; }
  bool stands_in_lane(item_id i) const { return flow_.is_op(i) || duration_[i] > 0; }
  double start(item_id i) const { return start_[i]; }
  double duration(item_id i) const { return duration_[i]; }
  double finish(item_id i) const { return start_[i] + duration_[i]; }
  /// When what i brings is there.
  double available(item_id i) const { return flow_.is_op(i) ? finish(i) : finish(i) + travel(i); }
  double travel(item_id transfer) const { return travel_[transfer - flow_.num_ops()]; }
  double tail(item_id i) const { return tail_[i]; }
  /// Where the longest way from i to the end goes next.
  item_id through(item_id i) const { return through_[i]; }
  std::uint64_t evaluations() const { return evaluations_; }

  item_id last_input(item_id i) const {
    item_id last = none;
    double most = -1;
    flow_.for_each_source(i, [&](item_id s) {
      if (const double x = available(s); x > most) {
        most = x;
        last = s;
      }
    });
    return last;
  }
  /// When what i waits for is there, its lane aside.
  double ready(item_id i) const { return ready_after(i, 0); }
  /// The longest way from the end of i to the end of the schedule, its lane aside.
  double rest(item_id i) const {
    double most = 0;
    flow_.for_each_consumer(i, [&](item_id s) { most = std::max(most, tail_[s]); });
    return flow_.is_op(i) ? most : travel(i) + most;
  }
  template <class F>
  void for_each_in_window(device_id d, double from, double until, F f) const {
    for (const auto l : lanes_.of(d)) {
      const auto& row = lanes_[l];
      for (auto at = first_from(row, from); at != row.end() && start_[at->item] < until; ++at) {
        f(at->item);
      }
    }
  }

  /// The least sum of the time when something that is ready at `ready` could begin on d and the longest path behind
  /// it there, if `rest` seconds of path follow it anyway.
  double shortest_path(device_id d, double ready, double rest) const {
    double least = infinity;
    for (const auto l : lanes_.of(d)) {
      const auto& row = lanes_[l];
      auto at = first_unfinished(row.begin(), row.end(), ready);
      for (;; ++at) {
        least = std::min(least, path_at(row, at, ready, rest).length);
        if (at == row.end() || tail_[at->item] <= rest) {
          break;
        }
      }
    }
    return least;
  }

  /// The lane of d that is free first around `time`.
  std::uint32_t pick_lane(device_id d, double time) const {
    const id_range all = lanes_.of(d);
    std::uint32_t best = *all.begin();
    if (all.size() == 1) {
      return best;
    }
    double least = infinity;
    for (const auto l : all) {
      const auto at = first_from(lanes_[l], time);
      const double end = at == lanes_[l].begin() ? 0 : finish((at - 1)->item);
      if (end < least) {
        least = end;
        best = l;
      }
    }
    return best;
  }

  // ---- changes

  void place(op_id v, device_id d, double duration) {
    flow_.set_device(v, d);
    duration_.set(v, duration);
  }
  void connect(std::uint32_t e, item_id s) {
    if (flow_.source(e) != s) {
      touch(flow_.source(e));
      touch(s);
      flow_.set_source(e, s);
    }
  }
  void set_users(item_id s, std::uint32_t count) { flow_.set_users(s, count); }
  void set_tail(item_id i, double tail) { tail_.set(i, tail); }
  /// A transfer of t to d that nobody waits for yet and that stands nowhere.
  item_id take(tensor_id t, device_id d, double send, double travel) {
    const item_id s = flow_.take(t, d);
    duration_.set(s, send);
    travel_.set(s - flow_.num_ops(), travel);
    touch(flow_.producer_of(t));
    return s;
  }
  void drop(item_id s) {
    remove(s);
    touch(flow_.producer(s));
    flow_.drop(s);
  }

  /// Takes i from where it stands.
  void remove(item_id i) {
    moved(i, lanes_.label(i));
    if (lanes_.after(i) != none) {
      mark(lanes_.after(i));
    }
    lanes_.remove(i);
  }

  /// Puts an item that is nowhere into a lane, with a label between low and high, where the longest path through it is
  /// shortest: its inputs are there at `ready`, and `rest` seconds of path follow it. Of equal places the last one is
  /// taken that does not delay it. False if there is no label for it.
  bool insert(item_id i, std::uint32_t lane, double ready, double rest, double low, double high) {
    if (!(low < high)) {
      return false; // a transfer that i would wait for comes later than what waits for i
    }
    double left = low;
    double right = high;
    double start = ready;
    if (stands_in_lane(i)) {
      const auto& row = lanes_[lane];
      const auto first = std::partition_point(row.begin(), row.end(), [&](const auto& x) { return x.label <= low; });
      const auto last = std::partition_point(first, row.end(), [&](const auto& x) { return x.label < high; });
      // Going on past what finishes before `ready` costs nothing, going back past what has less to follow neither.
      auto at = first_unfinished(first, last, ready);
      const auto end = std::partition_point(at, last, [&](const auto& x) { return tail_[x.item] > rest; });
      double least = infinity;
      for (auto place = at;; ++place) {
        const auto [begin, length] = path_at(row, place, ready, rest);
        if (length < least) {
          least = length;
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
    return link_between(i, lane, left, right, start);
  }

  bool shift(item_id i, double time) {
    const auto [low, high] = window(i);
    const std::uint32_t lane = pick_lane(flow_.device_of(i), time);
    remove(i);
    return insert(i, lane, time, rest(i), low, high);
  }

  bool put_before(item_id i, item_id other) {
    const auto [low, high] = window(i);
    const item_id before = lanes_.before(other);
    const double left = before == none ? low : std::max(low, lanes_.label(before));
    const double right = std::min(high, lanes_.label(other));
    const std::uint32_t lane = lanes_.lane(other);
    if (!(left < right)) {
      return false;
    }
    if (!has_between(left, right)) {
      crowded_ = true;
      return false;
    }
    remove(i);
    return link_between(i, lane, left, right, start_[other]);
  }

  /// Puts i right before or right after another item of its lane. What has to be labelled anew for that, is. False if
  /// there is a way from one to the other that does not go through their lane alone.
  bool put_next_to(item_id i, item_id other, bool before) {
    const std::uint32_t lane = lanes_.lane(other);
    remove(i);
    const item_id left = before ? lanes_.before(other) : other;
    const item_id right = before ? other : lanes_.after(other);
    auto [low, high] = bounds(i, left, right);
    if (!(low < high)) {
      const auto made = exchange_(flow_, lanes_, {i, left, right, low, high});
      if (made != label_exchange::result::made) {
        crowded_ = crowded_ || made == label_exchange::result::crowded;
        return false;
      }
      boundary_ = std::max(boundary_, exchange_.highest());
      std::tie(low, high) = bounds(i, left, right);
    }
    return link_between(i, lane, low, high, start_[other]);
  }

  /// The makespan after the changes since the last commit, or infinity once it is known to be greater than `limit`.
  double evaluate(double limit) {
    ++evaluations_;
    const double surely_beyond = limit * (1 + 1e-9); // start + tail is a sum in another order than the makespan
    const auto add = [this](item_id i) { queue_.add(i, lanes_.label(i)); };
    for (const item_id i : pending_) {
      if (flow_.is_live(i)) {
        add(i);
      } else {
        fresh_[i] = 0;
      }
    }
    pending_.clear();
    while (!queue_.empty()) {
      const item_id i = queue_.pop();
      const double start = earliest(i);
      const bool is_new = fresh_[i] != 0;
      fresh_[i] = 0;
      if (start == start_[i] && !is_new) {
        continue;
      }
      if (is_beyond(i, start, surely_beyond)) {
        return infinity;
      }
      start_.set(i, start);
      if (lanes_.after(i) != none) {
        add(lanes_.after(i));
      }
      flow_.for_each_consumer(i, add);
    }
    new_makespan_ = last_finish();
    return new_makespan_ > limit ? infinity : new_makespan_;
  }

  /// Makes the changes permanent. Precondition: they were evaluated to a finite makespan.
  void commit() {
    makespan_ = new_makespan_;
    update_tails();
    commit_all(flow_, lanes_, start_, duration_, travel_, tail_);
    forget_changes();
    if (crowded_ || ++commits_ >= 64 + flow_.num_items() / 2) {
      renumber();
    }
  }

  /// Takes back all changes since the last commit.
  void rollback() {
    rollback_all(flow_, lanes_, start_, duration_, travel_, tail_);
    forget_changes();
    if (crowded_) {
      renumber();
    }
  }

  bool is_settled() const {
    return queue_.empty() && pending_.empty() && touched_.empty() &&
           all_settled(flow_, lanes_, start_, duration_, travel_, tail_) &&
           std::none_of(fresh_.begin(), fresh_.end(), [](auto x) { return x != 0; });
  }

  // ---- as a `live_range_finder` and `incremental_memory` see it

  device_id device(op_id v) const { return flow_.device(v); }
  /// Calls g(to, start, send_finish, arrival) for each transfer of t.
  template <class G>
  void for_each_transfer(tensor_id t, G g) const {
    flow_.for_each_transfer(t, [&](item_id i) { g(flow_.destination(i), finish(i), finish(i), available(i)); });
  }
  /// Calls f(op) and g(tensor of a transfer) for items whose time has changed since the last commit; for some more than
  /// once.
  template <class F, class G>
  void for_each_retimed(F f, G g) const {
    start_.for_each_change([&](item_id i) {
      if (flow_.is_op(i)) {
        f(i);
      } else {
        g(flow_.tensor(i));
      }
    });
  }

  using snapshot = schedule_snapshot;
  void save(snapshot& into) const {
    into.makespan = makespan_;
    into.device = flow_.devices();
    into.destination = flow_.destinations();
    into.start = start_.values();
    into.duration = duration_.values();
    into.label = lanes_.labels();
  }
  /// Sets everything anew: items stand in their lanes in `order`, which is topological. `travel_of(transfer)` is called
  /// when places are as saved.
  template <class Travel>
  void settle(const snapshot& saved, const std::vector<item_id>& order, const std::vector<std::uint32_t>& lane_of,
              Travel travel_of) {
    flow_.settle(saved.device, saved.destination);
    lanes_.settle(order, lane_of);
    duration_.settle(saved.duration);
    for (const item_id i : order) {
      if (!flow_.is_op(i)) {
        travel_.settle(i - flow_.num_ops(), travel_of(i));
      }
      start_.settle(i, earliest(i));
    }
    for (const item_id i : reversed(order)) {
      const auto [tail, through] = longest_way(i);
      tail_.settle(i, tail);
      through_[i] = through;
    }
    makespan_ = last_finish();
    renumber();
  }

  /// Where everything is and when it happens, changes that were evaluated included.
  void record(trace& into) const {
    into.ops.resize(flow_.num_ops());
    into.transfers.clear();
    into.makespan = 0;
    for (const item_id i : ids(flow_.num_items())) {
      if (flow_.is_op(i)) {
        into.ops[i] = {flow_.device(i), start_[i], finish(i)};
      } else if (flow_.is_live(i)) {
        into.transfers.push_back({flow_.tensor(i), flow_.device_of(i), flow_.destination(i), start_[i], finish(i),
                                  finish(i), available(i)});
      } else {
        continue;
      }
      into.makespan = std::max(into.makespan, available(i));
    }
  }

  plan to_plan(const snapshot& s) const { return s.to_plan(flow_); }

  /// When i could start, given what it waits for.
  double earliest(item_id i) const {
    return ready_after(i, lanes_.before(i) == none ? 0 : finish(lanes_.before(i)));
  }
  /// The longest way from i to the end, and the item that it goes to next.
  struct way {
    double length = 0;
    item_id through = none;
  };
  way longest_way(item_id i) const {
    way w;
    const double lag = flow_.is_op(i) ? 0 : travel(i);
    const auto consider = [&](double rest, item_id s) {
      if (rest > w.length) {
        w = {rest, s};
      }
    };
    if (const item_id s = lanes_.after(i); s != none) {
      consider(tail_[s], s);
    }
    flow_.for_each_consumer(i, [&](item_id s) { consider(lag + tail_[s], s); });
    w.length += duration_[i];
    return w;
  }

private:
  struct interval {
    double low;
    double high;
  };
  using entry = item_lanes::entry;
  double ready_after(item_id i, double time) const {
    if (!flow_.is_op(i)) {
      return std::max(time, finish(flow_.producer(i)));
    }
    for (const auto e : flow_.inputs(i)) {
      time = std::max(time, available(flow_.source(e)));
    }
    return time;
  }
  double last_finish() const {
    double last = 0;
    for (std::uint32_t l = 0; l < lanes_.size(); ++l) {
      last = lanes_[l].empty() ? last : std::max(last, finish(lanes_[l].back().item));
    }
    return last;
  }

  // ---- places in a row

  const entry* first_from(const item_lanes::row& row, double time) const {
    return std::partition_point(row.begin(), row.end(), [&](const entry& x) { return start_[x.item] < time; });
  }
  const entry* first_unfinished(const entry* from, const entry* to, double time) const {
    return std::partition_point(from, to, [&](const entry& x) { return finish(x.item) <= time; });
  }
  /// When something could begin right before `at`, and the length of the longest path through it.
  struct path_through {
    double begin;
    double length;
  };
  path_through path_at(const item_lanes::row& row, const entry* at, double ready, double rest) const {
    const double begin = at == row.begin() ? ready : std::max(ready, finish((at - 1)->item));
    return {begin, begin + std::max(rest, at == row.end() ? 0 : tail_[at->item])};
  }
  /// The labels between what i waits for and what waits for it, lanes aside.
  interval window(item_id i) const {
    interval x{-infinity, infinity};
    flow_.for_each_source(i, [&](item_id s) { x.low = std::max(x.low, lanes_.label(s)); });
    flow_.for_each_consumer(i, [&](item_id s) { x.high = std::min(x.high, lanes_.label(s)); });
    return x;
  }
  /// The same, and between two items of a lane, each of which may be `none`.
  std::pair<double, double> bounds(item_id i, item_id left, item_id right) const {
    const auto [low, high] = window(i);
    return {left == none ? low : std::max(low, lanes_.label(left)),
            right == none ? high : std::min(high, lanes_.label(right))};
  }
  static double between(double left, double right) {
    if (left == -infinity) {
      return right == infinity ? 0 : right - 1;
    }
    return right == infinity ? left + 1 : left + (right - left) / 2; // exact, fused or not
  }
  static bool has_between(double left, double right) {
    const double label = between(left, right);
    return left < label && label < right;
  }
  bool link_between(item_id i, std::uint32_t lane, double left, double right, double start) {
    if (!has_between(left, right)) {
      crowded_ = true;
      return false;
    }
    lanes_.insert(i, lane, between(left, right));
    fresh_[i] = 1;
    touch(i);
    mark(i);
    moved(i, lanes_.label(i));
    if (lanes_.after(i) != none) {
      mark(lanes_.after(i));
    }
    start_.set(i, start);
    return true;
  }

  // ---- evaluation

  /// i was put to, or taken from, that label.
  void moved(item_id i, double label) {
    moved_in_[i] = transaction_;
    boundary_ = std::max(boundary_, label);
    if (lanes_.before(i) != none) {
      touch(lanes_.before(i));
    }
  }
  void touch(item_id i) { touched_.push_back(i); }
  void mark(item_id i) { pending_.push_back(i); }

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
    for (; j != none && lanes_.label(j) <= boundary_; j = through_[j]) {
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

  void update_tails() {
    const auto add = [this](item_id i) { queue_.add(i, -lanes_.label(i)); };
    for (const item_id i : touched_) {
      if (flow_.is_live(i)) {
        add(i);
      }
    }
    while (!queue_.empty()) {
      const item_id i = queue_.pop();
      const auto [tail, through] = longest_way(i);
      through_[i] = through;
      if (tail != tail_[i]) {
        tail_.settle(i, tail);
        if (lanes_.before(i) != none) {
          add(lanes_.before(i));
        }
        flow_.for_each_source(i, add);
      }
    }
  }

  void forget_changes() {
    const auto forget = [&](item_id i) { fresh_[i] = 0; };
    queue_.clear(forget);
    std::for_each(pending_.begin(), pending_.end(), forget);
    pending_.clear();
    touched_.clear();
    boundary_ = -infinity;
    ++transaction_;
  }

  /// Labels by start, so that moves to a time find room there.
  void renumber() {
    std::vector<item_id> order;
    for (const item_id i : ids(flow_.num_items())) {
      if (flow_.is_live(i)) {
        order.push_back(i);
      }
    }
    sort_by_time(order, start_, duration_, lanes_.labels());
    lanes_.renumber(order);
    crowded_ = false;
    commits_ = 0;
  }

  changing_flow flow_;
  item_lanes lanes_;
  revertible<double> start_, duration_; // per item
  revertible<double> travel_;           // per transfer: seconds from the end of its send to its arrival
  revertible<double> tail_;             // per item, as all that follow
  std::vector<item_id> through_;        // where the longest way to the end goes next
  double makespan_ = 0;
  // The change at hand.
  std::vector<item_id> touched_, pending_; // whose tail, and whose start, may have changed
  label_exchange exchange_;
  unique_queue queue_;
  std::vector<std::uint8_t> fresh_;     // was put somewhere and has no time there yet
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
