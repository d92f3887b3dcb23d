// SPDX-License-Identifier: BSL-1.0
/// A training step that makes results of its forward pass again instead of keeping them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/components.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/stored_as.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// The backward pass of a training step, per op: gradients, and what follows from one.
/// Complexity: O(n + m).
template <named_workload Workload>
std::vector<bool> backward_ops(const Workload& step) {
  std::vector<bool> backward(step.num_ops(), false);
  for (const op_id v : graph::topological_order(step)) {
    const auto inputs = step.inputs(v);
    backward[v] = is_gradient(step, v) || std::any_of(inputs.begin(), inputs.end(), [&](tensor_id t) {
      return bool{backward[step.producer(t)]};
    });
  }
  return backward;
}

/// A training step in which `recompute` are made again for the backward pass, whose ops read copies of them. The
/// copies, `recompute/<name>`, follow the ops of the step, which keep their ids. Ops that hang together are made again
/// together, as soon as what the first of their readers waits for is there: the gradient that comes from the layer
/// behind. Gradients that read nothing of the backward pass, such as the shape of a result, can run at once, and read
/// what was made first. Of what the backward pass does not read nothing is made again. Ops of the backward pass, ops
/// without inputs and those that are made of parameters alone are left out.
///
/// `training_step_with_origins` does the same while it makes the gradients. Throws `dangling_id_error` for ops that are
/// not there. Complexity: O((n + m) log n).
/// Source: Chen, Xu, Zhang, Guestrin, *Training Deep Nets with Sublinear Memory Cost*, arXiv 1604.06174.
template <named_workload Workload>
expanded_workload recomputed_step(const Workload& step, const std::vector<op_id>& recompute) {
  const auto n = step.num_ops();
  const auto sorted = graph::topological_order(step);
  const auto backward = backward_ops(step);
  std::vector<bool> waits(n, false); // for another op of the backward pass: what it reads is made again
  for (const op_id v : sorted) {
    for (const tensor_id t : step.inputs(v)) {
      waits[v] = waits[v] || backward[step.producer(t)];
    }
  }
  const auto of_parameters = made_of_parameters(step);
  std::vector<bool> again(n, false);
  for (const op_id v : recompute) {
    if (v >= n) {
      throw dangling_id_error("recomputed_step", "there is no op " + std::to_string(v) + " in the step");
    }
    again[v] = !backward[v] && !of_parameters[v] && !step.inputs(v).empty();
  }
  graph::disjoint_sets segments{n};
  std::vector<bool> wanted(n, false); // by the backward pass, itself or for a copy
  for (auto i = sorted.rbegin(); i != sorted.rend(); ++i) {
    const op_id v = *i;
    for (const tensor_id t : step.outputs(v)) {
      for (const op_id c : step.consumers(t)) {
        if (again[v] && step.bytes(t) > 0 && (wanted[c] || waits[c])) {
          wanted[v] = true;
          wanted[c] ? segments.unite(v, c) : void();
        }
      }
    }
  }

  expanded_workload made;
  std::vector<op_id> copy(n, none);
  workload_builder b;
  copy_ops(
    b, step, [&](op_id v) { return step.resident_bytes(v); }, [&](tensor_id t) { return step.bytes(t); },
    [&](tensor_id t, op_id c) { return !wanted[step.producer(t)] || !waits[c] || step.bytes(t) == 0; });
  for (const op_id v : ids(n)) {
    made.origin.push_back(v);
  }
  std::vector<std::vector<op_id>> triggers(n); // by segment
  std::vector<bool> has_reader(n, false);
  for (const op_id v : sorted) {
    if (wanted[v]) {
      op o = op_of(step, v);
      o.name = "recompute/" + o.name;
      o.role = op_role::gradient;
      o.resident_bytes = 0;
      copy[v] = b.add_op(std::move(o));
      made.origin.push_back(v);
      for (const tensor_id t : step.outputs(v)) {
        b.add_output(copy[v], step.bytes(t));
      }
      if (step.group(v) != none || step.resident_bytes(v) > 0) {
        b.colocate(v, copy[v]);
      }
    }
    for (const tensor_id t : step.inputs(v)) { // the first reader of a segment's copies tells when they are made
      const auto s = waits[v] && wanted[step.producer(t)] ? segments.find(step.producer(t)) : none;
      if (s != none && step.bytes(t) > 0 && !has_reader[s]) {
        has_reader[s] = true;
        for (const tensor_id other : step.inputs(v)) {
          if (backward[step.producer(other)]) {
            triggers[s].push_back(step.producer(other));
          }
        }
      }
    }
  }
  for (const op_id v : sorted) {
    bool is_first = wanted[v];
    for (const tensor_id t : step.inputs(v)) {
      const op_id from = step.producer(t);
      const auto output = static_cast<std::uint32_t>(t - *step.outputs(from).begin());
      if (wanted[v] && step.bytes(t) > 0) {
        is_first = is_first && !wanted[from];
        b.add_edge(wanted[from] ? copy[from] : from, copy[v], output);
      } else if (waits[v] && wanted[from] && step.bytes(t) > 0) {
        b.add_edge(copy[from], v, output);
      }
    }
    if (is_first) { // the others follow
      auto& before = triggers[segments.find(v)];
      sort_unique(before);
      for (const op_id u : before) {
        b.add_control_edge(u, copy[v]);
      }
    }
  }
  made.graph = std::move(b).build();
  return made;
}

} // namespace weft
