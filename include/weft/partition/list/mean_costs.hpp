// SPDX-License-Identifier: BSL-1.0
/// What an op and a tensor cost on average, before anything is placed.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/cost/linear.hpp"
#include "weft/partition/list/cost_rows.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weft::partition::list {

/// Mean times in seconds: to compute an op, over the devices that its component allows; to send and transfer a tensor,
/// over all ordered pairs of up to 9 devices, over 8 partners of each for more.
///
/// For linear costs and transfers over links the mean rate is computed once, and each mean is a product: O(1) then,
/// else O(devices) per op and O(pairs) per tensor. The two differ by rounding only.
template <class Problem>
class mean_costs {
  using workload_type = typename Problem::workload_type;
  using platform_type = typename Problem::platform_type;
  using cost_type = typename Problem::cost_type;

public:
  constexpr explicit mean_costs(const Problem& p) : p_{&p}, facts_{p} {
    const auto k = static_cast<device_id>(p.num_devices());
    partners_ = std::min<device_id>(k - 1, 8);
    if constexpr (computes_linearly<cost_type, workload_type, platform_type>) {
      for (const device_id d : ids(k)) {
        slowness_ += 1 / static_cast<double>(p.platform().speed(d));
      }
      slowness_ /= k;
      knows_speeds_ = slowness_ > 1e-280 && slowness_ < 1e280;
    }
    if constexpr (cost::moves_over_links<cost_type, workload_type, platform_type>) {
      if (partners_ > 0 && p.num_tensors() > 0) {
        for_each_pair([&](device_id from, device_id to) {
          fixed_ += p.send_time(0, from, to) + p.platform().latency(from, to);
          inverse_ += 1 / static_cast<double>(p.platform().bandwidth(from, to));
        });
        fixed_ /= num_pairs();
        inverse_ /= num_pairs();
        knows_links_ = inverse_ < 1e280 && fixed_ < 1e280;
      }
    }
  }

  /// Whether v is its component.
  constexpr bool alone(op_id v) const { return facts_.alone(v); }

  /// Over the devices that are allowed and on which v does not take for ever; 0 if there are none.
  constexpr double compute(op_id v) const {
    if (knows_speeds_ && facts_.allowed_everywhere(v)) {
      if (const double mean = p_->workload().work(v) * slowness_; mean >= 0) [[likely]] {
        return mean;
      }
    }
    const component_id c = p_->component(v);
    double sum = 0;
    std::size_t count = 0;
    for (const device_id d : ids(p_->num_devices())) {
      const double time = p_->allows(c, d) ? p_->unchecked_compute_time(v, d) // each is looked at before v is placed
                                           : std::numeric_limits<double>::infinity();
      if (!(time == std::numeric_limits<double>::infinity())) {
        sum += time;
        ++count;
      }
    }
    if (!(sum >= 0)) [[unlikely]] { // not a number, so that ranks would not be
      p_->check_compute_times(v);
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  /// 0 if there is only one device.
  constexpr double transfer(tensor_id t) const {
    if (knows_links_) {
      return fixed_ + rounded(static_cast<double>(p_->workload().bytes(t)) * inverse_);
    }
    double sum = 0;
    for_each_pair([&](device_id from, device_id to) {
      sum += p_->send_time(t, from, to) + p_->transfer_time(t, from, to);
    });
    return partners_ == 0 ? 0 : sum / num_pairs();
  }

private:
  constexpr double num_pairs() const { return static_cast<double>(partners_) * static_cast<double>(p_->num_devices()); }

  template <class Function>
  constexpr void for_each_pair(Function f) const {
    const auto k = static_cast<device_id>(p_->num_devices());
    for (device_id i = 0; i < partners_; ++i) {
      const auto stride = 1 + static_cast<device_id>(std::uint64_t{i} * (k - 1) / partners_);
      for (const device_id from : ids(k)) {
        f(from, from + stride < k ? from + stride : from + stride - k);
      }
    }
  }

  const Problem* p_;
  op_facts<Problem> facts_;
  device_id partners_ = 0;
  bool knows_speeds_ = false;
  bool knows_links_ = false;
  double slowness_ = 0; // mean of 1 / speed
  double fixed_ = 0;    // mean of send + latency
  double inverse_ = 0;  // mean of 1 / bandwidth
};

} // namespace weft::partition::list
