// SPDX-License-Identifier: BSL-1.0
/// Memory use of each device over time, and out-of-memory errors.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/live_ranges.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace weft::simulate {

/// From `time` on a device holds `bytes`, until its next sample.
struct memory_sample {
  double time = 0;
  device_id device = none;
  byte_count bytes = 0;
};

/// The first moment at which a device holds more than it can; of several devices, the one with the smallest id.
struct out_of_memory {
  device_id device = none;
  double time = 0;
  byte_count bytes = 0;
  byte_count capacity = 0;
};

/// Follows the memory of every device through a run: resident bytes of its ops, and the tensors alive there. A tensor
/// lives on its producer's device from the op's start until its last local consumer has finished and its last send is
/// over (a transfer without a send holds it until the transfer may begin), and on a consumer's device from the
/// transfer's start until its last consumer there has finished. Memory that is freed at an instant can be allocated at
/// that instant; a tensor that lives for no time takes no memory. Where devices share a memory, all that they hold
/// counts on the one whose memory it is, and transfers between them copy nothing.
///
/// Kept between runs, it does not allocate after the first. Complexity: O((n + m) log(n + m)) per run.
template <class Problem>
class memory_tracker {
public:
  explicit memory_tracker(const Problem& p)
      : problem_{&p}, peak_(p.num_devices(), 0), held_(p.num_devices(), 0),
        live_ranges_{p.workload(), p.platform()} {
    changes_.reserve(2 * (p.num_tensors() + p.num_edges()));
  }
  explicit memory_tracker(const Problem&&, weft::detail::problem_must_outlive_it = {}) = delete;

  /// Takes a complete run.
  void follow(const placement& where, const trace& run) {
    changes_.clear();
    live_ranges_(where, run, [this](const live_range& s) {
      const auto bytes = static_cast<std::int64_t>(problem_->workload().bytes(s.tensor));
      changes_.push_back({s.begin, s.device, bytes});
      changes_.push_back({s.end, s.device, -bytes});
    });
    weft::sort(changes_, [](const change& a, const change& b) {
      return a.time != b.time ? a.time < b.time : a.device < b.device;
    });
    overflow_.reset();
    std::fill(held_.begin(), held_.end(), 0);
    for (const op_id v : ids(problem_->num_ops())) {
      held_[problem_->memory_of(where[v])] += problem_->workload().resident_bytes(v);
    }
    auto next = changes_.begin();
    const auto apply = [&] { // wraps for negative changes, as it should
      held_[next->device] += static_cast<byte_count>(next->bytes);
      ++next;
    };
    while (next != changes_.end() && next->time == 0) {
      apply();
    }
    for (const device_id d : ids(held_.size())) {
      peak_[d] = held_[d];
      check(d, 0);
    }
    while (next != changes_.end()) {
      const auto [time, d, bytes] = *next;
      while (next != changes_.end() && next->time == time && next->device == d) {
        apply();
      }
      if (held_[d] > peak_[d]) {
        peak_[d] = held_[d];
        check(d, time);
      }
    }
  }

  /// Bytes at the worst moment, per device.
  const std::vector<byte_count>& peaks() const { return peak_; }
  /// Σ over devices of what they lack at their worst moments, in units of what they may hold.
  double excess() const {
    double sum = 0;
    for (const device_id d : ids(peak_.size())) {
      const byte_count most = problem_->capacity(d);
      if (peak_[d] > most) {
        sum += static_cast<double>(peak_[d] - most) / std::max(1.0, static_cast<double>(most));
      }
    }
    return sum;
  }
  byte_count largest_peak() const { return *std::max_element(peak_.begin(), peak_.end()); }
  const std::optional<out_of_memory>& overflow() const { return overflow_; }

  /// The levels over time, by time and then device; several changes at one instant make one sample.
  std::vector<memory_sample> samples(const placement& where) const {
    std::vector<byte_count> level(peak_.size(), 0);
    for (const op_id v : ids(problem_->num_ops())) {
      level[problem_->memory_of(where[v])] += problem_->workload().resident_bytes(v);
    }
    std::vector<memory_sample> result;
    for (const device_id d : ids(level.size())) {
      result.push_back({0, d, level[d]});
    }
    for (const auto& [time, device, bytes] : changes_) {
      level[device] += static_cast<byte_count>(bytes);
      if (time == 0) {
        result[device].bytes = level[device];
      } else if (result.back().time == time && result.back().device == device) {
        result.back().bytes = level[device];
      } else {
        result.push_back({time, device, level[device]});
      }
    }
    return result;
  }

private:
  struct change {
    double time;
    device_id device;
    std::int64_t bytes;
  };

  void check(device_id d, double time) {
    const auto capacity = problem_->capacity(d);
    if (!overflow_ && peak_[d] > capacity) {
      overflow_ = out_of_memory{d, time, peak_[d], capacity};
    }
  }

  const Problem* problem_;
  std::vector<byte_count> peak_;
  std::vector<byte_count> held_;
  live_ranges_of_runs<typename Problem::workload_type> live_ranges_;
  buffer<change> changes_;
  std::optional<out_of_memory> overflow_;
};

} // namespace weft::simulate
