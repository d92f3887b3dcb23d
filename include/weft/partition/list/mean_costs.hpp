// SPDX-License-Identifier: BSL-1.0
/// Mean compute times of ops and mean transfer times of tensors, before anything is placed.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/cost/linear.hpp"
#include "weft/partition/list/cost_rows.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::partition::list {

/// Mean times in seconds: to compute an op, over the devices that its component allows; to send and transfer a tensor,
/// over all ordered pairs of up to 9 devices, over 8 partners of each for more.
///
/// If the cost model has rates and transfer lines, their means are computed once, and each mean is a product: O(1)
/// then, else O(devices) per op and O(pairs) per tensor. The two differ by rounding only.
template <class Problem>
class mean_costs {
  static constexpr bool by_classes = Problem::has_class_times && !Problem::has_rates;

public:
  constexpr explicit mean_costs(const Problem& p) : p_{&p}, facts_{p} {
    const auto k = static_cast<device_id>(p.num_devices());
    partners_ = std::min<device_id>(k - 1, 8);
    if constexpr (Problem::has_rates) {
      for (const device_id d : ids(k)) {
        slowness_ += 1 / static_cast<double>(p.rate(d));
      }
      slowness_ /= k;
      knows_rates_ = slowness_ > 1e-280 && slowness_ < 1e280;
    }
    if constexpr (by_classes) {
      sum_up();
    }
    if constexpr (Problem::sends_by_bytes) {
      if (p.has_lines() && partners_ > 0 && p.num_tensors() > 0) {
        for_each_pair([&](device_id from, device_id to) {
          const auto line = p.transfer_line(from, to);
          fixed_ += p.send_overhead(from) + line.latency();
          fixed_of_message_ += p.send_overhead(from, true) + line.latency();
          inverse_ += 1 / static_cast<double>(line.bandwidth());
        });
        fixed_ /= num_pairs();
        fixed_of_message_ /= num_pairs();
        inverse_ /= num_pairs();
        knows_links_ = inverse_ < 1e280 && fixed_ < 1e280;
      }
    }
  }

  /// Whether v is its component.
  constexpr bool alone(op_id v) const { return facts_.alone(v); }

  /// Over the devices that are allowed and on which v does not take for ever; 0 if there are none.
  constexpr double compute(op_id v) const {
    if constexpr (Problem::has_rates) {
      if (knows_rates_ && facts_.allowed_everywhere(v)) {
        if (const double mean = p_->amount(v) * slowness_; mean >= 0) [[likely]] {
          return mean;
        }
      }
    }
    if constexpr (by_classes) {
      if (sums_[v] < std::numeric_limits<double>::infinity() && facts_.allowed_everywhere(v)) [[likely]] {
        return sums_[v] / static_cast<double>(p_->num_devices());
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
      const auto& w = p_->workload();
      return (is_message(w, t) ? fixed_of_message_ : fixed_) + rounded(static_cast<double>(w.bytes(t)) * inverse_);
    }
    double sum = 0;
    for_each_pair([&](device_id from, device_id to) {
      sum += p_->send_time(t, from, to) + p_->transfer_time(t, from, to);
    });
    return partners_ == 0 ? 0 : sum / num_pairs();
  }

private:
  /// Sums of each op's times on all devices, device by device as `compute` does it, but several ops at a time, so that
  /// no addition waits for the one before.
  constexpr void sum_up() {
    constexpr std::size_t together = 4;
    const std::size_t n = p_->num_ops();
    std::vector<std::uint32_t> number;
    for (const device_id d : ids(p_->num_devices())) {
      number.push_back(p_->class_number(d));
    }
    sums_.assign(n, 0.0);
    for (std::size_t first = 0; first < n; first += together) {
      const double* times[together];
      double sum[together] = {};
      for (std::size_t i = 0; i < together; ++i) {
        times[i] = p_->class_times(static_cast<op_id>(std::min(first + i, n - 1)));
      }
      for (const std::uint32_t c : number) {
        for (std::size_t i = 0; i < together; ++i) {
          sum[i] += times[i][c];
        }
      }
      for (std::size_t i = 0; i < together && first + i < n; ++i) {
        sums_[first + i] = sum[i];
      }
    }
  }

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
  bool knows_rates_ = false;
  bool knows_links_ = false;
  std::vector<double> sums_; // per op: Σ of the times on all devices
  double slowness_ = 0; // mean of 1 / rate
  double fixed_ = 0;    // mean of send + latency
  double fixed_of_message_ = 0; // the same for messages of collectives
  double inverse_ = 0;  // mean of 1 / bandwidth
};

} // namespace weft::partition::list
