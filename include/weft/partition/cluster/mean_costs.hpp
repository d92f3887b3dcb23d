// SPDX-License-Identifier: BSL-1.0
/// A problem as clustering sees it: on any number of devices, all alike, each like the mean of the real ones.
#pragma once

#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <vector>

namespace weft::partition::cluster {

/// Mean times in seconds, and what follows from them. Between members of one component nothing is transferred.
/// Complexity: O(n · devices + m + tensors · min(devices, 9) · devices). Memory: 28 bytes per op, 8 per tensor.
template <class Problem>
class mean_costs {
public:
  constexpr explicit mean_costs(const Problem& p)
      : p_{&p}, compute_(p.num_ops(), 0.0), transfer_(p.num_tensors(), 0.0), bottom_level_(p.num_ops(), 0.0),
        position_(p.num_ops(), 0) {
    for (const op_id v : ids(p.num_ops())) {
      compute_[v] = mean_compute(v);
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      transfer_[t] = std::ranges::empty(p.workload().consumers(t)) ? 0 : mean_transfer(t);
    }
    for (const op_id v : p.topological_order() | std::views::reverse) {
      double rest = 0;
      for (const tensor_id t : p.workload().outputs(v)) {
        for (const op_id c : p.workload().consumers(t)) {
          rest = std::max(rest, transfer(t, c) + bottom_level_[c]);
        }
      }
      bottom_level_[v] = rest + compute_[v];
    }
    std::uint32_t position = 0;
    for (const op_id v : p.topological_order()) {
      position_[v] = position++;
    }
  }

  constexpr const Problem& problem() const { return *p_; }

  /// Of v on the devices that allow it; 0 if none does.
  constexpr double compute(op_id v) const { return compute_[v]; }
  /// Send and transfer of t to consumer c, unless both are in one component.
  constexpr double transfer(tensor_id t, op_id c) const {
    return p_->component(p_->workload().producer(t)) == p_->component(c) ? 0 : transfer_[t];
  }
  /// The longest path from the start of v to the end, with all transfers.
  constexpr double bottom_level(op_id v) const { return bottom_level_[v]; }
  /// Where v stands in the problem's topological order.
  constexpr std::uint32_t position(op_id v) const { return position_[v]; }

  /// The ops by descending bottom level, ties in topological order; itself a topological order. O(n log n).
  constexpr std::vector<op_id> by_bottom_level() const {
    std::vector<op_id> sequence(p_->topological_order().begin(), p_->topological_order().end());
    std::sort(sequence.begin(), sequence.end(), [this](op_id u, op_id v) {
      return bottom_level_[u] != bottom_level_[v] ? bottom_level_[u] > bottom_level_[v] : position_[u] < position_[v];
    });
    return sequence;
  }

private:
  constexpr double mean_compute(op_id v) const {
    double sum = 0;
    std::size_t count = 0;
    for (const device_id d : ids(p_->num_devices())) {
      if (p_->allows(p_->component(v), d)) {
        sum += p_->compute_time(v, d);
        ++count;
      }
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  /// Over all ordered pairs of up to 9 devices, over 8 partners of each for more; the same pairs as HEFT's.
  constexpr double mean_transfer(tensor_id t) const {
    const auto k = static_cast<device_id>(p_->num_devices());
    const device_id partners = std::min<device_id>(k - 1, 8);
    double sum = 0;
    for (device_id i = 0; i < partners; ++i) {
      const auto stride = 1 + static_cast<device_id>(std::uint64_t{i} * (k - 1) / partners);
      for (const device_id from : ids(k)) {
        const device_id to = from + stride < k ? from + stride : from + stride - k;
        sum += p_->send_time(t, from, to) + p_->transfer_time(t, from, to);
      }
    }
    return partners == 0 ? 0 : sum / (static_cast<double>(partners) * k);
  }

  const Problem* p_;
  std::vector<double> compute_;      // per op
  std::vector<double> transfer_;     // per tensor
  std::vector<double> bottom_level_; // per op
  std::vector<std::uint32_t> position_;
};

} // namespace weft::partition::cluster
