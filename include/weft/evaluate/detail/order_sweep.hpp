// SPDX-License-Identifier: BSL-1.0
/// Runs of one plan whose order is kept, in many samples of times at once.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/cost/sampled.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace weft::detail {

/// Where devices run one thing at a time, keep their order, and transfers do not affect each other, all is as late as
/// the longest path that leads to it, and the paths are the same in all samples. One run of the estimate tells an order
/// in which to go through them, and each step then serves a block of samples: the same sums as in the simulator.
/// Complexity: O((n + m) samples) per plan; memory O((n + m) block).
template <class Problem>
class order_sweep {
  static constexpr std::size_t block = 16;
  using row = std::array<double, block>;

public:
  explicit order_sweep(const Problem& p)
      : problem_{&p}, estimate_{p}, ready_(p.num_ops() + p.num_edges()), free_(p.num_devices()) {
    started_.reserve(p.num_ops() + p.num_edges());
  }

  static bool covers(const Problem& p) {
    for (const device_id d : ids(p.num_devices())) {
      if (p.platform().slots(d) != 1) {
        return false;
      }
    }
    return true;
  }

  /// The makespan in each sample.
  void operator()(const plan& x, const cost::draws& drawn, std::span<double> makespans) {
    started_.clear();
    if (!estimate_.run(x, in_order{started_, static_cast<item_id>(problem_->num_ops())}).complete) {
      std::fill(makespans.begin(), makespans.end(), std::numeric_limits<double>::infinity());
      return;
    }
    for (std::size_t first = 0; first < makespans.size(); first += block) {
      const auto count = std::min(block, makespans.size() - first);
      sweep(drawn, {first, count});
      std::copy_n(end_.begin(), count, makespans.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }

private:
  /// What devices run, as it starts.
  struct in_order {
    std::vector<item_id>& started;
    item_id num_ops;
    void on_op_start(op_id v, device_id, double) { started.push_back(v); }
    void on_send_start(std::uint32_t k, const transfer&, double) { started.push_back(num_ops + k); }
  };

  static void raise(row& to, const row& at_least) {
    row raised = to; // a copy, so that compilers see that nothing overlaps, and do several samples in one operation
    for (std::size_t j = 0; j < block; ++j) {
      raised[j] = raised[j] < at_least[j] ? at_least[j] : raised[j];
    }
    to = raised;
  }
  /// The factors of the samples of a block.
  struct factors {
    std::size_t first;
    std::size_t count;
    row some{}; // of a block that is not full

    const double* of(std::span<const double> all) {
      if (count == block) {
        return all.data() + first;
      }
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), count, some.begin());
      return some.data();
    }
  };
  /// `seconds` later, as it turned out.
  static row after(const row& start, double seconds, const double* factor) {
    row end;
    for (std::size_t j = 0; j < block; ++j) {
      end[j] = start[j] + rounded(factor[j] * seconds);
    }
    return end;
  }

  void sweep(const cost::draws& drawn, factors chosen) {
    const auto& f = estimate_.flow();
    std::fill_n(ready_.begin(), f.num_items(), row{});
    std::fill(free_.begin(), free_.end(), row{});
    end_ = {};
    const auto arrive = [&](std::uint32_t k, const row& sent) {
      const transfer& x = f.transfers()[k];
      const row there = after(sent, x.transfer_time, chosen.of(drawn.of_tensor(x.tensor)));
      raise(end_, there);
      for (const op_id c : f.consumers_of_transfer(k)) {
        raise(ready_[c], there);
      }
    };
    for (const item_id i : started_) {
      const bool send = f.is_send(i);
      row& free = free_[f.device_of(i)];
      raise(free, ready_[i]);
      free = after(free, f.duration(i),
                   chosen.of(send ? drawn.of_tensor(f.transfers()[f.transfer_of(i)].tensor) : drawn.of_op(i)));
      if (send) {
        arrive(f.transfer_of(i), free);
        continue;
      }
      for (const tensor_id t : problem_->workload().outputs(i)) {
        for (const op_id c : f.local_consumers(t)) {
          raise(ready_[c], free);
        }
        for (const std::uint32_t k : f.transfers_of(t)) {
          if (f.transfers()[k].send_time > 0) {
            raise(ready_[f.send_of(k)], free);
          } else {
            arrive(k, free);
          }
        }
      }
    }
    for (const row& last : free_) {
      raise(end_, last);
    }
  }

  const Problem* problem_;
  simulator<Problem, schedule::static_order> estimate_;
  std::vector<item_id> started_;
  std::vector<row> ready_; // per item: when its inputs are there
  std::vector<row> free_;  // per device
  row end_{};
};

} // namespace weft::detail
