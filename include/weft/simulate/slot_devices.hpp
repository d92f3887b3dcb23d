// SPDX-License-Identifier: BSL-1.0
/// Devices that run an op per slot.
#pragma once

#include "weft/schedule/keyed_queue.hpp"
#include "weft/simulate/device_model.hpp"

#include <utility>
#include <vector>

namespace weft::simulate {

/// Each device has as many slots as the platform says. When one is free, the policy's queue tells what runs next; it
/// takes its compute or send time.
struct slot_devices {
  template <class Problem, class Policy>
  class state {
  public:
    constexpr state(const Problem& p, const Policy& policy)
        : problem_{&p}, policy_{policy}, queue_{p}, free_(p.num_devices(), 0) {}

    constexpr void reset(const placed_flow<Problem>& flow, const order& steps) {
      flow_ = &flow;
      queue_.reset(policy_, schedule::context<Problem>{flow, steps});
      for (const device_id d : ids(free_.size())) {
        free_[d] = problem_->platform().slots(d);
      }
    }
    constexpr void push(item_id i, device_id d, double now) {
      if constexpr (requires { queue_.push(i, d, now); }) {
        queue_.push(i, d, now);
      } else {
        queue_.push(i, now);
      }
    }
    template <class Begin> // clang would make it a call
    [[gnu::always_inline]] constexpr void serve(device_id d, double now, Begin begin) {
      while (free_[d] > 0) {
        const item_id i = queue_.pop(d, now);
        if (i == schedule::nothing) {
          break;
        }
        --free_[d];
        const double finish = now + flow_->duration(i);
        if constexpr (requires { queue_.on_start(i, now, finish); }) {
          queue_.on_start(i, now, finish);
        }
        begin(i, finish);
      }
    }
    constexpr void release(item_id i, device_id d, double now) {
      ++free_[d];
      if constexpr (requires { queue_.on_finish(i, now); }) {
        queue_.on_finish(i, now);
      }
    }
    /// The number of items that can be under way at the same time.
    constexpr std::size_t num_places() const {
      std::size_t all = 0;
      for (const device_id d : ids(free_.size())) {
        all += problem_->platform().slots(d);
      }
      return all;
    }

  private:
    const Problem* problem_;
    const placed_flow<Problem>* flow_ = nullptr;
    [[no_unique_address]] Policy policy_;
    schedule::queue_for<Policy, Problem> queue_;
    std::vector<std::uint32_t> free_; // slots, per device
  };

  template <class Problem, class Policy>
    requires ready_policy_for<Policy, Problem>
  constexpr state<Problem, Policy> state_for(const Problem& p, const Policy& policy) const {
    return {p, policy};
  }
};

} // namespace weft::simulate
