// SPDX-License-Identifier: BSL-1.0
/// The item that lets the most others start.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/schedule/keyed_queue.hpp"
#include "weft/schedule/path_completion_time.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace weft::schedule {

/// MSR: runs the item with the most points first. An op has 1 point for each local consumer and 1 for each send that it
/// causes. A send has 3 points, and 5 more if its receiver *will have nothing to run when it next becomes free*. Ties:
/// PCT, then the first to become ready.
///
/// A receiver will have something to run in three cases: its queue is not empty; its running op causes a send or makes
/// an op there ready; or a transfer that is under way (its send has begun) arrives by then and makes one ready. (With
/// several slots per device, the results of its running items count as soon as these start.)
///
/// Source: [CP] §2. Complexity: O(log + destinations with waiting sends) per pick instead of a scan of the whole queue:
/// only the 5 points depend on the state of the run, and they are the same for all sends from one device to another.
/// Choose it where devices idle for lack of inputs; runs take two to three times as long to simulate.
struct maximum_successor_rank {
  template <class Problem>
  class queue {
  public:
    constexpr explicit queue(const Problem& p)
        : p_{&p}, keys_(p.num_ops() + p.num_edges(), 0.0), count_(p.num_ops(), 0.0), first_op_(p.num_devices() + 1, 0),
          op_heap_size_(p.num_devices(), 0), op_heap_(p.num_ops(), ranked_item{}), first_lane_(p.num_devices() + 1, 0),
          lane_of_(p.num_edges(), 0), send_heap_(p.num_edges(), waiting_item{}), by_sender_(p.num_edges(), 0),
          lane_to_(p.num_devices(), none), missing_(p.num_ops(), 0), ready_ahead_(p.num_devices(), 0),
          busy_(p.num_devices(), 0), first_finish_(p.num_devices() + 1, 0), first_inbound_(p.num_devices() + 1, 0),
          inbound_size_(p.num_devices(), 0), inbound_(p.num_edges(), coming{}) {
      lanes_.reserve(std::min(p.num_edges(), p.num_devices() * (p.num_devices() - 1)));
      std::size_t slots = 0;
      for (const device_id d : ids(p.num_devices())) {
        slots += p.platform().slots(d);
      }
      finishes_.assign(std::min(slots, p.num_ops() + p.num_edges()), 0.0);
    }

    constexpr void reset(const maximum_successor_rank&, const context<Problem>& c) {
      f_ = &c.flow;
      arrivals_ = 0;
      const auto num_transfers = f_->transfers().size();
      path_completion_time{}.assign_keys(c, std::span{keys_.data(), f_->num_items()});
      std::fill(first_op_.begin(), first_op_.end(), 0);
      std::fill(op_heap_size_.begin(), op_heap_size_.end(), 0);
      for (const op_id v : ids(f_->num_ops())) {
        ++first_op_[f_->device_of(v) + 1];
        double n = 0;
        for (const tensor_id t : p_->workload().outputs(v)) {
          n += static_cast<double>(f_->local_consumers(t).size());
          for (const std::uint32_t k : f_->transfers_of(t)) {
            n += f_->transfers()[k].send_time > 0;
          }
        }
        count_[v] = n;
        missing_[v] = f_->num_inputs(v);
      }
      std::partial_sum(first_op_.begin(), first_op_.end(), first_op_.begin());
      make_lanes(num_transfers);
      std::fill(ready_ahead_.begin(), ready_ahead_.end(), 0);
      std::fill(busy_.begin(), busy_.end(), 0);
      std::fill(first_finish_.begin(), first_finish_.end(), 0);
      std::fill(first_inbound_.begin(), first_inbound_.end(), 0);
      std::fill(inbound_size_.begin(), inbound_size_.end(), 0);
      for (const transfer& x : f_->transfers()) {
        ++first_inbound_[x.to + 1];
        ++first_finish_[x.from + 1];
      }
      std::partial_sum(first_inbound_.begin(), first_inbound_.end(), first_inbound_.begin());
      for (const op_id v : ids(f_->num_ops())) {
        ready_ahead_[f_->device_of(v)] += missing_[v] == 0;
        ++first_finish_[f_->device_of(v) + 1];
      }
      for (const device_id d : ids(busy_.size())) { // a device never runs more at once than it has items or slots
        const auto most = std::min(first_finish_[d + 1], static_cast<std::uint32_t>(p_->platform().slots(d)));
        first_finish_[d + 1] = first_finish_[d] + most;
      }
    }

    constexpr void push(item_id i, double) {
      if (f_->is_send(i)) {
        auto& l = lanes_[lane_of_[f_->transfer_of(i)]];
        auto* const heap = &send_heap_[l.first];
        send_operations.push(heap, l.size++, {keys_[i], arrivals_++, i});
        l.best = *heap;
      } else {
        const device_id d = f_->device_of(i);
        op_operations.push(&op_heap_[first_op_[d]], op_heap_size_[d]++, {count_[i], {keys_[i], arrivals_++, i}});
      }
    }

    constexpr item_id pop(device_id d, double now) {
      ranked_item best{-1, {}};
      lane* from = nullptr;
      if (op_heap_size_[d] > 0) {
        best = op_heap_[first_op_[d]];
      }
      for (auto l = first_lane_[d]; l < first_lane_[d + 1]; ++l) {
        if (lanes_[l].size > 0) {
          const ranked_item candidate{starves(lanes_[l].to, now) ? 8.0 : 3.0, lanes_[l].best};
          if (ranks_before{}(candidate, best)) {
            best = candidate;
            from = &lanes_[l];
          }
        }
      }
      if (from != nullptr) {
        auto* const heap = &send_heap_[from->first];
        send_operations.pop(heap, from->size--);
        from->best = *heap;
      } else if (best.item.item != nothing) {
        op_operations.pop(&op_heap_[first_op_[d]], op_heap_size_[d]--);
      }
      return best.item.item;
    }

    /// An item starts: its device is busy until it finishes, and what it leads to there is foreseeable.
    constexpr void on_start(item_id i, double, double finish) {
      const device_id d = f_->device_of(i);
      finish_operations.push(&finishes_[first_finish_[d]], busy_[d]++, finish);
      --ready_ahead_[d];
      if (f_->is_send(i)) {
        const auto k = f_->transfer_of(i);
        foresee_arrival(k, finish + f_->transfers()[k].transfer_time);
        return;
      }
      for (const tensor_id t : p_->workload().outputs(i)) {
        for (const op_id c : f_->local_consumers(t)) {
          input_foreseen(c, d);
        }
        for (const std::uint32_t k : f_->transfers_of(t)) {
          if (f_->transfers()[k].send_time > 0) {
            ++ready_ahead_[d];
          } else {
            foresee_arrival(k, finish + f_->transfers()[k].transfer_time);
          }
        }
      }
    }

    /// What finishes is the first to do so on its device.
    constexpr void on_finish(item_id i, double) {
      const device_id d = f_->device_of(i);
      finish_operations.pop(&finishes_[first_finish_[d]], busy_[d]--);
    }

  private:
    struct ranked_item {
      double count = 0;
      waiting_item item{};
    };
    struct ranks_before {
      constexpr bool operator()(const ranked_item& a, const ranked_item& b) const {
        return a.count > b.count || (a.count == b.count && goes_before{}(a.item, b.item));
      }
    };
    struct coming {
      double arrival = 0;
      std::uint32_t transfer = 0;
    };
    struct arrives_before {
      constexpr bool operator()(const coming& a, const coming& b) const { return a.arrival < b.arrival; }
    };
    /// The waiting sends from one device to another.
    struct lane {
      device_id to = none;
      std::uint32_t first = 0; ///< where its heap begins
      std::uint32_t size = 0;
      waiting_item best{}; ///< the top of its heap, if that is not empty
    };

    /// Gives each route that occurs a lane: sorts the transfers by sender, then groups those of each by receiver.
    constexpr void make_lanes(std::size_t num_transfers) {
      const auto x = f_->transfers();
      std::fill(first_lane_.begin(), first_lane_.end(), 0);
      for (std::size_t k = 0; k < num_transfers; ++k) {
        ++first_lane_[x[k].from + 1];
      }
      std::partial_sum(first_lane_.begin(), first_lane_.end(), first_lane_.begin());
      for (std::uint32_t k = 0; k < num_transfers; ++k) {
        by_sender_[first_lane_[x[k].from]++] = k;
      }
      std::fill(lane_to_.begin(), lane_to_.end(), none);
      lanes_.clear();
      std::uint32_t begin = 0;
      for (const device_id d : ids(busy_.size())) {
        const std::uint32_t end = first_lane_[d];
        const auto first = static_cast<std::uint32_t>(lanes_.size());
        first_lane_[d] = first;
        for (std::uint32_t i = begin; i < end; ++i) {
          const device_id to = x[by_sender_[i]].to;
          if (lane_to_[to] == none || lane_to_[to] < first) {
            lane_to_[to] = static_cast<std::uint32_t>(lanes_.size());
            lanes_.push_back({to, 0, 0, {}});
          }
          lane_of_[by_sender_[i]] = lane_to_[to];
          ++lanes_[lane_to_[to]].size;
        }
        for (auto l = first; l < lanes_.size(); ++l) {
          lanes_[l].first = begin;
          begin += std::exchange(lanes_[l].size, 0);
        }
      }
      first_lane_.back() = static_cast<std::uint32_t>(lanes_.size());
    }

    constexpr void input_foreseen(op_id v, device_id d) {
      if (--missing_[v] == 0) {
        ++ready_ahead_[d];
      }
    }

    constexpr void foresee_arrival(std::uint32_t k, double arrival) {
      const device_id to = f_->transfers()[k].to;
      inbound_operations.push(&inbound_[first_inbound_[to]], inbound_size_[to]++, {arrival, k});
    }

    /// Whether d will have nothing to run when it next has a free slot.
    constexpr bool starves(device_id d, double now) {
      if (ready_ahead_[d] > 0) {
        return false; // arrivals that are not counted yet would only add to it
      }
      const double then = busy_[d] < p_->platform().slots(d) ? now : finishes_[first_finish_[d]];
      auto* const inbound = &inbound_[first_inbound_[d]];
      while (inbound_size_[d] > 0 && inbound->arrival <= then) {
        for (const op_id c : f_->consumers_of_transfer(inbound->transfer)) {
          input_foreseen(c, d);
        }
        inbound_operations.pop(inbound, inbound_size_[d]--);
      }
      return ready_ahead_[d] == 0;
    }

    static constexpr heap_operations<ranked_item, ranks_before> op_operations{};
    static constexpr heap_operations<waiting_item, goes_before> send_operations{};
    static constexpr heap_operations<coming, arrives_before> inbound_operations{};
    static constexpr heap_operations<double, std::less<>> finish_operations{};

    const Problem* p_;
    const placed_flow<Problem>* f_ = nullptr;
    std::uint32_t arrivals_ = 0;
    std::vector<double> keys_;            // PCT per item
    std::vector<double> count_;           // successor count per op
    std::vector<std::uint32_t> first_op_; // per device: its ops' heap
    std::vector<std::uint32_t> op_heap_size_;
    buffer<ranked_item> op_heap_;
    std::vector<std::uint32_t> first_lane_; // per device: its lanes
    std::vector<lane> lanes_;
    std::vector<std::uint32_t> lane_of_; // per transfer
    buffer<waiting_item> send_heap_;
    std::vector<std::uint32_t> by_sender_; // the transfers, sorted
    std::vector<std::uint32_t> lane_to_;   // per device: the last lane that led there
    std::vector<std::uint32_t> missing_;      // per op: inputs that are not foreseeable yet
    // Per device: items that it will be able to run. Negative when it has begun what an arrival made ready that
    // `starves` has not counted yet.
    std::vector<std::int32_t> ready_ahead_;
    std::vector<std::uint32_t> busy_;         // per device: how many items it runs
    std::vector<std::uint32_t> first_finish_; // per device: the heap of when they finish
    std::vector<double> finishes_;
    std::vector<std::uint32_t> first_inbound_; // per device: arrivals that lie beyond its horizon
    std::vector<std::uint32_t> inbound_size_;
    std::vector<coming> inbound_;
  };
};

} // namespace weft::schedule
