// SPDX-License-Identifier: BSL-1.0
/// The dependences between ops, without tensors, for executors and for critical-path order.
#pragma once

#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"

#include <span>
#include <vector>

namespace weft::concurrency {

/// The consumers of every op, how many inputs it waits for, and a topological order; models `dataflow_graph`. Memory:
/// 12 bytes per op, 4 per edge.
class op_graph {
public:
  op_graph() = default;

  /// Throws `cycle_error`. Complexity: O(n + m).
  template <dataflow_workload W>
  explicit op_graph(const W& w) : num_inputs_{graph::in_degrees(w)}, order_{graph::topological_order(w)} {
    first_.push_back(0);
    for (const op_id v : ids(order_.size())) {
      graph::for_each_successor(w, v, [this](op_id c) { consumers_.push_back(c); });
      first_.push_back(static_cast<std::uint32_t>(consumers_.size()));
    }
  }

  std::size_t num_ops() const { return order_.size(); }
  /// One entry per tensor that the consumer reads.
  std::span<const op_id> consumers(op_id v) const {
    return std::span{consumers_}.subspan(first_[v], first_[v + 1] - first_[v]);
  }
  /// The number of tensors that each op waits for.
  std::span<const std::uint32_t> num_inputs() const { return num_inputs_; }
  std::span<const op_id> topological_order() const { return order_; }

  /// For graph algorithms: an edge is the consumer.
  std::span<const op_id> out_edges(op_id v) const { return consumers(v); }
  op_id target(op_id e) const { return e; }

private:
  std::vector<std::uint32_t> num_inputs_;
  std::vector<std::uint32_t> first_;
  std::vector<op_id> consumers_;
  std::vector<op_id> order_;
};

} // namespace weft::concurrency
