// SPDX-License-Identifier: BSL-1.0
/// A step in micro-batches, whose gradients are added up before the updates, as pipelines take it.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/optimizer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::parallel {

namespace detail {

/// By op: whether it follows from something that grows with the batch, and neither is an update nor waits for one: what
/// waits for updates and for averages of the batch, as the end of a step does, comes after all micro-batches.
template <class Workload>
std::vector<bool> follows_batch(const Workload& step, const Workload& other) {
  std::vector<bool> follows(step.num_ops(), false), updated(step.num_ops(), false);
  for (const op_id v : graph::topological_order(step)) {
    bool does = false;
    for (const tensor_id t : step.outputs(v)) {
      does = does || step.bytes(t) != other.bytes(t);
    }
    for (const tensor_id t : step.inputs(v)) {
      does = does || follows[step.producer(t)];
      updated[v] = updated[v] || updated[step.producer(t)];
    }
    updated[v] = updated[v] || is_update(step.type(v));
    follows[v] = does && !updated[v];
  }
  return follows;
}

} // namespace detail

/// A step of `count` micro-batches. `step` is that of one of them, `other` the same ops with another batch: what grows
/// from one to the other, and what follows from it, is done for each micro-batch; what does not, such as parameters,
/// updates and state, is there once. What a micro-batch makes for ops that are there once, such as its gradients, is
/// added up where it is made, in the order of micro-batches. Op v runs on `where[v]` in all of them. Ops of micro-batch
/// k are called `micro_k/…`; `replica` is the micro-batch, or 0 for what is there once.
///
/// Throws `value_error` if there are no micro-batches, for a placement of another number of ops, and if `other` has
/// other ops. Complexity: O(count (n + m)).
/// Source: Huang et al., *GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism*, 2019.
template <named_workload Workload>
parallel_workload micro_batched(const Workload& step, const Workload& other, std::uint32_t count,
                                const placement& where, double element_bytes = 4) {
  const auto refuse = [](const std::string& problem) { return value_error("micro_batched", problem); };
  if (count == 0 || where.size() != step.num_ops()) {
    throw refuse(std::to_string(count) + " micro-batches, and a placement of " + std::to_string(where.size()) +
                 " ops for a step of " + std::to_string(step.num_ops()));
  }
  if (!have_same_ops(step, other)) {
    throw refuse("the step with another batch has other ops");
  }

  const auto follows = detail::follows_batch(step, other);
  workload_builder b;
  parallel_workload made;
  const auto note = [&](std::uint32_t k, op_id v, op_id origin) {
    made.where.push_back(where[v]);
    made.origin.push_back(origin);
    made.replica.push_back(k);
  };
  const auto name_of = [](std::uint32_t k, std::string_view name) {
    return "micro_" + std::to_string(k) + "/" + std::string{name};
  };
  std::vector<op_id> copies; // by micro-batch and op
  std::vector<op_id> first(step.num_groups(), none);
  for (std::uint32_t k = 0; k < count; ++k) {
    for (const op_id v : ids(step.num_ops())) {
      if (k > 0 && !follows[v]) {
        copies.push_back(copies[v]);
        continue;
      }
      const op_id copy = b.add_op({.work = step.work(v),
                                   .resident_bytes = k == 0 ? step.resident_bytes(v) : 0,
                                   .kinds = step.kinds(v),
                                   .name = follows[v] ? name_of(k, step.name(v)) : std::string{step.name(v)},
                                   .type = std::string{step.type(v)}});
      copies.push_back(copy);
      note(k, v, v);
      for (const tensor_id t : step.outputs(v)) {
        b.add_output(copy, step.bytes(t));
      }
      if (const auto g = step.group(v); g != none) {
        first[g] == none ? void(first[g] = copy) : b.colocate(first[g], copy);
      }
    }
  }
  const auto copy_of = [&](std::uint32_t k, op_id v) { return copies[std::size_t{k} * step.num_ops() + v]; };

  for (const tensor_id t : ids(step.num_tensors())) {
    const op_id v = step.producer(t);
    const auto output = static_cast<std::uint32_t>(t - *step.outputs(v).begin());
    op_output sum; // over all micro-batches, once somebody wants it
    for (const op_id reader : step.consumers(t)) {
      if (follows[reader] || !follows[v]) {
        for (std::uint32_t k = 0; k < (follows[reader] ? count : 1); ++k) {
          b.add_edge(copy_of(k, v), copy_of(k, reader), output);
        }
        continue;
      }
      if (step.bytes(t) == 0) {
        for (std::uint32_t k = 0; k < count; ++k) {
          b.add_edge(copy_of(k, v), copy_of(0, reader), output);
        }
        continue;
      }
      if (sum.op == none) {
        sum = {copy_of(0, v), output};
        for (std::uint32_t k = 1; k < count; ++k) {
          const op_id add = b.add_op({.work = static_cast<double>(step.bytes(t)) / element_bytes,
                                      .bytes = step.bytes(t),
                                      .kinds = step.kinds(v),
                                      .name = name_of(k, step.name(v)) + "/accumulate",
                                      .type = "Add"});
          note(k, v, none);
          b.add_edge(sum.op, add, sum.output);
          b.add_edge(copy_of(k, v), add, output);
          sum = {add, 0};
        }
      }
      b.add_edge(sum.op, copy_of(0, reader), sum.output);
    }
  }
  made.graph = std::move(b).build();
  return made;
}

} // namespace weft::parallel
