// SPDX-License-Identifier: BSL-1.0
/// Ops and transfers in the lanes of devices, with their times: what an incremental schedule is, without its changes.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::refine::detail {

/// The base of `item_schedule`. Item v is op v; item `num_ops() + k` is a transfer, which happens while `dest_[k]` is a
/// device.
class item_lanes {
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
      auto at =
        std::partition_point(row.begin(), row.end(), [&](const lane_entry& x) { return start_[x.item] < from; });
      for (; at != row.end() && start_[at->item] < until; ++at) {
        f(at->item);
      }
    }
  }

protected:
  struct lane_entry {
    double label;
    item_id item;
  };
  struct interval {
    double low;
    double high;
  };

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

  double last_finish() const {
    double last = 0;
    for (const auto& lane : lanes_) {
      if (!lane.empty()) {
        last = std::max(last, finish(lane.back().item));
      }
    }
    return last;
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

  /// All live items, each after what it waits for, by start.
  std::vector<item_id> in_order() const {
    std::vector<item_id> order;
    for (const item_id i : ids(num_items())) {
      if (is_live(i)) {
        order.push_back(i);
      }
    }
    weft::sort(order, [&](item_id a, item_id b) {
      return start_[a] != start_[b]     ? start_[a] < start_[b]
             : finish(a) != finish(b) ? finish(a) < finish(b)
                                      : label_[a] < label_[b];
    });
    return order;
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
  buffer<buffer<lane_entry>> lanes_;
  std::vector<std::uint32_t> lane_;    // per item, as all that follow
  std::vector<item_id> prev_, next_;
  std::vector<double> label_, start_, duration_, tail_;
  std::vector<item_id> through_; // where the longest way to the end goes next
  double makespan_ = 0;
};

} // namespace weft::refine::detail
