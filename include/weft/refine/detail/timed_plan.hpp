// SPDX-License-Identifier: BSL-1.0
/// A plan that was run, with what those ask who look at a stretch of it.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/workspace.hpp"
#include "weft/partition/list/sort_by_key.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::refine::detail {

/// Ops have a position, in the order of their starts, which is topological. Refers to the problem and the record.
/// Memory: 40 bytes per op, 4 per tensor, 8 per transfer. Complexity: O(n + m) to set up.
template <class Problem>
class timed_plan {
public:
  timed_plan(const Problem& p, const trace& run)
      : p_{&p}, run_{&run}, position_(p.num_ops(), 0), first_transfer_(p.num_tensors() + 1, 0),
        transfers_(run.transfers.size(), 0), busy_until_(p.num_ops(), 0), first_(p.num_devices() + 1, 0),
        on_device_(p.num_ops(), 0), free_(p.num_devices(), 0) {
    index_transfers();
    sort_items();
    index_ops();
    for (const device_id d : ids(p.num_devices())) {
      free_[d] = static_cast<byte_count>(p.platform().memory_capacity(d));
    }
    for (component_id c = 0; c < p.num_components(); ++c) {
      byte_count& free = free_[device(p.members(c).front())];
      free -= std::min(free, p.demand(c));
    }
  }

  const Problem& problem() const { return *p_; }
  std::size_t num_ops() const { return order_.size(); }
  op_id op(std::size_t position) const { return order_[position]; }
  std::size_t position(op_id v) const { return position_[v]; }
  device_id device(op_id v) const { return run_->ops[v].device; }
  double start(op_id v) const { return run_->ops[v].start; }
  double finish(op_id v) const { return run_->ops[v].finish; }
  /// When v, its sends, and everything that its device began before it and sent, have ended.
  double busy_until(op_id v) const { return busy_until_[v]; }
  /// Bytes of d that nothing has reserved.
  byte_count free(device_id d) const { return free_[d]; }

  /// The ops of d in the order of their positions, and the number of the first from a position on.
  std::span<const op_id> ops_of(device_id d) const {
    return std::span{on_device_}.subspan(first_[d], first_[d + 1] - first_[d]);
  }
  std::size_t first_from(device_id d, std::size_t position) const {
    const auto ops = ops_of(d);
    const auto at = std::partition_point(ops.begin(), ops.end(), [&](op_id v) { return position_[v] < position; });
    return static_cast<std::size_t>(at - ops.begin());
  }

  /// When the producer's device began to send t to d; 0 if it did not.
  double send_start(tensor_id t, device_id d) const {
    const auto* const x = find(t, d);
    return x == nullptr ? 0 : x->send_start;
  }
  /// When t was on d, or would have been; infinite if it would have had to be sent.
  double arrival(tensor_id t, device_id d) const {
    const op_id v = p_->workload().producer(t);
    if (device(v) == d) {
      return finish(v);
    }
    if (const auto* const x = find(t, d); x != nullptr) {
      return x->arrival;
    }
    return p_->send_time(t, device(v), d) > 0 ? std::numeric_limits<double>::infinity()
                                              : finish(v) + p_->transfer_time(t, device(v), d);
  }
  /// Calls f(device, start) for each device with consumers of t from a position on, with the first start of one.
  template <class F>
  void for_each_need(tensor_id t, std::size_t from, F f) const {
    struct need {
      device_id on = none;
      double start = 0;
    };
    buffer<need> needs;
    for (const op_id c : p_->workload().consumers(t)) {
      if (position_[c] < from) {
        continue;
      }
      const auto at = std::find_if(needs.begin(), needs.end(), [&](const need& x) { return x.on == device(c); });
      if (at == needs.end()) {
        needs.push_back({device(c), start(c)});
      } else {
        at->start = std::min(at->start, start(c));
      }
    }
    for (const need& x : needs) {
      f(x.on, x.start);
    }
  }

  /// Calls f(step) for ops and sends in the order of their starts.
  template <class F>
  void for_each_step(F f) const {
    for (const std::uint32_t i : items_) {
      if (i < p_->num_ops()) {
        f(step::run(i));
      } else {
        const auto& x = run_->transfers[i - p_->num_ops()];
        f(step::send(p_->workload().producer(x.tensor), x.tensor, x.to));
      }
    }
  }

private:
  /// Ties: by finish, then topologically, sends after their op.
  void sort_items() {
    const auto n = static_cast<std::uint32_t>(p_->num_ops());
    for (const op_id v : p_->topological_order()) {
      items_.push_back(v);
      for (const tensor_id t : p_->workload().outputs(v)) {
        for (auto k = first_transfer_[t]; k < first_transfer_[t + 1]; ++k) {
          if (const auto& x = run_->transfers[transfers_[k]]; x.send_finish > x.send_start) {
            items_.push_back(n + transfers_[k]);
          }
        }
      }
    }
    const auto start = [&](std::uint32_t i) { return i < n ? run_->ops[i].start : run_->transfers[i - n].send_start; };
    const auto finish = [&](std::uint32_t i) { return i < n ? run_->ops[i].finish : run_->transfers[i - n].send_finish; };
    workspace scratch;
    partition::list::sort_by_key({items_.data(), items_.size()}, start,
                                 [&](std::uint32_t a, std::uint32_t b) { return finish(a) < finish(b); }, scratch);
    order_.reserve(n);
    for (const std::uint32_t i : items_) {
      if (i < n) {
        order_.push_back(i);
      }
    }
  }
  void index_transfers() {
    for (const auto& x : run_->transfers) {
      ++first_transfer_[x.tensor + 1];
    }
    for (std::size_t t = 0; t + 1 < first_transfer_.size(); ++t) {
      first_transfer_[t + 1] += first_transfer_[t];
    }
    auto next = first_transfer_;
    for (const std::uint32_t i : ids(run_->transfers.size())) {
      transfers_[next[run_->transfers[i].tensor]++] = i;
    }
  }
  void index_ops() {
    for (const op_id v : order_) {
      ++first_[device(v) + 1];
    }
    for (std::size_t d = 0; d + 1 < first_.size(); ++d) {
      first_[d + 1] += first_[d];
    }
    auto next = first_;
    std::vector<double> busy(p_->num_devices(), 0);
    for (const std::uint32_t i : ids(order_.size())) {
      const op_id v = order_[i];
      position_[v] = i;
      on_device_[next[device(v)]++] = v;
      double& until = busy[device(v)];
      until = std::max(until, finish(v));
      for (const tensor_id t : p_->workload().outputs(v)) {
        for (auto k = first_transfer_[t]; k < first_transfer_[t + 1]; ++k) {
          until = std::max(until, run_->transfers[transfers_[k]].send_finish);
        }
      }
      busy_until_[v] = until;
    }
  }
  const transfer_record* find(tensor_id t, device_id d) const {
    for (auto k = first_transfer_[t]; k < first_transfer_[t + 1]; ++k) {
      if (run_->transfers[transfers_[k]].to == d) {
        return &run_->transfers[transfers_[k]];
      }
    }
    return nullptr;
  }

  const Problem* p_;
  const trace* run_;
  std::vector<std::uint32_t> items_; // ops, and behind them transfers with a send, by start
  std::vector<op_id> order_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> first_transfer_; // per tensor, in transfers_
  std::vector<std::uint32_t> transfers_;      // of the record
  std::vector<double> busy_until_;            // per op
  std::vector<std::uint32_t> first_;          // per device, in on_device_
  std::vector<op_id> on_device_;
  std::vector<byte_count> free_; // per device
};

} // namespace weft::refine::detail
