// SPDX-License-Identifier: BSL-1.0
/// Heterogeneous earliest finish time, with insertion, sends, colocation and memory.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/schedule/timeline.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <vector>

namespace weft::partition {

/// HEFT: ops in descending upward rank (ties: topologically first); each on the device where it finishes earliest, in
/// the first gap that is long enough (ties: smaller device id). Returns the order that it planned, too, for
/// `schedule::static_order`.
///
/// The rank counts mean compute times over the allowed devices and mean send and transfer times over pairs of devices
/// (nothing between colocated ops). Beyond the paper: a tensor is sent to a device once; it arrives a send and a
/// transfer after its producer finished; an op goes only where its component fits; and the first member of a
/// colocation group decides for the whole group, which is why `group_weight` times the other members' compute time on
/// a device counts against it.
///
/// Sends delay, but the plan does not book them on the sender's queue: a send is only known once its consumer has been
/// placed, when the good gaps are gone, and plans that book it there came out 10 % longer when they were run. So with
/// sends a run is a little longer than planned; without, it is as planned.
///
/// Source: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002. Complexity: O(devices · (n + m)) plus the gaps passed.
/// Uses no randomness.
struct heft {
  double group_weight = 1; ///< how much of a group's other work counts when its first member chooses

  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    builder<Problem> b{p};
    const auto rank = upward_ranks(p);
    auto sequence = scratch.take<op_id>(0);
    for (const op_id v : p.topological_order()) {
      sequence.push_back(v);
    }
    auto position = scratch.take<std::uint32_t>(p.num_ops());
    for (std::uint32_t i = 0; i < sequence.size(); ++i) {
      position[sequence[i]] = i;
    }
    std::sort(sequence.begin(), sequence.end(),
              [&](op_id u, op_id v) { return rank[u] != rank[v] ? rank[u] > rank[v] : position[u] < position[v]; });
    for (const op_id v : sequence) {
      if (!b.schedule(v, group_weight)) {
        return b.why_unplaced(v);
      }
    }
    return std::move(b).take();
  }

  /// The upward rank of every op, in seconds. O(n·devices + m·pairs), with at most 8 · devices pairs of devices.
  template <class Problem>
  static constexpr std::vector<double> upward_ranks(const Problem& p) {
    const auto& w = p.workload();
    std::vector<double> rank(p.num_ops(), 0.0);
    for (const op_id v : p.topological_order() | std::views::reverse) {
      double rest = 0;
      for (const tensor_id t : w.outputs(v)) {
        if (std::ranges::empty(w.consumers(t))) {
          continue;
        }
        const double transfer = mean_transfer(p, t);
        for (const op_id c : w.consumers(t)) {
          rest = std::max(rest, (p.component(c) == p.component(v) ? 0 : transfer) + rank[c]);
        }
      }
      rank[v] = rest + mean_compute(p, v);
    }
    return rank;
  }

private:
  template <class Problem>
  static constexpr double mean_compute(const Problem& p, op_id v) {
    double sum = 0;
    std::size_t count = 0;
    for (const device_id d : ids(p.num_devices())) {
      if (p.allows(p.component(v), d)) {
        sum += p.compute_time(v, d);
        ++count;
      }
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  /// Send and transfer, over all ordered pairs of up to 9 devices, over 8 partners of each for more.
  template <class Problem>
  static constexpr double mean_transfer(const Problem& p, tensor_id t) {
    const auto k = static_cast<device_id>(p.num_devices());
    const device_id partners = std::min<device_id>(k - 1, 8);
    double sum = 0;
    for (device_id i = 0; i < partners; ++i) {
      const auto stride = 1 + static_cast<device_id>(std::uint64_t{i} * (k - 1) / partners);
      for (const device_id from : ids(k)) {
        const device_id to = from + stride < k ? from + stride : from + stride - k;
        sum += p.send_time(t, from, to) + p.transfer_time(t, from, to);
      }
    }
    return partners == 0 ? 0 : sum / (static_cast<double>(partners) * k);
  }

  /// A schedule in the making.
  template <class Problem>
  class builder {
  public:
    constexpr explicit builder(const Problem& p)
        : p_{&p}, assignment_{p}, finish_(p.num_ops(), 0.0), slots_(p.num_devices(), std::vector<schedule::timeline>{}) {}

    constexpr bool schedule(op_id v, double weight_of_group) {
      const component_id c = p_->component(v);
      device_id best = assignment_.device(v);
      if (best == none) {
        double least = 0;
        const bool alone = p_->members(c).size() == 1;
        for (const device_id d : ids(p_->num_devices())) {
          if (!assignment_.fits(c, d)) {
            continue;
          }
          const double own = p_->compute_time(v, d);
          double finish = find_gap(d, inputs_ready(v, d), own).start + own;
          if (!alone) {
            finish += weight_of_group * (p_->component_time(c, d) - own);
          }
          if (best == none || finish < least) {
            best = d;
            least = finish;
          }
        }
        if (best == none) {
          return false;
        }
        assignment_.place(c, best);
      }
      commit(v, best);
      return true;
    }

    constexpr infeasibility why_unplaced(op_id v) const { return assignment_.why_unplaced(p_->component(v)); }

    /// The steps in the order of their start; that order is topological, since a step that leads to another was
    /// scheduled before it and does not finish later than it starts.
    constexpr plan take() && {
      std::sort(steps_.begin(), steps_.end(), [](const timed_step& a, const timed_step& b) {
        return a.start != b.start     ? a.start < b.start
               : a.finish != b.finish ? a.finish < b.finish
                                      : a.number < b.number;
      });
      plan result{std::move(assignment_).take(), {}};
      result.order.reserve(steps_.size());
      for (const auto& s : steps_) {
        result.order.push_back(step::run(s.op));
      }
      return result;
    }

  private:
    struct timed_step {
      double start;
      double finish;
      std::uint32_t number; // in the order of scheduling
      op_id op;
    };
    struct gap {
      std::size_t slot; ///< of the device
      double start;
    };

    /// The earliest gap in the slots that are in use, or else in the next one.
    constexpr gap find_gap(device_id d, double ready, double duration) const {
      const auto& used = slots_[d];
      gap best{used.size(), ready};
      if (used.size() == p_->platform().slots(d)) {
        best = {0, used[0].earliest_gap(ready, duration)};
      }
      for (std::size_t s = 0; s < used.size(); ++s) {
        const double start = used[s].earliest_gap(ready, duration);
        if (start < best.start || (start == best.start && s < best.slot)) {
          best = {s, start};
        }
      }
      return best;
    }

    /// When t is on d, if it goes there as soon as it can.
    constexpr double arrival(tensor_id t, device_id d) const {
      const op_id u = p_->workload().producer(t);
      const device_id from = assignment_.device(u);
      return from == d ? finish_[u] : finish_[u] + p_->send_time(t, from, d) + p_->transfer_time(t, from, d);
    }

    constexpr double inputs_ready(op_id v, device_id d) const {
      double ready = 0;
      for (const tensor_id t : p_->workload().inputs(v)) {
        ready = std::max(ready, arrival(t, d));
      }
      return ready;
    }

    constexpr void commit(op_id v, device_id d) {
      const double duration = p_->compute_time(v, d);
      const gap g = find_gap(d, inputs_ready(v, d), duration);
      finish_[v] = g.start + duration;
      if (g.slot == slots_[d].size()) {
        slots_[d].push_back({});
      }
      slots_[d][g.slot].reserve(g.start, finish_[v]);
      steps_.push_back({g.start, finish_[v], static_cast<std::uint32_t>(steps_.size()), v});
    }

    const Problem* p_;
    assignment<Problem> assignment_;
    std::vector<double> finish_;                          // per op
    std::vector<std::vector<schedule::timeline>> slots_;  // per device, those in use
    std::vector<timed_step> steps_;
  };
};

} // namespace weft::partition
