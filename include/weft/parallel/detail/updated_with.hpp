// SPDX-License-Identifier: BSL-1.0
/// The gradients that the updates of a training step work with, for updates that are shared by parts of them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/role.hpp"

#include <vector>

namespace weft::parallel::detail {

/// The gradient that an update works with: the first one that it reads, or else that of the updates before it. One
/// that follows from several, such as a norm of all, works with none.
template <class Workload, class IsGradient>
tensor_id gradient_of(const Workload& w, op_id update, const std::vector<tensor_id>& with, const IsGradient& is_one) {
  tensor_id found = none;
  bool several = false;
  for (const tensor_id t : w.inputs(update)) {
    if (is_one(t)) {
      return t;
    }
    const op_id from = w.producer(t);
    const auto of = is_update(w, from) ? with[from] : tensor_id{none};
    several = several || (of != none && found != none && of != found);
    found = of != none ? of : found;
  }
  return several ? tensor_id{none} : found;
}

/// By op: of updates the gradient that each works with, and of state, and what is done with it alone, that of the
/// updates which read it, if it is one; else `none`. `is_one(t)` tells gradients. Complexity: O(n + m).
template <named_workload Workload, class IsGradient>
std::vector<tensor_id> updated_with(const Workload& w, const IsGradient& is_one) {
  const auto order = graph::topological_order(w);
  std::vector<tensor_id> with(w.num_ops(), none);
  for (const op_id v : order) {
    with[v] = is_update(w, v) ? gradient_of(w, v, with, is_one) : tensor_id{none};
  }
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const op_id v = *i;
    tensor_id of_all = none;
    bool same = with[v] == none && (w.resident_bytes(v) > 0 || is_update(w, v));
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id reader : w.consumers(t)) {
        const auto of = is_update(w, reader) ? with[reader] : tensor_id{none};
        same = same && of != none && (of_all == none || of_all == of);
        of_all = of;
      }
    }
    with[v] = same && of_all != none ? of_all : with[v];
  }
  return with;
}

} // namespace weft::parallel::detail
