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
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
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
    updated[v] = updated[v] || is_update(step, v);
    follows[v] = does && !updated[v];
  }
  return follows;
}

/// By op of those that are `repeated`: whether it comes after the sums over the batch, and so is done once, on the sums
/// of all micro-batches: it makes and reads nothing that grows, nothing that follows from it does but by an update, and
/// it leads to an update; or it follows from such an op. What it reads of the batch leads nowhere else, as gradients of
/// parameters do not, also of an op that makes the gradient of its input besides: statistics of a batch, which the
/// forward pass makes with the examples that they scale, are those of each micro-batch.
template <class Workload>
std::vector<bool> after_sums(const Workload& step, const Workload& other, const std::vector<bool>& repeated) {
  const auto n = step.num_ops();
  const auto order = graph::topological_order(step);
  const auto grows = [&](tensor_id t) { return step.bytes(t) != other.bytes(t); };
  std::vector<bool> updates(n, false), leads_on(n, false), is_awaited(n, false); // by data; and by control edges, too
  std::vector<bool> is_read_on(step.num_tensors(), false); // leads on by itself
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const op_id v = *i;
    for (const tensor_id t : step.outputs(v)) {
      const bool is_data = step.bytes(t) > 0;
      is_read_on[t] = grows(t);
      for (const op_id c : step.consumers(t)) {
        updates[v] = updates[v] || (is_data && (is_update(step, c) || (repeated[c] && updates[c])));
        is_read_on[t] = is_read_on[t] || (is_data && repeated[c] && leads_on[c]);
        is_awaited[v] = is_awaited[v] || (repeated[c] && is_awaited[c]);
      }
      leads_on[v] = leads_on[v] || is_read_on[t];
      is_awaited[v] = is_awaited[v] || grows(t);
    }
  }
  std::vector<bool> found(n, false);
  for (const op_id v : order) {
    bool is_sum_only = updates[v] && !is_awaited[v], reads_batch = false;
    for (const tensor_id t : step.inputs(v)) {
      const op_id u = step.producer(t);
      const bool leads = is_gradient(step, u) ? is_read_on[t] : leads_on[u];
      is_sum_only = is_sum_only && !(repeated[u] && step.bytes(t) > 0 && leads);
      reads_batch = reads_batch || repeated[u];
      found[v] = found[v] || found[u];
    }
    found[v] = repeated[v] && (found[v] || (is_sum_only && reads_batch));
  }
  return found;
}

} // namespace detail

/// True for ops that add their inputs.
inline bool is_sum(std::string_view type) { return type == "Add" || type == "AddN" || type == "AddV2"; }

/// By op of a step of one micro-batch: whether it is done for each of them. So is what grows from the step to `other`,
/// the same with another batch, and what follows from that, but for updates, what waits for them, and
/// - what lies between sums over the batch and updates, such as the norm of all gradients and what is clipped by it: it
///   gets the sums of all micro-batches;
/// - sums that only such ops read, as of the gradients of a parameter that is used twice: sums of sums are the same.
///
/// Throws `value_error` if `other` has other ops. Complexity: O(n + m).
template <named_workload Workload>
std::vector<bool> repeated_ops(const Workload& step, const Workload& other) {
  if (!have_same_ops(step, other)) {
    throw value_error("repeated_ops", "the step with another batch has other ops");
  }
  auto repeated = detail::follows_batch(step, other);
  const auto after = detail::after_sums(step, other, repeated);
  for (const op_id v : ids(step.num_ops())) {
    repeated[v] = repeated[v] && !after[v];
  }
  const auto order = graph::topological_order(step);
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const op_id v = *i;
    if (!repeated[v] || !is_sum(step.type(v)) || step.outputs(v).size() != 1) {
      continue;
    }
    const tensor_id sum = *step.outputs(v).begin();
    bool is_once = !step.consumers(sum).empty() && step.bytes(sum) == other.bytes(sum);
    for (const op_id c : step.consumers(sum)) {
      is_once = is_once && !repeated[c];
    }
    for (const tensor_id t : step.inputs(v)) {
      is_once = is_once && repeated[step.producer(t)] && step.bytes(t) == step.bytes(sum);
    }
    repeated[v] = !is_once;
  }
  return repeated;
}

/// The way in which what micro-batches make for ops that are there once is added up.
enum class micro_batch_sums : std::uint8_t {
  ops,     ///< by an op for each further micro-batch, with its time, which makes a new tensor
  in_place ///< into what the first one made, by those that make it, whose times have to include it; an op that takes no
           ///< time and has no work gives it on after the last
};

/// A step of `count` micro-batches. Ops that are `repeated` are done for each of them; others, such as parameters,
/// updates and state, are there once. What a micro-batch makes for ops that are there once, such as its gradients, is
/// added up where it is made, in the order of micro-batches. Op v runs on `where[v]` in all of them. Ops of micro-batch
/// k are called `micro_k/…`; `replica` is the micro-batch, or 0 for what is there once.
///
/// Throws `value_error` if there are no micro-batches, and for vectors of another number of ops.
/// Complexity: O(count (n + m)).
/// Source: Huang et al., *GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism*, 2019.
template <named_workload Workload>
parallel_workload micro_batched(const Workload& step, const std::vector<bool>& repeated, std::uint32_t count,
                                const placement& where, double element_bytes = 4,
                                micro_batch_sums sums = micro_batch_sums::ops) {
  if (count == 0 || where.size() != step.num_ops() || repeated.size() != step.num_ops()) {
    throw value_error("micro_batched", std::to_string(count) + " micro-batches, and a placement of " +
                                         std::to_string(where.size()) + " ops for a step of " +
                                         std::to_string(step.num_ops()));
  }

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
  const auto is_added_in_place = [&](tensor_id t) { // and nothing else
    const auto& readers = step.consumers(t);
    return sums == micro_batch_sums::in_place && repeated[step.producer(t)] && !readers.empty() &&
           std::none_of(readers.begin(), readers.end(), [&](op_id c) { return bool{repeated[c]}; });
  };
  std::vector<op_id> copies; // by micro-batch and op
  std::vector<op_id> first(step.num_groups(), none);
  for (std::uint32_t k = 0; k < count; ++k) {
    for (const op_id v : ids(step.num_ops())) {
      if (k > 0 && !repeated[v]) {
        copies.push_back(copies[v]);
        continue;
      }
      op o = op_of(step, v);
      o.resident_bytes = k == 0 ? o.resident_bytes : 0;
      o.name = repeated[v] ? name_of(k, o.name) : o.name;
      const op_id copy = b.add_op(std::move(o));
      copies.push_back(copy);
      note(k, v, v);
      for (const tensor_id t : step.outputs(v)) {
        b.add_output(copy, k > 0 && is_added_in_place(t) ? 0 : step.bytes(t));
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
    const auto added = [&](std::uint32_t k, const char* what) { // as a graph's names for outputs: those after the first
      return name_of(k, step.name(v)) + "/" + what + (output == 0 ? "" : "_" + std::to_string(output));
    };
    for (const op_id reader : step.consumers(t)) {
      if (repeated[reader] || !repeated[v]) {
        for (std::uint32_t k = 0; k < (repeated[reader] ? count : 1); ++k) {
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
        if (is_added_in_place(t) && count > 1) {
          const op_id last = b.add_op({.bytes = step.bytes(t),
                                       .kinds = step.kinds(v),
                                       .name = added(count - 1, "accumulated"),
                                       .type = "NoOp"});
          note(count - 1, v, none);
          b.add_edge(sum.op, last, output);
          for (std::uint32_t k = 1; k < count; ++k) {
            b.add_edge(copy_of(k, v), last, output);
          }
          sum = {last, 0};
        }
        for (std::uint32_t k = 1; k < count && !is_added_in_place(t); ++k) {
          const op_id add = b.add_op({.work = static_cast<double>(step.bytes(t)) / element_bytes,
                                      .bytes = step.bytes(t),
                                      .kinds = step.kinds(v),
                                      .name = added(k, "accumulate"),
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

/// The same with `repeated_ops(step, other)`.
template <named_workload Workload>
parallel_workload micro_batched(const Workload& step, const Workload& other, std::uint32_t count,
                                const placement& where, double element_bytes = 4) {
  return micro_batched(step, repeated_ops(step, other), count, where, element_bytes);
}

} // namespace weft::parallel
