// SPDX-License-Identifier: BSL-1.0
/// A placement in the making: placed components, the memory left, and the load of each device.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace weft::partition {

/// Places component after component and keeps the books that all partitioners need. A partitioner that places only
/// where `fits` says so respects kinds, colocation and capacity by construction.
template <class Problem>
class assignment {
public:
  constexpr explicit assignment(const Problem& p)
      : problem_{&p}, placement_(p.num_ops(), none), kind_(p.num_devices(), kind_set{}), free_(p.num_devices(), 0),
        load_(p.num_devices(), 0.0) {
    for (const device_id d : ids(p.num_devices())) {
      kind_[d] = p.platform().kind(d);
      free_[d] = p.capacity(d);
    }
  }

  constexpr bool fits(component_id c, device_id d) const {
    return !(problem_->kinds(c) & kind_[d]).empty() && free_[d] >= problem_->demand(c);
  }

  /// Precondition: `fits(c, d)`, and c is not placed.
  constexpr void place(component_id c, device_id d) {
    WEFT_ASSERT(fits(c, d) && !is_placed(c));
    problem_->memories().take(free_, d, problem_->demand(c));
    load_[d] += problem_->component_time(c, d);
    for (const op_id v : problem_->members(c)) {
      placement_[v] = d;
    }
  }

  /// The first fitting device from `first` on, wrapping around; `none` if there is none.
  constexpr device_id first_fit(component_id c, device_id first) const {
    const auto k = static_cast<device_id>(problem_->num_devices());
    for (device_id i = 0; i < k; ++i) {
      const device_id d = first + i < k ? first + i : first + i - k;
      if (fits(c, d)) {
        return d;
      }
    }
    return none;
  }

  /// The fitting device with the smallest `value(d)`, ties to the smaller id; `none` if nothing fits.
  template <class Value>
  constexpr device_id best_fit(component_id c, Value value) const {
    const auto takes = [kinds = problem_->kinds(c), demand = problem_->demand(c), kind = kind_.data(),
                        free = free_.data()](device_id d) { return !(kinds & kind[d]).empty() && free[d] >= demand; };
    const auto k = static_cast<device_id>(problem_->num_devices());
    device_id best = 0;
    while (best < k && !takes(best)) {
      ++best;
    }
    if (best == k) {
      return none;
    }
    double least = value(best);
    double x = 0;
    for (device_id d = best + 1; d < k; ++d) {
      if (takes(d) && (x = value(d)) < least) {
        best = d;
        least = x;
      }
    }
    return best;
  }

  constexpr bool is_placed(component_id c) const { return placement_[problem_->members(c).front()] != none; }
  constexpr device_id device(op_id v) const { return placement_[v]; } ///< `none` if not placed yet
  constexpr byte_count free(device_id d) const { return free_[d]; }   ///< bytes not reserved yet
  constexpr double load(device_id d) const { return load_[d]; }       ///< seconds of compute time assigned
  constexpr std::span<const double> loads() const { return load_; }
  constexpr infeasibility why_unplaced(component_id c) const { return problem_->why_unplaced(c, free_); }
  /// Throws `value_error` if an op that was placed runs nowhere in finite time.
  constexpr placement take() && {
    const auto endless = [](double load) { return !(load < std::numeric_limits<double>::infinity()); };
    if (std::any_of(load_.begin(), load_.end(), endless)) [[unlikely]] {
      for (const op_id v : ids(placement_.size())) {
        if (placement_[v] != none && endless(problem_->compute_time(v, placement_[v]))) {
          problem_->check_runs_somewhere(v);
        }
      }
    }
    return std::move(placement_);
  }

private:
  const Problem* problem_;
  placement placement_;
  buffer<kind_set> kind_; // the inner loop over devices reads what it needs from neighbouring memory
  std::vector<byte_count> free_;
  std::vector<double> load_;
};

} // namespace weft::partition
