// SPDX-License-Identifier: BSL-1.0
/// The critical path on the fastest device, the rest balanced.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::partition {

/// Finds the critical path by upward rank at average speed, and gives its ops (with their components) to the fastest
/// device that they fit. Every other component, in the random order of the seed, goes to the fitting device with the
/// least assigned compute time.
///
/// An op's average time is the inverse of its mean rate over the devices (work / mean speed for linear costs); a
/// tensor's is the mean transfer time from the first device to each other one. Ties on the path go to the smaller id.
/// Departs: when a device does not fit, the published code removes it from the list that it iterates over, and so skips
/// the device after it. Here all devices are considered.
/// Source: [CP] §3. Complexity: O(n·devices + m), of which the averages take only O(n + m + devices) for
/// `cost::linear`.
/// Choose it where one path is most of the work and transfers are cheap, because it ignores transfers.
struct critical_path {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng& random, workspace& scratch) const {
    assignment a{p};
    for (const op_id v : path(p, scratch)) {
      const component_id c = p.component(v);
      if (a.is_placed(c)) {
        continue;
      }
      const device_id d = a.best_fit(c, [&](device_id e) { return p.component_time(c, e); });
      if (d == none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    auto sequence = scratch.take<component_id>(p.num_components());
    std::iota(sequence.begin(), sequence.end(), 0u);
    random.shuffle(sequence);
    for (const component_id c : sequence) {
      if (a.is_placed(c)) {
        continue;
      }
      const device_id d = a.best_fit(c, [load = a.loads()](device_id e) { return load[e]; });
      if (d == none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    return std::move(a).take();
  }

private:
  /// Average times of ops and tensors, in seconds. For linear costs they follow from averages over the devices alone,
  /// which are taken once.
  template <class Problem>
  class averages {
    static constexpr bool is_linear = Problem::has_rates && Problem::sends_by_bytes;

  public:
    constexpr explicit averages(const Problem& p) : p_{&p}, num_devices_{static_cast<device_id>(p.num_devices())} {
      if constexpr (is_linear) {
        for (const device_id d : ids(num_devices_)) {
          mean_rate_ += p.rate(d) / num_devices_;
        }
        for (device_id d = 1; d < num_devices_; ++d) {
          const auto line = p.transfer_line(0, d);
          mean_latency_ += line.latency() / (num_devices_ - 1);
          seconds_per_byte_ += 1 / line.bandwidth() / (num_devices_ - 1);
        }
      }
    }

    constexpr double compute_time(op_id v) const {
      if constexpr (is_linear) {
        return p_->amount(v) / mean_rate_;
      } else {
        double rate = 0;
        for (const device_id d : ids(num_devices_)) {
          const double seconds = p_->unchecked_compute_time(v, d);
          if (!(seconds > 0)) {
            (void)p_->compute_time(v, d); // throws if it is not 0
            return 0;
          }
          rate += 1 / seconds;
        }
        return num_devices_ / rate;
      }
    }

    constexpr double transfer_time(tensor_id t) const {
      if constexpr (is_linear) {
        return mean_latency_ + rounded(static_cast<double>(p_->workload().bytes(t)) * seconds_per_byte_);
      } else {
        double sum = 0;
        for (device_id d = 1; d < num_devices_; ++d) {
          sum += p_->unchecked_transfer_time(t, 0, d) / (num_devices_ - 1);
        }
        for (device_id d = 1; !(sum >= 0) && d < num_devices_; ++d) {
          (void)p_->transfer_time(t, 0, d); // throws
        }
        return sum;
      }
    }

  private:
    const Problem* p_;
    device_id num_devices_;
    double mean_rate_ = 0;
    double mean_latency_ = 0;
    double seconds_per_byte_ = 0;
  };

  template <class Problem>
  static constexpr std::vector<op_id> path(const Problem& p, workspace& scratch) {
    const auto& w = p.workload();
    const averages average{p};
    auto rank = scratch.take<double>(p.num_ops(), 0.0);
    auto next = scratch.take<op_id>(p.num_ops(), none);
    for (const op_id v : reversed(p.topological_order())) {
      double rest = 0;
      for (const tensor_id t : w.outputs(v)) {
        const double transfer = average.transfer_time(t);
        for (const op_id c : w.consumers(t)) {
          const double through = transfer + rank[c];
          if (next[v] == none || through > rest || (through == rest && c < next[v])) {
            rest = through;
            next[v] = c;
          }
        }
      }
      rank[v] = rest + average.compute_time(v);
    }
    op_id at = none;
    for (const op_id v : ids(p.num_ops())) {
      if (at == none || rank[v] > rank[at]) {
        at = v;
      }
    }
    std::vector<op_id> result;
    for (; at != none; at = next[at]) {
      result.push_back(at);
    }
    return result;
  }
};

} // namespace weft::partition
