// SPDX-License-Identifier: BSL-1.0
/// The gradients that a training step updates its parameters with.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/parameter_holders.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::parallel {

/// The tensors that update ops (`is_update`) read and that follow from the parameters which they update: gradients,
/// not learning rates, nor the optimiser's state, nor numbers that scale a gradient. Where nobody tells which
/// parameters an update changes, all that it reads and that is computed. Each tensor once, in a topological order of
/// the ops that make them. Complexity: O((n + m) ⌈updates / 64⌉).
template <named_workload Workload>
std::vector<tensor_id> gradients(const Workload& w) {
  const auto order = graph::topological_order(w);
  const parameter_holders<Workload> holders{w};
  std::vector<op_id> updates;
  for (const op_id v : ids(w.num_ops())) {
    if (is_update(w.type(v))) {
      updates.push_back(v);
    }
  }
  std::vector<bool> is_gradient(w.num_tensors(), false);
  std::vector<std::uint64_t> holds(w.num_ops()), follows(w.num_ops()); // by op, a bit per update
  for (std::size_t first = 0; first < updates.size(); first += 64) {
    const auto count = std::min<std::size_t>(64, updates.size() - first);
    std::fill(holds.begin(), holds.end(), 0);
    std::fill(follows.begin(), follows.end(), 0);
    std::uint64_t known = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (const op_id v : holders.of(updates[first + i])) {
        holds[v] |= std::uint64_t{1} << i;
        known |= std::uint64_t{1} << i;
      }
    }
    for (const op_id v : order) {
      for (const tensor_id t : w.inputs(v)) {
        const op_id from = w.producer(t);
        if (w.bytes(t) > 0 && !is_update(w.type(from))) {
          follows[v] |= follows[from] | holds[from];
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto bit = std::uint64_t{1} << i;
      const auto may_be = [&](tensor_id t) {
        const op_id from = w.producer(t);
        return w.bytes(t) > 0 && ((known & bit) != 0 ? (follows[from] & bit) != 0 && (holds[from] & bit) == 0
                                                     : !w.inputs(from).empty());
      };
      byte_count most = 0;
      for (const tensor_id t : w.inputs(updates[first + i])) {
        most = may_be(t) ? std::max(most, w.bytes(t)) : most;
      }
      for (const tensor_id t : w.inputs(updates[first + i])) {
        is_gradient[t] = is_gradient[t] || (may_be(t) && 2 * w.bytes(t) >= most);
      }
    }
  }
  std::vector<tensor_id> found;
  for (const op_id v : order) {
    for (const tensor_id t : w.outputs(v)) {
      if (is_gradient[t]) {
        found.push_back(t);
      }
    }
  }
  return found;
}

} // namespace weft::parallel
