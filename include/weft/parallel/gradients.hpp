// SPDX-License-Identifier: BSL-1.0
/// The gradients that a training step updates its parameters with.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/optimizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::parallel {

/// The tensors that update ops (`is_update`) read and that follow from the parameters which they update: gradients,
/// not learning rates or the optimiser's state. The parameters are what holds resident bytes among what the update
/// reads, or else in its colocation group. Each tensor once, in a topological order of the ops that make them.
/// Complexity: O((n + m) ⌈updates / 64⌉).
template <named_workload Workload>
std::vector<tensor_id> gradients(const Workload& w) {
  const auto order = graph::topological_order(w);
  std::vector<op_id> updates;
  for (const op_id v : ids(w.num_ops())) {
    if (is_update(w.type(v))) {
      updates.push_back(v);
    }
  }
  std::vector<std::vector<op_id>> group(w.num_groups());
  for (const op_id v : ids(w.num_ops())) {
    if (w.group(v) != none && w.resident_bytes(v) > 0) {
      group[w.group(v)].push_back(v);
    }
  }
  const auto holders = [&](op_id update) {
    std::vector<op_id> found;
    for (const tensor_id t : w.inputs(update)) {
      if (w.bytes(t) > 0 && w.resident_bytes(w.producer(t)) > 0) {
        found.push_back(w.producer(t));
      }
    }
    if (found.empty() && w.group(update) != none) {
      found = group[w.group(update)];
    }
    std::erase(found, update);
    return found;
  };
  std::vector<bool> is_gradient(w.num_tensors(), false);
  std::vector<std::uint64_t> follows(w.num_ops()); // by op, a bit per update whose parameters it follows from
  for (std::size_t first = 0; first < updates.size(); first += 64) {
    const auto count = std::min<std::size_t>(64, updates.size() - first);
    std::fill(follows.begin(), follows.end(), 0);
    std::vector<std::uint64_t> starts(w.num_ops(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      for (const op_id v : holders(updates[first + i])) {
        starts[v] |= std::uint64_t{1} << i;
      }
    }
    for (const op_id v : order) {
      for (const tensor_id t : w.inputs(v)) {
        const op_id from = w.producer(t);
        if (w.bytes(t) > 0 && !is_update(w.type(from))) {
          follows[v] |= follows[from] | starts[from];
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (const tensor_id t : w.inputs(updates[first + i])) {
        const op_id from = w.producer(t);
        if (w.bytes(t) > 0 && w.resident_bytes(from) == 0 && (follows[from] >> i & 1) != 0) {
          is_gradient[t] = true;
        }
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
