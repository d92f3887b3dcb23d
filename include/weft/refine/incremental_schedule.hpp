// SPDX-License-Identifier: BSL-1.0
/// A schedule that can be changed, evaluated and changed back at a cost that depends on what the change touches.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/objective/makespan.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/refine/detail/item_schedule.hpp"
#include "weft/schedule/placed_flow.hpp"
#include "weft/simulate/record.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
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
/// What is minimised is the **value**: the makespan, or, for an objective that is a sum (`objective_parts::is_sum`), what
/// the makespan costs and the charges of ops and transfers. `evaluate` recomputes, in the order of the labels, only items
/// whose inputs have changed, and gives up as soon as the new value is known to exceed the limit. Charges are known at
/// once, so it looks for a makespan that costs more than they leave. It knows early: where the **tail** of an item, the
/// longest way from its start to the end of the schedule, meets nothing that has moved, it is as it was before the
/// change, so start + tail is the length of a path in the new schedule.
///
/// Complexity: O(n + m + renumbering) to set up; a move costs O(fan-in + fan-out + log n + lane) and an evaluation
/// O(k log k) for k items whose times change before it is decided. Memory: about 120 bytes per op and 80 per edge.
template <class Problem, class Objective = objective::makespan>
class incremental_schedule : public detail::item_schedule {
  static constexpr bool has_charges = objective_parts::is_sum<Objective, Problem>;
  static_assert(has_charges || std::same_as<Objective, objective::makespan>,
                "weft: only the makespan, and objectives with price, op_charge and transfer_charge can be followed");

public:
  using problem_type = Problem;

  explicit incremental_schedule(const Problem& p, const Objective& o = {}) : p_{&p}, objective_{o} {
    if constexpr (has_charges) {
      price_ = objective_.price(p);
    }
    n_ = static_cast<item_id>(p.num_ops());
    copy_structure();
    const std::size_t slots = slot_row_.back();
    const std::size_t items = n_ + slots;
    device_.assign(n_, none);
    free_.assign(p.num_devices(), 0);
    dest_.assign(slots, none);
    count_.assign(slots, 0);
    fresh_.assign(items, 0);
    lane_.assign(items, none);
    prev_.assign(items, none);
    next_.assign(items, none);
    label_.assign(items, 0);
    start_.assign(items, 0);
    duration_.assign(items, 0);
    travel_.assign(slots, 0);
    charge_.resize(has_charges ? items : 0);
    tail_.assign(items, 0);
    through_.assign(items, none);
    moved_in_.assign(items, 0);
    held_in_.assign(items, 0);
    queued_.assign(items, 0);
    heap_.resize(items + 1);
    source_.assign(p.num_edges(), none);
    first_lane_.assign(p.num_devices() + 1, 0);
    for (const device_id d : ids(p.num_devices())) {
      const std::size_t at_once = p.platform().slots(d);
      first_lane_[d + 1] = first_lane_[d] + static_cast<std::uint32_t>(std::min<std::size_t>(at_once, items + 1));
    }
    lanes_.resize(first_lane_.back());
  }

  /// Takes over the schedule of a run; of one under contention, its order, with times as they are without. Precondition: the
  /// trace is of a complete run.
  void assign(const trace& run) {
    clear();
    struct entry {
      double start;
      double finish;
      std::uint32_t position; // topological: ops and the transfers they cause
      item_id item;
    };
    buffer<entry> entries;
    std::vector<std::uint32_t> position(n_, 0);
    for (std::uint32_t i = 0; i < n_; ++i) {
      position[p_->topological_order()[i]] = 2 * i;
    }
    for (const op_id v : ids(n_)) {
      set_device(v, run.ops[v].device);
      charge_op(v);
      duration_[v] = p_->compute_time(v, device_[v]);
      entries.push_back({run.ops[v].start, run.ops[v].finish, position[v], v});
    }
    for (component_id c = 0; c < p_->num_components(); ++c) {
      free_[device_[p_->members(c).front()]] -= p_->demand(c);
    }
    for (const transfer_record& x : run.transfers) {
      const item_id s = take_slot(x.tensor, x.to);
      entries.push_back({x.send_start, x.send_finish, position[producer_[x.tensor]] + 1, s});
    }
    for (const tensor_id t : ids(p_->num_tensors())) {
      const device_id here = device_[producer_[t]];
      for (std::uint32_t k = cons_row_[t]; k < cons_row_[t + 1]; ++k) {
        const device_id there = device_[cons_[k]];
        if (there == here) {
          source_[cons_edge_[k]] = producer_[t];
        } else {
          const item_id s = find_slot(t, there);
          WEFT_ASSERT(s != none);
          ++count_[s - n_];
          source_[cons_edge_[k]] = s;
        }
      }
    }
    weft::sort(entries, [](const entry& a, const entry& b) {
      return a.start != b.start         ? a.start < b.start
             : a.finish != b.finish     ? a.finish < b.finish
             : a.position != b.position ? a.position < b.position
                                        : a.item < b.item;
    });
    // This order is topological: what waits starts no sooner than what it waits for finishes, and of two that take no
    // time the position decides.
    double label = 0;
    std::vector<double> lane_end(lanes_.size(), -1);
    for (const entry& e : entries) {
      label_[e.item] = label++;
      start_[e.item] = e.start;
    }
    for (const entry& e : entries) {
      if (stands_in_lane(e.item)) {
        const device_id d = device_of(e.item);
        std::uint32_t lane = first_lane_[d];
        for (auto l = lane; l < first_lane_[d + 1]; ++l) { // the one that ended last of those that are free
          const bool free = lane_end[l] <= e.start;
          const bool best_free = lane_end[lane] <= e.start;
          if (free != best_free ? free : free ? lane_end[l] > lane_end[lane] : lane_end[l] < lane_end[lane]) {
            lane = l;
          }
        }
        lane_end[lane] = e.finish;
        insert_into_lane(e.item, lane, label_[e.item]);
      }
    }
    forget_changes();
    recompute();
    charges_ = new_charges_;
  }

  /// What is minimised, of the last state that was committed.
  double value() const { return value_of(makespan(), charges()); }
  /// What a schedule of that makespan and those charges is worth.
  double value_of(double makespan, double charges) const {
    if constexpr (has_charges) {
      return price_.of(makespan) + charges;
    } else {
      return makespan;
    }
  }

  /// The value after the changes since the last commit, or infinity once it is known to be greater than `limit`.
  double evaluate(double limit = infinity) {
    if constexpr (!has_charges) {
      return evaluate_makespan(limit);
    } else {
      const double charged = new_charges_.value();
      const double seconds = price_.most_seconds(limit + std::abs(limit) * 1e-9 - charged); // some, as sums are rounded
      if (!(seconds >= 0)) {
        return infinity;
      }
      const double makespan = evaluate_makespan(seconds);
      const double value = makespan < infinity ? value_of(makespan, charged) : infinity;
      return value > limit ? infinity : value;
    }
  }

  bool fits(component_id c, device_id d) const {
    return p_->kinds(c).contains(p_->platform().kind(d)) && free_[d] >= p_->demand(c);
  }
  const Problem& problem() const { return *p_; }
  /// When all inputs of v could be on d, as things are, each sent as soon as it exists.
  double inputs_ready(op_id v, device_id d) const {
    double ready = 0;
    for (std::uint32_t e = in_row_[v]; e < in_row_[v + 1]; ++e) {
      const tensor_id t = in_tensor_[e];
      const op_id u = producer_[t];
      const device_id from = device_[u];
      double there = finish(u);
      if (from != d) {
        const item_id s = find_slot(t, d);
        there = s != none ? available(s) : there + p_->send_time(t, from, d) + p_->transfer_time(t, from, d);
      }
      ready = std::max(ready, there);
    }
    return ready;
  }

  /// About how long the longest path through v would be if v moved to d, everything else staying as it is.
  double path_if_moved(op_id v, device_id d) const {
    const double ready = inputs_ready(v, d);
    const double rest = path_behind(v, d);
    double least = infinity;
    for (auto l = first_lane_[d]; l < first_lane_[d + 1]; ++l) {
      const auto& row = lanes_[l];
      auto at = std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return finish(x.item) <= ready; });
      for (;; ++at) {
        const double begin = at == row.begin() ? ready : std::max(ready, finish((at - 1)->item));
        least = std::min(least, begin + std::max(rest, at == row.end() ? 0 : tail_[at->item]));
        if (at == row.end() || tail_[at->item] <= rest) {
          break;
        }
      }
    }
    return least + p_->compute_time(v, d);
  }

  /// Moves a component to a device that it fits, each member to where it could start when its inputs are there, plus
  /// `delay` seconds, if that is between what it waits for and what waits for it. False if labels are too dense there;
  /// roll back then.
  bool move(component_id c, device_id d, double delay = 0) {
    const auto members = p_->members(c);
    if (const device_id from = device_[members.front()]; from != d) {
      change_free(from, p_->demand(c));
      change_free(d, std::uint64_t{0} - p_->demand(c));
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
  bool shift(item_id i, double time) {
    const auto [low, high] = window(i);
    const std::uint32_t lane = pick_lane(device_of(i), time);
    unlink(i);
    double rest = 0;
    for_each_consumer(i, [&](item_id s) { rest = std::max(rest, tail_[s]); });
    return insert(i, lane, time, i < n_ ? rest : travel_[i - n_] + rest, low, high);
  }

  /// Puts i right before `other`, an item of a lane of the same device, if that is possible. Else false: roll back.
  bool put_before(item_id i, item_id other) {
    const auto [low, high] = window(i);
    const double left = prev_[other] == none ? low : std::max(low, label_[prev_[other]]);
    const double right = std::min(high, label_[other]);
    const std::uint32_t lane = lane_[other];
    if (!(left < right)) {
      return false;
    }
    const double label = between(left, right);
    if (!(left < label && label < right)) {
      crowded_ = true;
      return false;
    }
    unlink(i);
    link(i, lane, label);
    set_start(i, start_[other]);
    return true;
  }

  /// Goes back to a saved state of this schedule. Precondition: no change is pending. Complexity: O(n + m + items log
  /// items).
  void restore(const snapshot& saved) {
    trace run;
    for (const op_id v : ids(n_)) {
      run.ops.push_back({saved.device[v], saved.start[v], saved.start[v] + saved.duration[v]});
    }
    for (const item_id i : ids(num_items())) {
      if (i >= n_ && saved.destination[i - n_] != none) {
        const double end = saved.start[i] + saved.duration[i];
        run.transfers.push_back({tensor_of_[i - n_], saved.device[producer(i)], saved.destination[i - n_],
                                 saved.start[i], end, end, end});
      }
    }
    assign(run);
  }

  /// What is charged for ops and transfers, of the last state that was committed.
  double charges() const { return charges_.value(); }
  /// Precondition: no change is pending. Reuses the memory of `into`. Complexity: O(items), without sorting.
  void save(snapshot& into) const {
    item_schedule::save(into);
    into.value = value();
  }

  /// Where everything is and when it happens, changes that were evaluated included. Allocates only the first time.
  void record(trace& into) const {
    into.ops.resize(n_);
    into.transfers.clear();
    into.makespan = 0;
    for (const op_id v : ids(n_)) {
      into.ops[v] = {device_[v], start_[v], start_[v] + duration_[v]};
      into.makespan = std::max(into.makespan, into.ops[v].finish);
    }
    for (item_id i = n_; i < num_items(); ++i) {
      if (is_live(i)) {
        const double sent = start_[i] + duration_[i];
        const double arrival = sent + travel_[i - n_];
        into.transfers.push_back(
          {tensor_of_[i - n_], device_[producer(i)], dest_[i - n_], start_[i], sent, sent, arrival});
        into.makespan = std::max(into.makespan, arrival);
      }
    }
  }

  /// The saved state as a plan: placement, and every op and send in the order of its start.
  plan to_plan(const snapshot& s) const {
    std::vector<item_id> order;
    for (const item_id i : ids(s.start.size())) {
      if (i < n_ || (s.destination[i - n_] != none && s.duration[i] > 0)) {
        order.push_back(i);
      }
    }
    weft::sort(order, [&](item_id a, item_id b) {
      const double fa = s.start[a] + s.duration[a];
      const double fb = s.start[b] + s.duration[b];
      return s.start[a] != s.start[b] ? s.start[a] < s.start[b] : fa != fb ? fa < fb : s.label[a] < s.label[b];
    });
    plan result{s.device, {}};
    for (const item_id i : order) {
      result.order.push_back(i < n_ ? step::run(i)
                                    : step::send(producer(i), tensor_of_[i - n_], s.destination[i - n_]));
    }
    return result;
  }

  /// The present state as a plan.
  plan to_plan() const {
    snapshot now;
    save(now);
    return to_plan(now);
  }

private:
  void copy_structure() {
    const auto& w = p_->workload();
    const std::size_t tensors = p_->num_tensors();
    producer_.resize(tensors);
    cons_row_.assign(tensors + 1, 0);
    slot_row_.assign(tensors + 1, 0);
    cons_.reserve(p_->num_edges());
    for (const tensor_id t : ids(tensors)) {
      producer_[t] = w.producer(t);
      for (const op_id c : w.consumers(t)) {
        cons_.push_back(c);
      }
      cons_row_[t + 1] = static_cast<std::uint32_t>(cons_.size());
      slot_row_[t + 1] = slot_row_[t] + static_cast<std::uint32_t>(std::min<std::size_t>(
                                          cons_row_[t + 1] - cons_row_[t], p_->num_devices()));
      for (auto k = slot_row_[t]; k < slot_row_[t + 1]; ++k) {
        tensor_of_.push_back(t);
      }
    }
    in_row_.assign(n_ + 1, 0);
    out_row_.assign(n_ + 1, 0);
    for (const op_id v : ids(n_)) {
      for (const tensor_id t : w.inputs(v)) {
        in_tensor_.push_back(t);
      }
      for (const tensor_id t : w.outputs(v)) {
        out_tensor_.push_back(t);
      }
      in_row_[v + 1] = static_cast<std::uint32_t>(in_tensor_.size());
      out_row_[v + 1] = static_cast<std::uint32_t>(out_tensor_.size());
    }
    cons_edge_.resize(cons_.size());
    for (const tensor_id t : ids(tensors)) {
      for (auto k = cons_row_[t]; k < cons_row_[t + 1]; ++k) {
        auto e = in_row_[cons_[k]];
        while (in_tensor_[e] != t) {
          ++e;
        }
        cons_edge_[k] = e;
      }
    }
  }

  void charge_op(op_id v) {
    if constexpr (has_charges) {
      set_charge(v, objective_.op_charge(*p_, v, device_[v]));
    }
  }

  /// A transfer of t to d that nobody waits for yet and that stands nowhere.
  item_id take_slot(tensor_id t, device_id d) {
    auto k = slot_row_[t];
    while (dest_[k] != none) {
      ++k;
    }
    const item_id s = n_ + k;
    const device_id from = device_[producer_[t]];
    set_destination(s, d);
    set_count(s, 0);
    set_duration(s, p_->send_time(t, from, d));
    log_.push_back({kind::travel, k, 0, travel_[k]});
    travel_[k] = p_->transfer_time(t, from, d);
    if constexpr (has_charges) {
      set_charge(s, objective_.transfer_charge(*p_, t, from, d));
    }
    touch(producer_[t]);
    return s;
  }
  void drop_transfer(item_id s) {
    drop_slot(s);
    if constexpr (has_charges) {
      set_charge(s, 0);
    }
  }
  /// The longest path that follows v if it ran on d and its tensors were sent as soon as possible; without lanes.
  double path_behind(op_id v, device_id d) const {
    double rest = 0;
    for (auto o = out_row_[v]; o < out_row_[v + 1]; ++o) {
      const tensor_id t = out_tensor_[o];
      for (auto k = cons_row_[t]; k < cons_row_[t + 1]; ++k) {
        const device_id to = device_[cons_[k]];
        const double move = to == d ? 0 : p_->send_time(t, d, to) + p_->transfer_time(t, d, to);
        rest = std::max(rest, move + tail_[cons_[k]]);
      }
    }
    return rest;
  }

  bool move_op(op_id v, device_id d, double time) {
    if (device_[v] == d) {
      return shift(v, time);
    }
    interval x{-infinity, infinity};
    for (auto e = in_row_[v]; e < in_row_[v + 1]; ++e) {
      const tensor_id t = in_tensor_[e];
      const item_id s = device_[producer_[t]] == d ? none : find_slot(t, d);
      x.low = std::max(x.low, label_[s == none ? producer_[t] : s]);
    }
    for (auto o = out_row_[v]; o < out_row_[v + 1]; ++o) {
      for (auto k = cons_row_[out_tensor_[o]]; k < cons_row_[out_tensor_[o] + 1]; ++k) {
        x.high = std::min(x.high, label_[cons_[k]]);
      }
    }
    unlink(v);
    set_device(v, d);
    charge_op(v);
    set_duration(v, p_->compute_time(v, d));
    return insert(v, pick_lane(d, time), time, path_behind(v, d), x.low, x.high) && attach_inputs(v, d) && attach_outputs(v, d);
  }

  bool attach_inputs(op_id v, device_id d) {
    for (auto e = in_row_[v]; e < in_row_[v + 1]; ++e) {
      const tensor_id t = in_tensor_[e];
      const op_id u = producer_[t];
      if (const item_id old = source_[e]; old >= n_) {
        set_count(old, count_[old - n_] - 1);
        if (count_[old - n_] == 0) {
          drop_transfer(old);
        }
      }
      if (device_[u] == d) {
        set_source(e, u);
        continue;
      }
      item_id s = find_slot(t, d);
      if (s == none) {
        s = take_slot(t, d);
        if (!insert(s, pick_lane(device_[u], finish(u)), finish(u), travel_[s - n_] + tail_[v], label_[u], label_[v])) {
          return false;
        }
      }
      set_count(s, count_[s - n_] + 1);
      set_source(e, s);
    }
    return true;
  }

  bool attach_outputs(op_id v, device_id d) {
    for (auto o = out_row_[v]; o < out_row_[v + 1]; ++o) {
      const tensor_id t = out_tensor_[o];
      for (auto k = slot_row_[t]; k < slot_row_[t + 1]; ++k) {
        if (dest_[k] != none) {
          drop_transfer(n_ + k);
        }
      }
      new_slots_.clear();
      for (auto k = cons_row_[t]; k < cons_row_[t + 1]; ++k) {
        const op_id c = cons_[k];
        if (device_[c] == d) {
          set_source(cons_edge_[k], v);
          continue;
        }
        auto at = std::find_if(new_slots_.begin(), new_slots_.end(),
                               [&](const queue_entry& x) { return dest_[x.item - n_] == device_[c]; });
        if (at == new_slots_.end()) {
          new_slots_.push_back({label_[c], take_slot(t, device_[c])});
          set_tail(new_slots_.back().item, 0);
          at = new_slots_.end() - 1;
        }
        at->label = std::min(at->label, label_[c]);
        set_tail(at->item, std::max(tail_[at->item], travel_[at->item - n_] + tail_[c]));
        set_count(at->item, count_[at->item - n_] + 1);
        set_source(cons_edge_[k], at->item);
      }
      for (const auto& [high, s] : new_slots_) {
        if (!insert(s, pick_lane(d, finish(v)), finish(v), tail_[s], label_[v], high)) {
          return false;
        }
      }
    }
    return true;
  }

  void clear() {
    for (auto& lane : lanes_) {
      lane.clear();
    }
    std::fill(dest_.begin(), dest_.end(), none);
    std::fill(count_.begin(), count_.end(), 0);
    std::fill(charge_.begin(), charge_.end(), 0);
    new_charges_ = {};
    for (const device_id d : ids(p_->num_devices())) {
      free_[d] = static_cast<byte_count>(p_->platform().memory_capacity(d));
    }
    for (const item_id i : ids(num_items())) {
      lane_[i] = prev_[i] = next_[i] = none;
    }
  }

  const Problem* p_;
  [[no_unique_address]] Objective objective_;
  objective_parts::price_of_time price_;
};

} // namespace weft::refine
