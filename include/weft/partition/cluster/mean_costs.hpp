// SPDX-License-Identifier: BSL-1.0
/// A problem as clustering sees it: on any number of devices, all alike, each like the mean of the real ones.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/partition/list/mean_costs.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <vector>

namespace weft::partition::cluster {

/// The mean times of `list::mean_costs`, and what follows from them. Between members of one component nothing is
/// transferred. Complexity: O(m) and the means'. Memory: 28 bytes per op, 8 per tensor.
template <class Problem>
class mean_costs {
public:
  constexpr explicit mean_costs(const Problem& p)
      : p_{&p}, compute_(p.num_ops(), 0.0), transfer_(p.num_tensors(), 0.0), position_(p.num_ops(), 0) {
    const list::mean_costs mean{p};
    for (const op_id v : ids(p.num_ops())) {
      compute_[v] = mean.compute(v);
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      transfer_[t] = std::ranges::empty(p.workload().consumers(t)) ? 0 : mean.transfer(t);
    }
    bottom_level_ = graph::longest_to_sink(
      p.workload(), p.topological_order(), [this](op_id v) { return compute_[v]; },
      [this](const flow_edge& e) { return transfer(e.tensor, e.target); });
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
    weft::sort(sequence, [this](op_id u, op_id v) {
      return bottom_level_[u] != bottom_level_[v] ? bottom_level_[u] > bottom_level_[v] : position_[u] < position_[v];
    });
    return sequence;
  }

private:
  const Problem* p_;
  std::vector<double> compute_;      // per op
  std::vector<double> transfer_;     // per tensor
  std::vector<double> bottom_level_; // per op
  std::vector<std::uint32_t> position_;
};

} // namespace weft::partition::cluster
