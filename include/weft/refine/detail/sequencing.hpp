// SPDX-License-Identifier: BSL-1.0
/// The best order of ops and sends for a given placement.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace weft::refine::detail {

/// Searches the active schedules of a placed workload, in which no item could start earlier without delaying another:
/// one of them is optimal. Branches as Giffler and Thompson do (Operations Research 8, 1960): on the device of the
/// item that could finish first, over the items there that could start before that moment.
template <class Problem>
class sequencing {
public:
  explicit sequencing(const Problem& p) : p_{&p}, flow_{p} {
    first_slot_.assign(p.num_devices() + 1, 0);
    for (const device_id d : ids(p.num_devices())) {
      const std::size_t slots = p.platform().slots(d); // no more are ever in use than there are items
      first_slot_[d + 1] = first_slot_[d] + static_cast<std::uint32_t>(std::min(slots, flow_.max_items() + 1));
    }
  }

  /// The smallest makespan below `limit`, or `limit` if there is none. `spend(n)` pays for n visits of items and
  /// returns false to end the search.
  template <class Spend>
  double minimise(const placement& where, double limit, Spend spend) {
    flow_.assign(where);
    const auto n = flow_.num_items();
    least_ = limit;
    missing_.assign(n, 0);
    ready_.assign(n, 0.0);
    start_.assign(n, 0.0);
    scheduled_.assign(n, 0);
    slot_free_.assign(first_slot_.back(), 0.0);
    total_ = 0;
    left_.assign(p_->num_devices(), 0.0);
    for (const item_id i : ids(n)) {
      if (!flow_.needs_queue(i)) {
        scheduled_[i] = 1;
        continue;
      }
      ++total_;
      left_[flow_.device_of(i)] += flow_.duration(i);
      missing_[i] = flow_.is_send(i) ? 1 : flow_.num_inputs(i);
    }
    tail_.assign(n, 0.0);
    flow_.from_the_end(
      tail_, [this](op_id v, double rest) { return rest + flow_.duration(v); },
      [this](std::uint32_t k, double rest) {
        return flow_.transfers()[k].transfer_time + rest + flow_.duration(flow_.send_of(k));
      });
    sequence_.clear();
    descend(0.0, spend);
    return least_;
  }

  /// The order that the last successful call found.
  order best_order() const {
    order steps;
    for (const item_id i : best_) {
      if (flow_.is_send(i)) {
        const auto& x = flow_.transfers()[flow_.transfer_of(i)];
        steps.push_back(step::send(p_->workload().producer(x.tensor), x.tensor, x.to));
      } else {
        steps.push_back(step::run(i));
      }
    }
    return steps;
  }

private:
  /// Calls `f(item, lag)` for everything that waits for i: it may start `lag` seconds after i has finished.
  template <class F>
  void for_each_successor(item_id i, F f) const {
    if (flow_.is_send(i)) {
      const auto k = flow_.transfer_of(i);
      for (const op_id c : flow_.consumers_of_transfer(k)) {
        f(c, flow_.transfers()[k].transfer_time);
      }
      return;
    }
    for (const tensor_id t : p_->workload().outputs(i)) {
      for (const op_id c : flow_.local_consumers(t)) {
        f(c, 0.0);
      }
      for (const std::uint32_t k : flow_.transfers_of(t)) {
        if (flow_.needs_queue(flow_.send_of(k))) {
          f(flow_.send_of(k), 0.0);
        } else {
          for (const op_id c : flow_.consumers_of_transfer(k)) {
            f(c, flow_.transfers()[k].transfer_time);
          }
        }
      }
    }
  }

  std::uint32_t first_free_slot(device_id d) const {
    const auto first = slot_free_.begin() + first_slot_[d];
    return static_cast<std::uint32_t>(std::min_element(first, slot_free_.begin() + first_slot_[d + 1]) -
                                      slot_free_.begin());
  }

  /// Whether some device has more to do than it has time for, up to rounding.
  bool overloaded() const {
    for (const device_id d : ids(left_.size())) {
      const double slots = first_slot_[d + 1] - first_slot_[d];
      const double free =
        std::accumulate(slot_free_.begin() + first_slot_[d], slot_free_.begin() + first_slot_[d + 1], 0.0);
      if (left_[d] > 0 && (free + left_[d]) / slots >= least_ * (1 - 1e-13)) {
        return true;
      }
    }
    return false;
  }

  template <class Spend>
  void descend(double makespan, Spend& spend) {
    if (sequence_.size() == total_) {
      if (makespan < least_) {
        least_ = makespan;
        best_ = sequence_;
        // With several slots, an item may have been chosen before one that starts earlier beside it.
        weft::stable_sort(best_, [this](item_id a, item_id b) { return start_[a] < start_[b]; });
      }
      return;
    }
    if (!spend(flow_.num_items()) || overloaded()) {
      return;
    }
    // The item that could finish first says on which device to branch, and until when.
    double first_finish = std::numeric_limits<double>::infinity();
    device_id device = none;
    for (const item_id i : ids(flow_.num_items())) {
      if (scheduled_[i]) {
        continue;
      }
      const device_id d = flow_.device_of(i);
      const double start = std::max(ready_[i], slot_free_[first_free_slot(d)]);
      if (start + tail_[i] >= least_) { // ready_ only grows
        return;
      }
      if (missing_[i] == 0 && start + flow_.duration(i) < first_finish) {
        first_finish = start + flow_.duration(i);
        device = d;
      }
    }
    const std::uint32_t slot = first_free_slot(device);
    const double free_from = slot_free_[slot];
    std::vector<item_id> choices;
    for (const item_id i : ids(flow_.num_items())) {
      if (!scheduled_[i] && missing_[i] == 0 && flow_.device_of(i) == device) {
        const double start = std::max(ready_[i], free_from);
        if (start < first_finish || start + flow_.duration(i) == first_finish) {
          choices.push_back(i);
        }
      }
    }
    weft::sort(choices,
              [&](item_id a, item_id b) { return tail_[a] != tail_[b] ? tail_[a] > tail_[b] : a < b; });
    for (const item_id i : choices) {
      start_[i] = std::max(ready_[i], free_from);
      const double finish = start_[i] + flow_.duration(i);
      scheduled_[i] = 1;
      slot_free_[slot] = finish;
      const double left = left_[device];
      left_[device] -= flow_.duration(i);
      sequence_.push_back(i);
      struct was_ready {
        item_id item;
        double time;
      };
      buffer<was_ready> undo;
      for_each_successor(i, [&](item_id s, double lag) {
        undo.emplace_back(s, ready_[s]);
        --missing_[s];
        ready_[s] = std::max(ready_[s], finish + lag);
      });
      descend(std::max(makespan, finish), spend);
      for (const auto& [s, ready] : reversed(undo)) {
        ++missing_[s];
        ready_[s] = ready;
      }
      sequence_.pop_back();
      left_[device] = left;
      slot_free_[slot] = free_from;
      scheduled_[i] = 0;
    }
  }

  const Problem* p_;
  placed_flow<Problem> flow_;
  double least_ = 0;
  std::size_t total_ = 0;
  std::vector<std::uint32_t> first_slot_; // per device, plus the end
  std::vector<std::uint32_t> missing_;    // per item: what must be scheduled before it
  std::vector<double> ready_;             // per item: when what it waits for is there
  std::vector<double> start_;             // per scheduled item
  std::vector<std::uint8_t> scheduled_;
  std::vector<double> slot_free_;
  std::vector<double> left_;              // per device: seconds of items that are not scheduled
  std::vector<double> tail_;              // per item: the least time from its start to the end
  std::vector<item_id> sequence_;
  std::vector<item_id> best_;
};

} // namespace weft::refine::detail
