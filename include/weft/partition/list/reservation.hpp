// SPDX-License-Identifier: BSL-1.0
/// Memory reservations of a placement in the making, for schedulers that ask a million times.
#pragma once

#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::partition::list {

/// One byte per op that answers what is otherwise spread over the problem's columns.
template <class Problem>
class op_facts {
public:
  constexpr explicit op_facts(const Problem& p) : facts_(p.num_ops(), 0) {
    least_capacity_ = p.capacity(0);
    for (const device_id d : ids(p.num_devices())) {
      least_capacity_ = std::min(least_capacity_, p.capacity(d));
    }
    byte_count free = least_capacity_;
    for (component_id c = 0; c < p.num_components(); ++c) {
      const auto members = p.members(c);
      const bool everywhere = p.kinds(c).is_all() && p.demand(c) <= least_capacity_;
      const auto facts = static_cast<std::uint8_t>((members.size() == 1 ? 1 : 0) | (everywhere ? 2 : 0));
      for (const op_id v : members) {
        facts_[v] = facts;
      }
      ample_ = ample_ && p.demand(c) <= free;
      free -= ample_ ? p.demand(c) : 0;
    }
  }

  /// Whether v is its component.
  constexpr bool alone(op_id v) const { return (facts_[v] & 1) != 0; }
  /// Whether `problem::allows` v's component on every device.
  constexpr bool allowed_everywhere(op_id v) const { return (facts_[v] & 2) != 0; }
  /// Whether each device could hold everything.
  constexpr bool ample() const { return ample_; }

private:
  std::vector<std::uint8_t> facts_;
  byte_count least_capacity_ = 0;
  bool ample_ = true;
};

/// Places component after component like `assignment`, without its loads, and looks at memory only where it can bind.
template <class Problem>
class reservation {
public:
  constexpr explicit reservation(const Problem& p)
      : p_{&p}, facts_{p}, placement_(p.num_ops(), none), free_(p.num_devices(), 0) {
    for (const device_id d : ids(p.num_devices())) {
      free_[d] = p.capacity(d);
    }
    least_free_ = *std::min_element(free_.begin(), free_.end());
  }

  constexpr device_id device(op_id v) const { return placement_[v]; } ///< `none` if not placed yet
  constexpr bool alone(op_id v) const { return facts_.alone(v); }

  /// Whether v's component, which is not placed yet, fits on d; on all devices.
  constexpr bool fits(op_id v, device_id d) const {
    const component_id c = p_->component(v);
    return p_->kinds(c).contains(p_->platform().kind(d)) && (facts_.ample() || p_->demand(c) <= free_[d]);
  }
  constexpr bool fits_everywhere(op_id v) const {
    return facts_.allowed_everywhere(v) && (facts_.ample() || p_->demand(p_->component(v)) <= least_free_);
  }

  /// Places v's component, if it is not placed. Precondition: it is there, or `fits(v, d)`.
  constexpr void place(op_id v, device_id d) {
    if (placement_[v] != none) {
      WEFT_ASSERT(placement_[v] == d);
      return;
    }
    WEFT_ASSERT(fits(v, d));
    if (!facts_.ample()) {
      p_->memories().take(free_, d, p_->demand(p_->component(v)));
      least_free_ = std::min(least_free_, free_[d]);
    }
    if (alone(v)) {
      placement_[v] = d;
      return;
    }
    for (const op_id u : p_->members(p_->component(v))) {
      placement_[u] = d;
    }
  }

  constexpr infeasibility why_unplaced(op_id v) const { return p_->why_unplaced(p_->component(v), free_); }
  constexpr placement take() && { return std::move(placement_); }

private:
  const Problem* p_;
  op_facts<Problem> facts_;
  placement placement_;
  std::vector<byte_count> free_; // per device; not kept where memory is ample
  byte_count least_free_ = 0;
};

} // namespace weft::partition::list
