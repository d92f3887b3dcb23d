// SPDX-License-Identifier: BSL-1.0
/// The smallest makespan of a small problem, found by trying everything, without any part of the library's solvers.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace weft::test {

/// Tries every placement that kinds, groups and memory allow, and for each every sequence of ops and sends in which
/// starts never decrease; each goes on its device when its inputs are there and a slot is free. Some optimal run is of
/// that form: sort the items of one by start and let each start as early as the ones before it allow; repeat until
/// nothing changes. Ends a sequence only when it is as long as the best run already.
/// Complexity: devices^components · (ops + sends)! at worst.
template <class Problem>
class brute_force {
public:
  explicit brute_force(const Problem& p) : p_{p}, where_(p.num_ops(), none), demand_(p.num_devices(), 0) {}

  /// Seconds; infinite if there is no plan.
  double makespan() {
    place(0, [this] { run(0, 0, 0); });
    return best_;
  }
  /// Calls f(placement, its smallest makespan) for every placement. Instead of `makespan`.
  template <class F>
  void each_placement(F f) {
    place(0, [&] {
      best_ = std::numeric_limits<double>::infinity();
      run(0, 0, 0);
      f(std::as_const(where_), best_);
    });
  }
  /// Where the ops are in the first of the best plans.
  const placement& best_placement() const { return best_where_; }
  std::size_t num_sequences() const { return num_sequences_; } ///< how many complete ones were tried

private:
  /// An op, or the send of a tensor to a device.
  struct item {
    device_id device = none;
    double duration = 0;
    std::vector<std::pair<std::size_t, double>> after = {}; ///< what it waits for, and for how long after that
    double finish = -1;                                     ///< negative while it has not started
  };

  template <class F>
  void place(op_id v, const F& when_placed) {
    const auto& w = p_.workload();
    if (v == p_.num_ops()) {
      collect_items();
      when_placed();
      return;
    }
    byte_count bytes = w.resident_bytes(v);
    for (const tensor_id t : w.inputs(v)) {
      bytes += w.bytes(t);
    }
    for (const tensor_id t : w.outputs(v)) {
      bytes += w.bytes(t);
    }
    for (const device_id d : ids(p_.num_devices())) {
      const auto& q = p_.platform();
      byte_count& demand = demand_[q.memory_of(d)];
      bool allowed = w.kinds(v).contains(q.kind(d)) && demand + bytes <= q.memory_capacity(d);
      for (op_id u = 0; u < v; ++u) {
        allowed = allowed && (w.group(v) == none || w.group(u) != w.group(v) || where_[u] == d);
      }
      if (allowed) {
        demand += bytes;
        where_[v] = d;
        place(v + 1, when_placed);
        demand -= bytes;
      }
    }
  }

  void collect_items() {
    const auto& w = p_.workload();
    items_.clear();
    for (const op_id v : ids(p_.num_ops())) {
      items_.push_back({where_[v], p_.compute_time(v, where_[v])});
    }
    std::map<std::pair<tensor_id, device_id>, std::size_t> sends;
    for (const op_id v : ids(p_.num_ops())) {
      for (const tensor_id t : w.inputs(v)) {
        const op_id u = w.producer(t);
        if (where_[u] == where_[v]) {
          items_[v].after.emplace_back(u, 0);
          continue;
        }
        const double transfer = p_.transfer_time(t, where_[u], where_[v]);
        const double send = p_.send_time(t, where_[u], where_[v]);
        if (send == 0) {
          items_[v].after.emplace_back(u, transfer);
          continue;
        }
        const auto [at, is_new] = sends.try_emplace({t, where_[v]}, items_.size());
        if (is_new) {
          items_.push_back({where_[u], send, {{u, 0.0}}});
        }
        items_[v].after.emplace_back(at->second, transfer);
      }
    }
    slots_.assign(p_.num_devices(), {});
    for (const device_id d : ids(p_.num_devices())) {
      slots_[d].assign(p_.platform().slots(d), 0.0);
    }
  }

  void run(std::size_t num_done, double last_start, double makespan) {
    if (num_done == items_.size()) {
      ++num_sequences_;
      best_ = makespan;
      best_where_ = where_;
      return;
    }
    for (auto& i : items_) {
      if (i.finish >= 0) {
        continue;
      }
      const auto slot = std::min_element(slots_[i.device].begin(), slots_[i.device].end());
      const double free_from = *slot;
      double start = free_from;
      for (const auto& [before, delay] : i.after) {
        const double there = items_[before].finish;
        start = there < 0 ? -1 : std::max(start, there + delay);
        if (there < 0) {
          break;
        }
      }
      const double finish = start + i.duration;
      if (start < last_start || std::max(makespan, finish) >= best_) {
        continue;
      }
      i.finish = *slot = finish;
      run(num_done + 1, start, std::max(makespan, finish));
      i.finish = -1;
      *slot = free_from;
    }
  }

  const Problem& p_;
  placement where_;
  placement best_where_;
  std::vector<byte_count> demand_; // per memory
  std::vector<item> items_;
  std::vector<std::vector<double>> slots_;
  double best_ = std::numeric_limits<double>::infinity();
  std::size_t num_sequences_ = 0;
};

} // namespace weft::test
