// SPDX-License-Identifier: BSL-1.0
/// The gradients that the updates of a training step work with, for updates that are shared by parts of them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weft::parallel::detail {

/// The gradient that an update works with: of those that it reads, or that updates before it work with, the one by
/// which it reads most; not the counts and rates beside it. One that reads a few numbers of several, such as their
/// norms, works with none. Throws `value_error` for one that reads several as a whole.
template <class Workload, class IsGradient>
tensor_id gradient_of(const Workload& w, op_id update, const std::vector<tensor_id>& with, const IsGradient& is_one) {
  constexpr byte_count few = 4096;
  const auto part_of = [&](tensor_id t) {
    const op_id from = w.producer(t);
    return is_one(t) ? t : is_update(w, from) && w.bytes(t) > 0 ? with[from] : tensor_id{none};
  };
  byte_count most = 0;
  for (const tensor_id t : w.inputs(update)) {
    most = part_of(t) != none ? std::max(most, w.bytes(t)) : most;
  }
  tensor_id found = none;
  for (const tensor_id t : w.inputs(update)) {
    const auto of = 2 * w.bytes(t) >= most ? part_of(t) : tensor_id{none};
    if (of != none && found != none && of != found) {
      if (most > few) {
        throw value_error("data_parallel", "'" + std::string{w.name(update)} +
                                             "' works on several gradients at once, so that updates cannot be sharded");
      }
      return none;
    }
    found = of != none ? of : found;
  }
  return found;
}

/// By op: of updates the gradient that each works with, and of state, and what is done with it alone, that of the
/// updates which read it, if it is one; else `none`. `is_one(t)` tells gradients. Throws as `gradient_of`.
/// Complexity: O(n + m).
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

/// By tensor: the updates that work with it, by what `updated_with` says, in order.
template <named_workload Workload>
std::vector<std::vector<op_id>> updates_by_gradient(const Workload& w, const std::vector<tensor_id>& with) {
  std::vector<std::vector<op_id>> found(w.num_tensors());
  for (const op_id v : ids(w.num_ops())) {
    is_update(w, v) && with[v] != none ? found[with[v]].push_back(v) : void();
  }
  return found;
}

} // namespace weft::parallel::detail
