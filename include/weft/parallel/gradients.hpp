// SPDX-License-Identifier: BSL-1.0
/// The gradients that a training step updates its parameters with.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::parallel {

namespace detail {

/// Gradients that ops make for updates, by their role, or that collectives bring of such.
template <class Workload>
std::vector<tensor_id> marked_gradients(const Workload& w, const std::vector<op_id>& order) {
  std::vector<tensor_id> found;
  std::vector<bool> brings(w.num_ops(), false);
  for (const op_id v : order) {
    brings[v] = role_of(w, v) == op_role::parameter_gradient;
    if (collective_types::has(w.type(v))) {
      for (const tensor_id t : w.inputs(v)) {
        brings[v] = brings[v] || (w.bytes(t) > 0 && brings[w.producer(t)]);
      }
    }
    for (const tensor_id t : w.outputs(v)) {
      const auto readers = w.consumers(t);
      if (brings[v] && w.bytes(t) > 0 &&
          std::any_of(readers.begin(), readers.end(), [&](op_id c) { return is_update(w, c); })) {
        found.push_back(t);
      }
    }
  }
  return found;
}

} // namespace detail

/// The tensors that update ops read and that ops make whose role is `op_role::parameter_gradient`; without any, those
/// that follow from the parameters which the updates change: gradients, not learning rates, nor the optimiser's state,
/// nor numbers that scale a gradient. Where nobody tells which parameters an update changes, all that it reads and that
/// is computed. Each tensor once, in a topological order of the ops that make them.
/// Complexity: O((n + m) ⌈updates / 64⌉).
template <named_workload Workload>
std::vector<tensor_id> gradients(const Workload& w) {
  const auto order = graph::topological_order(w);
  if (auto marked = detail::marked_gradients(w, order); !marked.empty()) {
    return marked;
  }
  const parameter_holders<Workload> holders{w};
  std::vector<op_id> updates;
  for (const op_id v : ids(w.num_ops())) {
    if (is_update(w, v)) {
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
        if (w.bytes(t) > 0 && !is_update(w, from)) {
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
