// SPDX-License-Identifier: BSL-1.0
/// The flow graph of a placed workload, ready to be scheduled: ops, the transfers between devices, and dependences.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/reversed.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/check_plan.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// An item that a compute queue can run: item `v < num_ops()` is op v, item `num_ops() + k` is the send of transfer k.
using item_id = std::uint32_t;

/// Throws `value_error` where ops and the sends of all edges could not be told apart by an `item_id`.
constexpr void check_item_ids(std::size_t num_ops, std::size_t num_edges) {
  if (num_ops > none || num_edges > none - num_ops) {
    throw value_error("the problem", "has " + std::to_string(num_ops) + " ops and " + std::to_string(num_edges) +
                                       " edges, together more than the " + std::to_string(none) +
                                       " that can be simulated; merge ops");
  }
}

/// A tensor on its way to one device.
struct transfer {
  tensor_id tensor = none;
  device_id from = none;
  device_id to = none;
  std::uint32_t first_consumer = 0; ///< where its consumers begin in the flow's array
  std::uint32_t num_consumers = 0;
  double send_time = 0;     ///< seconds on the sender's compute queue; 0: the transfer begins by itself
  double transfer_time = 0; ///< seconds on the link
};

/// The graph of ops and transfers under one placement. An op leads to the local consumers of its tensors and to its
/// tensors' transfers; a transfer leads to the consumers on its destination.
///
/// Throws `value_error` if ops and edges together are more than 2³² − 1.
/// Filled anew for each placement by `assign`, which does not allocate. Complexity: O(n + m).
/// Memory: about 30 bytes per op, 70 per edge.
template <class Problem>
class placed_flow {
public:
  using problem_type = Problem;

  constexpr explicit placed_flow(const Problem& p)
      : problem_{&p}, num_ops_{static_cast<item_id>(p.num_ops())}, last_tensor_(p.num_devices(), none),
        transfer_to_(p.num_devices(), none), row_(p.num_tensors() + 1, 0), num_local_(p.num_tensors(), 0),
        first_transfer_(p.num_tensors() + 1, 0), consumers_(p.num_edges(), 0),
        num_inputs_{graph::in_degrees(p.workload())}, compute_time_(p.num_ops(), 0) {
    check_item_ids(p.num_ops(), p.num_edges());
    transfers_.reserve(p.num_edges());
    for (const tensor_id t : ids(p.num_tensors())) {
      row_[t + 1] = row_[t] + static_cast<std::uint32_t>(std::ranges::size(p.workload().consumers(t)));
    }
  }

  /// Takes a placement, by reference; throws if it is not one of the problem (`check_placement`). Transfers are
  /// numbered in the order of tensors, and those of one tensor in the order of the first consumer on each device.
  constexpr void assign(const weft::placement& where) {
    check_placement(*problem_, where, "placement");
    placement_ = &where;
    device_ = where.data();
    transfers_.clear();
    for (auto& t : last_tensor_) {
      t = none;
    }
    for (const tensor_id t : ids(problem_->num_tensors())) {
      split_consumers(t, where);
    }
    first_transfer_[problem_->num_tensors()] = static_cast<std::uint32_t>(transfers_.size());
    num_items_ = num_ops_ + static_cast<item_id>(transfers_.size());
    for (const op_id v : ids(num_ops())) {
      const double seconds = problem_->compute_time(v, where[v]);
      compute_time_[v] = seconds;
      if (!(seconds < std::numeric_limits<double>::infinity())) [[unlikely]] {
        problem_->check_runs_somewhere(v);
      }
    }
  }

  constexpr const Problem& problem() const { return *problem_; }
  constexpr const weft::placement& placement() const { return *placement_; }
  constexpr std::size_t num_ops() const { return num_ops_; }
  constexpr std::size_t num_items() const { return num_items_; }
  /// No placement causes more items than this.
  constexpr std::size_t max_items() const { return num_ops() + consumers_.size(); }

  constexpr std::span<const transfer> transfers() const { return transfers_; }
  /// The numbers of the transfers of t.
  constexpr id_range transfers_of(tensor_id t) const { return {first_transfer_[t], first_transfer_[t + 1]}; }
  /// The consumers of t on its producer's device, ascending.
  constexpr std::span<const op_id> local_consumers(tensor_id t) const {
    return {consumers_.data() + row_[t], num_local_[t]};
  }
  /// The consumers that transfer k reaches, ascending.
  constexpr std::span<const op_id> consumers_of_transfer(std::uint32_t k) const {
    return {consumers_.data() + transfers_[k].first_consumer, transfers_[k].num_consumers};
  }
  /// The number of tensors that v waits for.
  constexpr std::uint32_t num_inputs(op_id v) const { return num_inputs_[v]; }
  constexpr std::span<const std::uint32_t> num_inputs() const { return num_inputs_; }

  constexpr bool is_send(item_id i) const { return i >= num_ops_; }
  /// Whether i waits in a compute queue at all: transfers whose send takes no time begin by themselves.
  constexpr bool needs_queue(item_id i) const { return !is_send(i) || transfers_[transfer_of(i)].send_time > 0; }
  constexpr std::uint32_t transfer_of(item_id send) const { return send - num_ops_; }
  constexpr item_id send_of(std::uint32_t k) const { return num_ops_ + k; }
  constexpr device_id device_of(item_id i) const { return is_send(i) ? transfers_[transfer_of(i)].from : device_[i]; }
  /// Seconds on the compute queue.
  constexpr double duration(item_id i) const {
    return is_send(i) ? transfers_[transfer_of(i)].send_time : compute_time_[i];
  }

  /// Fills in a number per item, the last items first: `of_op(v, rest)` and `of_send(k, rest)` return that of an op and
  /// of the send of transfer k, where the rest is the largest number of an item that it leads to, 0 if there is none.
  /// Sends that take no time count, too. Complexity: O(n + m).
  template <class OfOp, class OfSend>
  constexpr void from_the_end(std::span<double> number, OfOp of_op, OfSend of_send) const {
    const auto largest = [number](std::span<const op_id> consumers, double least) {
      for (const op_id c : consumers) {
        least = std::max(least, number[c]);
      }
      return least;
    };
    for (const op_id v : reversed(problem_->topological_order())) {
      double rest = 0;
      for (const tensor_id t : problem_->workload().outputs(v)) {
        rest = largest(local_consumers(t), rest);
        for (const std::uint32_t k : transfers_of(t)) {
          const double sent = of_send(k, largest(consumers_of_transfer(k), 0.0));
          number[send_of(k)] = sent;
          rest = std::max(rest, sent);
        }
      }
      number[v] = of_op(v, rest);
    }
  }

private:
  constexpr void split_consumers(tensor_id t, const weft::placement& where) {
    const auto& w = problem_->workload();
    const device_id here = where[w.producer(t)];
    const auto first = static_cast<std::uint32_t>(transfers_.size());
    std::uint32_t local = 0;
    first_transfer_[t] = first;
    for (const op_id c : w.consumers(t)) {
      const device_id there = where[c];
      if (there == here) {
        ++local;
      } else if (last_tensor_[there] == t) {
        ++transfers_[transfer_to_[there]].num_consumers;
      } else {
        last_tensor_[there] = t;
        transfer_to_[there] = static_cast<std::uint32_t>(transfers_.size());
        transfers_.push_back(
          {t, here, there, 0, 1, problem_->send_time(t, here, there), problem_->transfer_time(t, here, there)});
      }
    }
    num_local_[t] = local;
    auto next = row_[t];
    if (first == transfers_.size()) {
      for (const op_id c : w.consumers(t)) {
        consumers_[next++] = c;
      }
      return;
    }
    auto at = next + local;
    for (auto k = first; k < transfers_.size(); ++k) {
      transfers_[k].first_consumer = at;
      at += transfers_[k].num_consumers;
      transfers_[k].num_consumers = 0; // counted up again while its row is filled
    }
    for (const op_id c : w.consumers(t)) {
      if (where[c] == here) {
        consumers_[next++] = c;
      } else {
        auto& x = transfers_[transfer_to_[where[c]]];
        consumers_[x.first_consumer + x.num_consumers++] = c;
      }
    }
  }

  const Problem* problem_;
  const weft::placement* placement_ = nullptr;
  const device_id* device_ = nullptr; // its data
  item_id num_ops_ = 0;
  item_id num_items_ = 0;
  std::vector<tensor_id> last_tensor_;        // per device: the last tensor that was found to go there …
  std::vector<std::uint32_t> transfer_to_;    // … and its transfer
  std::vector<std::uint32_t> row_;            // per tensor: where its consumers begin
  std::vector<std::uint32_t> num_local_;      // per tensor
  std::vector<std::uint32_t> first_transfer_; // per tensor, plus the end
  std::vector<op_id> consumers_;              // per tensor: the local ones, then those of each transfer
  std::vector<std::uint32_t> num_inputs_;
  std::vector<double> compute_time_;
  buffer<transfer> transfers_;
};

} // namespace weft
