// SPDX-License-Identifier: BSL-1.0
/// The latency of one sample on a host-staged platform, when accelerators run their ops in blocks.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/schedule/check_plan.hpp"
#include "weft/throughput/charges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace weft::throughput {

/// Evaluates placements by the latency objective, again and again without allocating. Refers to the problem.
///
/// An op on a host starts when its inputs' producers are done; hosts have as many cores as there are ops. The ops of an
/// accelerator are cut into **pieces** that are contiguous: no path leaves a piece and comes back. Along each path,
/// ops of one device are in its first piece until the path has left the device, in the next one from when it comes
/// back, and so on; an op is in the latest piece that a path to it asks for. A piece starts when the producers of all
/// that comes in are done, takes Σ import times of the distinct tensors that come in + Σ compute times + Σ export times
/// of the distinct own tensors that go out, and all its ops are done at its end. Pieces of one device may overlap.
/// Source: Tarnawski et al., NeurIPS 2020, section 4.
template <staged_problem Problem>
class latency_evaluator {
public:
  explicit latency_evaluator(const Problem& p)
      : problem_{&p}, lane_(p.num_devices(), none), piece_(p.num_ops()), stamp_(p.num_ops(), none),
        waiting_(p.num_ops()), start_(p.num_ops()), duration_(p.num_ops()), first_member_(p.num_ops() + 1),
        members_(p.num_ops()) {
    for (const device_id d : ids(p.num_devices())) {
      if (p.platform().kind(d) != device_kind::cpu) {
        lane_[d] = static_cast<std::uint32_t>(num_lanes_++);
      }
    }
    level_.resize(p.num_ops() * num_lanes_);
    number_.resize(p.num_ops() * num_lanes_);
    ready_.reserve(p.num_ops());
  }
  explicit latency_evaluator(const Problem&&, weft::detail::problem_must_outlive_it = {}) = delete;

  /// Seconds; infinite if some pieces wait for each other. Throws if some op is on no device.
  /// Complexity: O((n + m) · accelerators). Memory: 8 bytes per op and accelerator.
  double operator()(const placement& where) {
    cut(where);
    measure(where);
    return run();
  }

  /// Of the last evaluation: Σ durations of all pieces and host ops, in seconds.
  double total() const { return total_; }
  /// Of the last evaluation: the piece of each op; an op on a host is a piece of its own. Numbered in the topological
  /// order of their first ops.
  const std::vector<std::uint32_t>& pieces() const { return piece_; }

private:
  void cut(const placement& where) {
    const auto& p = *problem_;
    std::fill(level_.begin(), level_.end(), 0u);
    std::fill(number_.begin(), number_.end(), none);
    num_pieces_ = 0;
    for (const op_id v : p.topological_order()) {
      std::uint32_t* const mine = level_.data() + v * num_lanes_; // the least piece of each lane that v may lead to
      const std::uint32_t lane = lane_[where[v]];
      graph::for_each_predecessor(p.workload(), v, [&](op_id u) {
        const std::uint32_t from = lane_[where[u]];
        for (std::uint32_t l = 0; l < num_lanes_; ++l) {
          const std::uint32_t left = l == from && l != lane ? 1 : 0;
          mine[l] = std::max(mine[l], level_[u * num_lanes_ + l] + left);
        }
      });
      if (lane == none) {
        piece_[v] = num_pieces_++;
      } else {
        auto& number = number_[lane * p.num_ops() + mine[lane]];
        piece_[v] = number == none ? number = num_pieces_++ : number;
      }
    }
  }

  void measure(const placement& where) {
    const auto& p = *problem_;
    const auto& w = p.workload();
    std::fill(duration_.begin(), duration_.end(), 0.0);
    std::fill(start_.begin(), start_.end(), 0.0);
    std::fill(waiting_.begin(), waiting_.end(), 0u);
    std::fill(stamp_.begin(), stamp_.end(), none);
    std::fill(first_member_.begin(), first_member_.end(), 0u);
    for (const op_id v : ids(p.num_ops())) {
      duration_[piece_[v]] += p.compute_time(v, where[v]);
      ++first_member_[piece_[v]];
    }
    std::partial_sum(first_member_.begin(), first_member_.end(), first_member_.begin());
    for (const op_id v : ids(p.num_ops())) {
      members_[--first_member_[piece_[v]]] = v;
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      const op_id u = w.producer(t);
      bool leaves = false;
      for (const op_id v : w.consumers(t)) {
        const std::uint32_t to = piece_[v];
        if (to != piece_[u]) {
          leaves = true;
          ++waiting_[to];
          if (stamp_[to] != t) {
            stamp_[to] = t;
            duration_[to] += p.import_time(t, where[v]);
          }
        }
      }
      if (leaves) {
        duration_[piece_[u]] += p.export_time(t, where[u]);
      }
    }
  }

  double run() {
    const auto& w = problem_->workload();
    ready_.clear();
    for (std::uint32_t i = 0; i < num_pieces_; ++i) {
      if (waiting_[i] == 0) {
        ready_.push_back(i);
      }
    }
    double end = 0;
    total_ = 0;
    for (std::size_t done = 0; done < ready_.size(); ++done) {
      const std::uint32_t i = ready_[done];
      const double finish = start_[i] + duration_[i];
      total_ += duration_[i];
      end = std::max(end, finish);
      for (std::uint32_t m = first_member_[i]; m < first_member_[i + 1]; ++m) {
        graph::for_each_successor(w, members_[m], [&](op_id v) {
          const std::uint32_t to = piece_[v];
          if (to != i) {
            start_[to] = std::max(start_[to], finish);
            if (--waiting_[to] == 0) {
              ready_.push_back(to);
            }
          }
        });
      }
    }
    return ready_.size() == num_pieces_ ? end : std::numeric_limits<double>::infinity();
  }

  const Problem* problem_;
  std::size_t num_lanes_ = 0; // 64 bits, as it multiplies numbers of ops
  std::vector<std::uint32_t> lane_;   // per device: its number among the accelerators, or none
  std::vector<std::uint32_t> level_;  // ops x lanes
  std::vector<std::uint32_t> number_; // lanes x levels: the piece
  std::uint32_t num_pieces_ = 0;
  std::vector<std::uint32_t> piece_;
  std::vector<std::uint32_t> stamp_;   // per piece: the tensor that came in last
  std::vector<std::uint32_t> waiting_; // per piece: inputs whose producers are not done
  std::vector<double> start_;          // per piece
  std::vector<double> duration_;       // per piece
  std::vector<std::uint32_t> first_member_; // pieces + 1, and equal entries for pieces that there are not
  std::vector<op_id> members_;
  std::vector<std::uint32_t> ready_;
  double total_ = 0;
};

/// Seconds that one sample takes; see `latency_evaluator`. Infinite if pieces wait for each other. Throws as `loads`
/// does.
template <staged_problem Problem>
double latency(const Problem& p, const placement& where) {
  check_placement(p, where, "placement");
  return latency_evaluator<Problem>{p}(where);
}

/// No placement has a smaller latency: the longest path, each op in its least time on an allowed device.
/// Complexity: O(n · devices + m).
template <staged_problem Problem>
double latency_bound(const Problem& p) {
  std::vector<double> finish(p.num_ops(), 0.0);
  double longest = 0;
  for (const op_id v : p.topological_order()) {
    double least = std::numeric_limits<double>::infinity();
    for (const device_id d : ids(p.num_devices())) {
      least = p.allows(p.component(v), d) ? std::min(least, p.compute_time(v, d)) : least;
    }
    if (!(least < std::numeric_limits<double>::infinity())) {
      p.check_runs_somewhere(v);
    }
    finish[v] = least + graph::max_over_predecessors(p.workload(), v, 0.0, [&](op_id u) { return finish[u]; });
    longest = std::max(longest, finish[v]);
  }
  return longest;
}

} // namespace weft::throughput
