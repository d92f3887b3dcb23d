// SPDX-License-Identifier: BSL-1.0
/// An incremental schedule: changes are evaluated, and undone, at a cost that depends on what they touch.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/revertible.hpp"
#include "weft/core/sort.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/refine/detail/item_charges.hpp"
#include "weft/refine/detail/item_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace weft::refine {

/// A placed and ordered schedule of a problem, without contention of transfers: the same times as a run of `to_plan()`
/// under `schedule::static_order`, exactly on devices of one slot. (With several slots the run may end sooner.)
///
/// Every op, and every transfer of a tensor to a device, is an **item**. Ops, and transfers whose send takes time,
/// stand in the **lanes** of their devices, one per slot. All items have a **label**: along every tensor and every
/// lane labels rise, so any order of the labels is a topological order. A change is a transaction:
/// ```
/// if (s.move(c, d) && s.evaluate(limit) <= limit) s.commit(); else s.rollback();
/// ```
/// The **value** is minimised: the makespan, or, for an objective that is a sum (`objective_parts::sum_of`),
/// what the makespan costs and the charges of ops and transfers. `evaluate` recomputes, in the order of the labels,
/// only items whose inputs have changed, and gives up as soon as the new value is known to exceed the limit. Charges
/// are known at once, so it looks for a makespan that costs more than they leave. It knows early: where the **tail**
/// of an item, the longest way from its start to the end of the schedule, meets nothing that has moved, it is as it
/// was before the change, so start + tail is the length of a path in the new schedule.
///
/// Complexity: O(n + m + renumbering) to set up; a move costs O(fan-in + fan-out + log n + lane) and an evaluation
/// O(k log k) for k items whose times change before it is decided. Memory: about 120 bytes per op and 80 per edge.
template <class Problem>
class incremental_schedule {
public:
  using problem_type = Problem;
  using snapshot = detail::item_schedule::snapshot;
  static constexpr double infinity = detail::item_schedule::infinity;

  explicit incremental_schedule(const Problem& p, std::shared_ptr<const objective_parts::any_sum> sum = nullptr)
      : p_{&p}, items_{p}, free_(p.num_devices(), 0), charges_{std::move(sum), items_.flow().num_items()} {}
  explicit incremental_schedule(const Problem&&, std::shared_ptr<const objective_parts::any_sum> = nullptr,
                                weft::detail::problem_must_outlive_it = {}) = delete;

  const Problem& problem() const { return *p_; }
  /// The parts that it is made of: who brings what, who stands where, and when.
  const detail::item_schedule& items() const { return items_; }

  // ---- the state that was committed last

  /// The value that is minimised.
  double value() const { return charges_.value_of(makespan(), charges()); }
  double makespan() const { return items_.makespan(); }
  /// By how much the deadline is missed, if the objective has one.
  double late() const { return charges_.late(makespan()); }
  /// The charges for ops and transfers.
  double charges() const { return charges_.committed(); }
  /// The charge for v on d, without transfers.
  double op_charge(op_id v, device_id d) const { return charges_.of(v, d); }
  /// The value of a schedule of that makespan and those charges.
  double value_of(double makespan, double charges) const { return charges_.value_of(makespan, charges); }

  // ---- the state with all changes

  std::size_t num_ops() const { return flow().num_ops(); }
  /// Ops are `0 … num_ops() - 1`, what comes after them are transfers, of which `is_live` says if they happen.
  std::size_t num_items() const { return flow().num_items(); }
  bool is_live(item_id i) const { return flow().is_live(i); }
  bool is_op(item_id i) const { return flow().is_op(i); }
  bool stands_in_lane(item_id i) const { return items_.stands_in_lane(i); }
  device_id device(op_id v) const { return flow().device(v); }
  double start(item_id i) const { return items_.start(i); }
  double finish(item_id i) const { return items_.finish(i); }
  /// Seconds from the start of i to the end of the schedule along the longest path that begins with i.
  double tail(item_id i) const { return items_.tail(i); }
  /// The length of the longest path through i; the makespan for critical items.
  double path(item_id i) const { return start(i) + tail(i); }
  /// The neighbours in its lane, or `none`.
  item_id before(item_id i) const { return items_.lanes().before(i); }
  item_id after(item_id i) const { return items_.lanes().after(i); }
  op_id producer(item_id transfer) const { return flow().producer(transfer); }
  /// Bytes that are not reserved on d.
  byte_count free(device_id d) const { return free_[d]; }
  bool fits(component_id c, device_id d) const {
    const device_id here = device(p_->members(c).front());
    return p_->kinds(c).contains(p_->platform().kind(d)) &&
           (free_[d] >= p_->demand(c) || (d != here && p_->memory_of(d) == p_->memory_of(here)));
  }
  /// The item that v waits for longest: the op or transfer that brings its last input. `none` without inputs.
  item_id last_input(item_id i) const { return items_.last_input(i); }
  /// The time when all inputs of i are there, its lane aside.
  double ready(item_id i) const { return items_.ready(i); }
  /// Calls f for every item of d that starts in [from, until), lane by lane.
  template <class F>
  void for_each_in_window(device_id d, double from, double until, F f) const {
    items_.for_each_in_window(d, from, until, f);
  }
  /// The time when all inputs of v could be on d, as things are, each sent as soon as it exists.
  double inputs_ready(op_id v, device_id d) const {
    double ready = 0;
    for (const auto e : flow().inputs(v)) {
      const tensor_id t = flow().tensor_of_edge(e);
      const op_id u = flow().producer_of(t);
      const device_id from = device(u);
      double there = finish(u);
      if (from != d) {
        const item_id s = flow().find(t, d);
        there =
          s != none ? items_.available(s) : there + p_->send_time(t, from, d) + p_->transfer_time(t, from, d);
      }
      ready = std::max(ready, there);
    }
    return ready;
  }
  /// About how long the longest path through v would be if v moved to d, everything else staying as it is.
  double path_if_moved(op_id v, device_id d) const {
    return items_.shortest_path(d, inputs_ready(v, d), path_behind(v, d)) + p_->compute_time(v, d);
  }

  // ---- changes

  /// Moves a component to a device that it fits, each member to where it could start when its inputs are there, plus
  /// `delay` seconds, if that is between what it waits for and what waits for it. False if labels are too dense there;
  /// roll back then.
  bool move(component_id c, device_id d, double delay = 0) {
    const auto members = p_->members(c);
    if (const device_id from = device(members.front()); from != d) {
      p_->memories().for_each_sharing(from, [&](device_id e) { free_.set(e, free_[e] + p_->demand(c)); });
      p_->memories().for_each_sharing(d, [&](device_id e) { free_.set(e, free_[e] - p_->demand(c)); });
    }
    for (const op_id v : members) {
      if (!move_op(v, d, inputs_ready(v, d) + delay)) {
        return false;
      }
    }
    return true;
  }
  /// Puts an item of a lane to where it would start at `time`, as far as what it waits for and what waits for it
  /// allows. False if labels are too dense there.
  bool shift(item_id i, double time) { return items_.shift(i, time); }
  /// Puts i right before `other`, an item of a lane of the same device, if that is possible. Else false: roll back.
  bool put_before(item_id i, item_id other) { return items_.put_before(i, other); }

  /// Puts i right before or right after another item of its lane, unless that contradicts the graph. Else false: roll
  /// back.
  bool put_next_to(item_id i, item_id other, bool before) { return items_.put_next_to(i, other, before); }

  /// The value after the changes since the last commit, or infinity once it is known to be greater than `limit`.
  double evaluate(double limit = infinity) {
    if (!charges_.is_sum()) {
      return items_.evaluate(limit);
    }
    const double seconds = charges_.max_seconds(limit);
    const double makespan = seconds >= 0 ? items_.evaluate(seconds) : infinity;
    const double value = makespan < infinity ? value_of(makespan, charges_.pending()) : infinity;
    return value > limit ? infinity : value;
  }
  /// Makes the changes permanent. Precondition: they were evaluated to a finite value.
  void commit() {
    commit_all(items_, free_, charges_);
  }
  /// Takes back all changes since the last commit.
  void rollback() {
    rollback_all(items_, free_, charges_);
  }
  /// The number of changes evaluated so far.
  std::uint64_t evaluations() const { return items_.evaluations(); }

  // ---- states as a whole

  /// Takes over the schedule of a run; of one under contention, its order, with times as they are without.
  /// Precondition: the trace is of a complete run.
  void assign(const trace& run) {
    snapshot s;
    s.destination.assign(num_items() - num_ops(), none);
    s.start.assign(num_items(), 0);
    s.duration.assign(num_items(), 0);
    std::vector<double> finish(num_items(), 0);
    for (const op_id v : ids(num_ops())) {
      const op_record& x = run.ops[v];
      s.device.push_back(x.device);
      s.start[v] = x.start;
      s.duration[v] = p_->compute_time(v, x.device);
      finish[v] = x.finish;
    }
    for (const transfer_record& x : run.transfers) {
      const item_id i = flow().free_transfer(x.tensor, s.destination);
      s.destination[i - num_ops()] = x.to;
      s.start[i] = x.send_start;
      s.duration[i] = p_->send_time(x.tensor, s.device[producer(i)], x.to);
      finish[i] = x.send_finish;
    }
    take_over(s, finish);
  }

  /// Precondition: no change is pending. Reuses the memory of `into`. Complexity: O(items), without sorting.
  void save(snapshot& into) const {
    items_.save(into);
    into.value = value();
  }
  /// Goes back to a saved state of this schedule. Precondition: no change is pending. Complexity: O(n + m + items log
  /// items).
  void restore(const snapshot& saved) {
    snapshot s = saved;
    s.destination.assign(s.destination.size(), none);
    std::vector<double> finish(num_items(), 0);
    for (item_id i = 0; i < num_items(); ++i) {
      item_id to = i;
      if (!is_op(i)) {
        if (saved.destination[i - num_ops()] == none) {
          continue;
        }
        to = flow().free_transfer(flow().tensor(i), s.destination); // numbered without gaps, as by `assign`
        s.destination[to - num_ops()] = saved.destination[i - num_ops()];
      }
      s.start[to] = saved.start[i];
      s.duration[to] = saved.duration[i];
      finish[to] = s.start[to] + s.duration[to];
    }
    take_over(s, finish);
  }

  /// Where everything is and when it happens, changes that were evaluated included. Allocates only the first time.
  void record(trace& into) const { items_.record(into); }
  /// The saved state as a plan: placement, and every op and send in the order of its start.
  plan to_plan(const snapshot& s) const { return items_.to_plan(s); }
  /// The present state as a plan.
  plan to_plan() const {
    snapshot now;
    save(now);
    return to_plan(now);
  }

private:
  const changing_flow& flow() const { return items_.flow(); }

  /// Items stand in the order of `start` and `finish`.
  void take_over(const snapshot& s, const std::vector<double>& finish) {
    std::vector<std::uint32_t> position(num_ops(), 0); // topological: ops and the transfers they cause
    for (std::uint32_t i = 0; i < num_ops(); ++i) {
      position[p_->topological_order()[i]] = 2 * i;
    }
    const auto position_of = [&](item_id i) { return is_op(i) ? position[i] : position[producer(i)] + 1; };
    std::vector<item_id> order;
    for (const item_id i : ids(num_items())) {
      if (is_op(i) || s.destination[i - num_ops()] != none) {
        order.push_back(i);
      }
    }
    // This order is topological: what waits starts no sooner than what it waits for finishes, and of two that take no
    // time the position decides.
    weft::sort(order, [&](item_id a, item_id b) {
      return s.start[a] != s.start[b]             ? s.start[a] < s.start[b]
             : finish[a] != finish[b]             ? finish[a] < finish[b]
             : position_of(a) != position_of(b) ? position_of(a) < position_of(b)
                                                  : a < b;
    });
    std::vector<std::uint32_t> lane_of(num_items(), none);
    std::vector<double> lane_end(items_.lanes().size(), -1);
    for (const item_id i : order) {
      if (!is_op(i) && s.duration[i] == 0) {
        continue;
      }
      const id_range lanes = items_.lanes().of(s.device[is_op(i) ? i : producer(i)]);
      auto lane = *lanes.begin();
      for (const auto l : lanes) { // the one that ended last of those that are free
        const bool free = lane_end[l] <= s.start[i];
        const bool best_free = lane_end[lane] <= s.start[i];
        if (free != best_free ? free : free ? lane_end[l] > lane_end[lane] : lane_end[l] < lane_end[lane]) {
          lane = l;
        }
      }
      lane_end[lane] = finish[i];
      lane_of[i] = lane;
    }
    items_.settle(s, order, lane_of, [&](item_id i) {
      return p_->transfer_time(flow().tensor(i), flow().device_of(i), flow().destination(i));
    });
    for (const device_id d : ids(p_->num_devices())) {
      free_.settle(d, p_->capacity(d));
    }
    for (component_id c = 0; c < p_->num_components(); ++c) {
      p_->memories().for_each_sharing(device(p_->members(c).front()),
                                [&](device_id d) { free_.settle(d, free_[d] - p_->demand(c)); });
    }
    charges_.restart();
    for (const item_id i : order) {
      charges_.set(flow(), i);
    }
    charges_.commit();
  }

  /// The longest path that follows v if it ran on d and its tensors were sent as soon as possible; without lanes.
  double path_behind(op_id v, device_id d) const {
    double rest = 0;
    flow().for_each_output(v, [&](tensor_id t) {
      flow().for_each_use(t, [&](op_id c, std::uint32_t) {
        const device_id to = device(c);
        const double move = to == d ? 0 : p_->send_time(t, d, to) + p_->transfer_time(t, d, to);
        rest = std::max(rest, move + tail(c));
      });
    });
    return rest;
  }

  bool move_op(op_id v, device_id d, double time) {
    if (device(v) == d) {
      return shift(v, time);
    }
    double low = -infinity;
    double high = infinity;
    for (const auto e : flow().inputs(v)) {
      const tensor_id t = flow().tensor_of_edge(e);
      const op_id u = flow().producer_of(t);
      const item_id s = device(u) == d ? none : flow().find(t, d);
      low = std::max(low, label(s == none ? u : s));
    }
    flow().for_each_output(v, [&](tensor_id t) {
      flow().for_each_use(t, [&](op_id c, std::uint32_t) { high = std::min(high, label(c)); });
    });
    items_.remove(v);
    items_.place(v, d, p_->compute_time(v, d));
    charges_.set(flow(), v);
    return items_.insert(v, items_.pick_lane(d, time), time, path_behind(v, d), low, high) && attach_inputs(v, d) &&
           attach_outputs(v, d);
  }

  bool attach_inputs(op_id v, device_id d) {
    for (const auto e : flow().inputs(v)) {
      const tensor_id t = flow().tensor_of_edge(e);
      const op_id u = flow().producer_of(t);
      if (const item_id old = flow().source(e); !is_op(old)) {
        items_.set_users(old, flow().users(old) - 1);
        if (flow().users(old) == 0) {
          drop(old);
        }
      }
      if (device(u) == d) {
        items_.connect(e, u);
        continue;
      }
      item_id s = flow().find(t, d);
      if (s == none) {
        s = take(t, d);
        const double there = finish(u);
        if (!items_.insert(s, items_.pick_lane(device(u), there), there, items_.travel(s) + tail(v), label(u),
                           label(v))) {
          return false;
        }
      }
      items_.set_users(s, flow().users(s) + 1);
      items_.connect(e, s);
    }
    return true;
  }

  bool attach_outputs(op_id v, device_id d) {
    bool fits = true;
    flow().for_each_output(v, [&](tensor_id t) { fits = fits && attach_output(v, d, t); });
    return fits;
  }
  bool attach_output(op_id v, device_id d, tensor_id t) {
    flow().for_each_transfer(t, [&](item_id s) { drop(s); });
    sent_.clear();
    flow().for_each_use(t, [&](op_id c, std::uint32_t e) {
      if (device(c) == d) {
        items_.connect(e, v);
        return;
      }
      auto at = std::find_if(sent_.begin(), sent_.end(),
                             [&](const sent& x) { return flow().destination(x.transfer) == device(c); });
      if (at == sent_.end()) {
        sent_.push_back({label(c), take(t, device(c))});
        at = sent_.end() - 1;
        items_.set_tail(at->transfer, 0);
      }
      const item_id s = at->transfer;
      at->before = std::min(at->before, label(c));
      items_.set_tail(s, std::max(tail(s), items_.travel(s) + tail(c)));
      items_.set_users(s, flow().users(s) + 1);
      items_.connect(e, s);
    });
    return std::all_of(sent_.begin(), sent_.end(), [&](const sent& x) {
      return items_.insert(x.transfer, items_.pick_lane(d, finish(v)), finish(v), tail(x.transfer), label(v), x.before);
    });
  }

  item_id take(tensor_id t, device_id to) {
    const device_id from = device(flow().producer_of(t));
    const item_id s = items_.take(t, to, p_->send_time(t, from, to), p_->transfer_time(t, from, to));
    charges_.set(flow(), s);
    return s;
  }
  void drop(item_id s) {
    items_.drop(s);
    charges_.take_away(s);
  }
  double label(item_id i) const { return items_.lanes().label(i); }

  struct sent {
    double before; // the label of the first op that waits for it
    item_id transfer;
  };

  const Problem* p_;
  detail::item_schedule items_;
  revertible<byte_count> free_; // per device
  detail::item_charges charges_;
  buffer<sent> sent_; // of one tensor
};

} // namespace weft::refine
