// SPDX-License-Identifier: BSL-1.0
/// A given order, followed to the letter.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/schedule/concepts.hpp"
#include "weft/schedule/path_completion_time.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::schedule {

/// Each device runs its items in the plan's order, and waits for the next one rather than run another that is ready. So
/// a run ends no later than planned. A device that runs whatever is ready cannot guarantee that (Graham's anomalies).
///
/// Sends that are not in the order follow their producer at once. A plan without an order runs in descending PCT rank.
/// An order that contradicts the graph leaves the run incomplete; `validate` detects that beforehand.
/// Source: Graham, *Bounds on Multiprocessing Timing Anomalies*, SIAM J. Applied Mathematics 17(2), 1969, for the
/// reason. Complexity: O(n + m) per run and O(1) per pick.
/// Choose it for plans with an order: those of list schedulers, clusterings and refiners.
struct static_order {
  template <class Problem>
  class queue {
  public:
    constexpr explicit queue(const Problem& p)
        : p_{&p}, first_(p.num_devices() + 1, 0), next_(p.num_devices(), 0), sequence_(p.num_ops() + p.num_edges(), 0),
          ready_(p.num_ops() + p.num_edges(), 0), rank_(p.num_ops(), 0), keys_(p.num_ops() + p.num_edges(), 0.0) {}

    constexpr void reset(const static_order&, const context<Problem>& c) {
      f_ = &c.flow;
      std::fill(ready_.begin(), ready_.end(), 0);
      std::fill(first_.begin(), first_.end(), 0);
      for (const item_id i : ids(f_->num_items())) {
        first_[f_->device_of(i) + 1] += f_->needs_queue(i);
      }
      std::partial_sum(first_.begin(), first_.end(), first_.begin());
      std::copy(first_.begin(), first_.end() - 1, next_.begin());
      if (c.order.empty()) {
        by_rank(c);
      } else {
        by_order(c.order);
      }
      std::copy(first_.begin(), first_.end() - 1, next_.begin());
    }

    constexpr void push(item_id i, double) { ready_[i] = 1; }

    constexpr item_id pop(device_id d, double) {
      if (next_[d] == first_[d + 1] || !ready_[sequence_[next_[d]]]) {
        return nothing;
      }
      return sequence_[next_[d]++];
    }

  private:
    constexpr void append(item_id i) {
      if (f_->needs_queue(i)) {
        sequence_[next_[f_->device_of(i)]++] = i;
      }
    }

    constexpr void by_order(const order& steps) {
      check_order(*p_, steps, {ready_.data(), p_->num_ops()}, "order");
      auto& mentioned = ready_; // used as a set of sends for now
      for (const step& s : steps) {
        if (s.is_send()) {
          auto& seen = mentioned[send_of(s)];
          if (seen != 0) {
            weft::detail::plan_errors<Problem>{*p_, "order", 0}.repeated_send(s);
          }
          seen = 1;
        }
      }
      for (const step& s : steps) {
        if (s.is_send()) {
          append(send_of(s));
          continue;
        }
        append(s.op);
        for (const tensor_id t : p_->workload().outputs(s.op)) {
          for (const std::uint32_t k : f_->transfers_of(t)) {
            if (!mentioned[f_->send_of(k)]) {
              append(f_->send_of(k));
            }
          }
        }
      }
      std::fill(mentioned.begin(), mentioned.end(), 0);
    }

    /// Throws if the placement does not cause this transfer.
    constexpr item_id send_of(const step& s) const {
      for (const std::uint32_t k : f_->transfers_of(s.tensor)) {
        if (f_->transfers()[k].to == s.to) {
          return f_->send_of(k);
        }
      }
      weft::detail::plan_errors<Problem>{*p_, "order", 0}.foreign_send(s);
    }

    constexpr void by_rank(const context<Problem>& c) {
      path_completion_time{}.assign_keys(c, std::span{keys_.data(), f_->num_items()});
      std::uint32_t position = 0;
      for (const op_id v : p_->topological_order()) {
        rank_[v] = position++;
      }
      for (const item_id i : ids(f_->num_items())) {
        append(i);
      }
      const auto producer_rank = [&](item_id i) {
        return f_->is_send(i) ? rank_[p_->workload().producer(f_->transfers()[f_->transfer_of(i)].tensor)] : rank_[i];
      };
      for (const device_id d : ids(p_->num_devices())) {
        weft::sort(sequence_.data() + first_[d], sequence_.data() + first_[d + 1], [&](item_id a, item_id b) {
          if (keys_[a] != keys_[b]) {
            return keys_[a] > keys_[b];
          }
          const auto ra = producer_rank(a);
          const auto rb = producer_rank(b);
          return ra != rb ? ra < rb : a < b;
        });
      }
    }

    const Problem* p_;
    const placed_flow<Problem>* f_ = nullptr;
    std::vector<std::uint32_t> first_; // per device: where its sequence begins
    std::vector<std::uint32_t> next_;
    std::vector<item_id> sequence_;
    std::vector<std::uint8_t> ready_;
    std::vector<std::uint32_t> rank_;
    std::vector<double> keys_;
  };
};

} // namespace weft::schedule
