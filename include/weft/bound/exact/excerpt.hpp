// SPDX-License-Identifier: BSL-1.0
/// Some ops of a problem, as a problem of their own.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/edges.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::bound::exact {

/// The subproblem between some ops of a problem: their times, their tensors and their colocation groups. They have
/// numbers of their own, 0, 1, 2, …, as have their tensors and components, and devices are numbered as they were given.
/// The last of these may be a crowd: many devices that count as one which does everything as well as the best of them,
/// at once, and within which nothing travels.
template <class Problem>
class excerpt {
public:
  /// All ops, with the numbers that they have.
  excerpt(const Problem& p, const std::vector<device_id>& devices) : excerpt{p, devices, std::vector<device_id>{}} {
    const auto order = p.topological_order();
    order_.assign(order.begin(), order.end());
    ops_.resize(p.num_ops());
    for (const op_id v : ids(p.num_ops())) {
      ops_[v] = v;
    }
    number();
  }
  /// No ops so far. `crowd`: may be empty.
  excerpt(const Problem& p, const std::vector<device_id>& devices, const std::vector<device_id>& crowd)
      : problem_{&p}, crowd_{crowd}, devices_{devices}, op_number_(p.num_ops(), none),
        tensor_number_(p.num_tensors(), none), component_number_(p.num_components(), none) {
    if (!crowd.empty()) {
      devices_.push_back(crowd.front());
    }
  }

  /// These ops, numbered in this order, which is topological; the last one takes no time: a makespan is when it starts.
  void take(std::span<const op_id> ops) {
    forget();
    ops_.assign(ops.begin(), ops.end());
    for (op_id v = 0; v < ops_.size(); ++v) {
      order_.push_back(v);
    }
    timeless_ = static_cast<op_id>(ops_.size() - 1);
    number();
  }

  /// The one with which the crowd begins stands for it.
  const std::vector<device_id>& devices() const { return devices_; }
  byte_count capacity(std::size_t d) const {
    return is_crowd(d) ? std::numeric_limits<byte_count>::max() : problem_->capacity(devices_[d]);
  }
  /// The first of the devices that works in the same memory, or d.
  std::size_t memory_of(std::size_t d) const {
    std::size_t first = 0;
    while (first < d && (is_crowd(d) || problem_->memory_of(devices_[first]) != problem_->memory_of(devices_[d]))) {
      ++first;
    }
    return first;
  }
  std::size_t slots(std::size_t d) const { return is_crowd(d) ? num_ops() : problem_->platform().slots(devices_[d]); }

  std::size_t num_ops() const { return ops_.size(); }
  const std::vector<op_id>& order() const { return order_; }
  std::uint32_t component(op_id v) const { return component_number_[problem_->component(ops_[v])]; }
  /// Infinite where v's component may not be.
  double compute_time(op_id v, std::size_t d) const {
    return least(d, [&](device_id e) {
      const bool allowed = problem_->allows(problem_->component(ops_[v]), e);
      return !allowed ? infinity : v == timeless_ ? 0.0 : problem_->compute_time(ops_[v], e);
    });
  }

  std::size_t num_components() const { return members_.size(); }
  std::span<const op_id> members(std::uint32_t c) const { return members_[c]; }
  byte_count demand(std::uint32_t c) const { return problem_->demand(problem_->component(ops_[members_[c].front()])); }

  /// Of those that some op here needs and another makes.
  std::size_t num_tensors() const { return tensors_.size(); }
  double send_time(std::uint32_t t, std::size_t from, std::size_t to) const {
    return from == to ? 0 : least(from, [&](device_id e) {
      return least(to, [&](device_id f) { return problem_->send_time(tensors_[t], e, f); });
    });
  }
  double transfer_time(std::uint32_t t, std::size_t from, std::size_t to) const {
    return from == to ? 0 : least(from, [&](device_id e) {
      return least(to, [&](device_id f) { return problem_->transfer_time(tensors_[t], e, f); });
    });
  }

  /// Calls f(u, tensor) for each op right before v.
  template <class F>
  void for_each_before(op_id v, F f) const {
    graph::for_each_predecessor(problem_->workload(), ops_[v], at_edge(f));
  }
  template <class F>
  void for_each_after(op_id v, F f) const {
    graph::for_each_successor(problem_->workload(), ops_[v], at_edge(f));
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  bool is_crowd(std::size_t d) const { return !crowd_.empty() && d + 1 == devices_.size(); }
  /// Of what f says of d, or of all of the crowd.
  template <class F>
  double least(std::size_t d, F f) const {
    if (!is_crowd(d)) {
      return f(devices_[d]);
    }
    double x = infinity;
    for (const device_id e : crowd_) {
      x = std::min(x, f(e));
    }
    return x;
  }

  template <class F>
  auto at_edge(F& f) const {
    return [this, &f](op_id u, const flow_edge& e) {
      if (op_number_[u] != none) {
        f(op_number_[u], tensor_number_[e.tensor]);
      }
    };
  }

  void number() {
    for (op_id v = 0; v < ops_.size(); ++v) {
      op_number_[ops_[v]] = v;
      auto& c = component_number_[problem_->component(ops_[v])];
      if (c == none) {
        c = static_cast<std::uint32_t>(members_.size());
        members_.emplace_back();
      }
      members_[c].push_back(v);
    }
    for (const op_id v : ops_) {
      graph::for_each_predecessor(problem_->workload(), v, [&](op_id u, const flow_edge& e) {
        if (op_number_[u] != none && tensor_number_[e.tensor] == none) {
          tensor_number_[e.tensor] = static_cast<std::uint32_t>(tensors_.size());
          tensors_.push_back(e.tensor);
        }
      });
    }
  }
  void forget() {
    for (const op_id v : ops_) {
      op_number_[v] = none;
      component_number_[problem_->component(v)] = none;
    }
    for (const tensor_id t : tensors_) {
      tensor_number_[t] = none;
    }
    ops_.clear();
    order_.clear();
    members_.clear();
    tensors_.clear();
  }

  const Problem* problem_;
  std::vector<device_id> crowd_;
  std::vector<device_id> devices_;
  std::vector<op_id> ops_; ///< as the problem has them
  std::vector<op_id> order_;
  std::vector<tensor_id> tensors_; ///< as the problem has them
  std::vector<std::vector<op_id>> members_;
  std::vector<op_id> op_number_; ///< per op of the problem; `none` if it is not here
  std::vector<std::uint32_t> tensor_number_;
  std::vector<std::uint32_t> component_number_;
  op_id timeless_ = none;
};

} // namespace weft::bound::exact
