// SPDX-License-Identifier: BSL-1.0
/// The ready queue of all key policies: one heap per device, in one block of memory.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/schedule/concepts.hpp"

#include <algorithm>
#include <vector>

namespace weft::schedule {

/// An item that waits, and what decides when it goes.
struct waiting_item {
  double key = 0;
  std::uint32_t arrival = 0; ///< counts up as items become ready
  item_id item = nothing;
};

/// The largest key first; among equals the one that became ready first.
struct goes_before {
  constexpr bool operator()(const waiting_item& a, const waiting_item& b) const {
    return a.key > b.key || (a.key == b.key && a.arrival < b.arrival);
  }
};

/// A heap of ready items per device. `push` and `pop` are O(log ready) and do not allocate.
template <class Policy, class Problem>
class keyed_queue {
public:
  constexpr explicit keyed_queue(const Problem& p)
      : first_(p.num_devices(), 0), size_(p.num_devices(), 0), keys_(p.num_ops() + p.num_edges(), 0.0),
        heap_(p.num_ops() + p.num_edges(), waiting_item{}) {}

  constexpr void reset(const Policy& policy, const context<Problem>& c) {
    flow_ = &c.flow;
    arrivals_ = 0;
    std::fill(first_.begin(), first_.end(), 0);
    for (const device_id d : c.flow.placement()) {
      ++first_[d];
    }
    for (const transfer& x : c.flow.transfers()) {
      ++first_[x.from];
    }
    std::uint32_t end = 0;
    for (auto& first : first_) {
      end += first;
      first = end - first;
    }
    std::fill(size_.begin(), size_.end(), 0);
    const std::span keys{keys_.data(), c.flow.num_items()};
    if constexpr (key_policy<Policy, Problem>) {
      policy.assign_keys(c, keys);
    } else {
      for (const item_id i : ids(keys.size())) {
        keys[i] = policy(c.flow, i);
      }
    }
  }

  constexpr void push(item_id i, double now) { push(i, flow_->device_of(i), now); }
  constexpr void push(item_id i, device_id d, double) {
    operations.push(&heap_[first_[d]], size_[d]++, {keys_[i], arrivals_++, i});
  }

  constexpr item_id pop(device_id d, double) {
    if (size_[d] == 0) {
      return nothing;
    }
    auto* const heap = &heap_[first_[d]];
    const item_id i = heap->item;
    operations.pop(heap, size_[d]--);
    return i;
  }

private:
  static constexpr heap_operations<waiting_item, goes_before> operations{};
  const placed_flow<Problem>* flow_ = nullptr;
  std::uint32_t arrivals_ = 0;
  std::vector<std::uint32_t> first_; // per device: where its heap begins
  std::vector<std::uint32_t> size_;
  std::vector<double> keys_;
  buffer<waiting_item> heap_;
};

namespace detail {
template <class Policy, class Problem>
struct queue_for {
  using type = keyed_queue<Policy, Problem>;
};
template <class Policy, class Problem>
  requires selection_policy<Policy, Problem>
struct queue_for<Policy, Problem> {
  using type = typename Policy::template queue<Problem>;
};
} // namespace detail

/// The queue that serves devices under a policy.
template <class Policy, class Problem>
  requires ready_policy_for<Policy, Problem>
using queue_for = typename detail::queue_for<Policy, Problem>::type;

} // namespace weft::schedule
