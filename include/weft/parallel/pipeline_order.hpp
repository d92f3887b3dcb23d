// SPDX-License-Identifier: BSL-1.0
/// The order of a pipeline's ops in which each stage alternates between forward and backward passes (1F1B).
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/partition/op_name.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace weft::parallel {

namespace detail {

/// The place of an op among the passes of its stage. `setup` comes before all passes, `update` after them.
enum class pass : std::uint8_t { setup, forward, backward, update };

/// By op of a step: the pass that it belongs to.
template <class Workload>
std::vector<pass> passes_of(const Workload& step, const Workload& other) {
  const auto follows = follows_batch(step, other);
  std::vector<bool> after(step.num_ops(), false); // something that follows the batch
  std::vector<bool> is_backward(step.num_ops(), false);
  std::vector<pass> found(step.num_ops(), pass::setup);
  for (const op_id v : graph::topological_order(step)) {
    after[v] = follows[v];
    is_backward[v] = partition::op_name{step.name(v)}.is_gradient;
    for (const tensor_id t : step.inputs(v)) {
      after[v] = after[v] || after[step.producer(t)];
      is_backward[v] = is_backward[v] || is_backward[step.producer(t)];
    }
    if (after[v]) {
      found[v] = !follows[v] ? pass::update : is_backward[v] ? pass::backward : pass::forward;
    }
  }
  return found;
}

} // namespace detail

/// The order of a step in micro-batches (`micro_batched(step, other, …)`) whose stages are on `devices`, the first one
/// first: **one forward, one backward**. With `count` micro-batches, stage s of S runs the forward passes of min(count,
/// S - s) of them, and then alternately the backward pass of the oldest one and the forward pass of the next; so it
/// holds the activations of S - s micro-batches, however many there are. What does not depend on the batch comes first,
/// updates come last, in a topological order as within each pass. A sum of gradients belongs to the backward pass of
/// the micro-batch that it adds. Other devices, such as a host that reads the input, take the turns of the first stage.
/// Names tell the ops of the backward pass (`partition::op_name`), with all that follows
/// from them.
///
/// Tensors of the forward pass must lead to the same or a later stage, those of the backward pass to the same or an
/// earlier one, as `pipeline_stages` sees to; else who makes a program of the order says that it contradicts the graph.
/// Throws `value_error` if there are no stages, and if `made` was not made of the step.
/// Complexity: O(n log n + m).
/// Source: Narayanan et al., *PipeDream: Generalized Pipeline Parallelism for DNN Training*, SOSP 2019, section 3.2,
/// with the updates after all micro-batches, as in *Efficient Large-Scale Language Model Training on GPU Clusters Using
/// Megatron-LM*, SC 2021, section 2.2.1.
template <named_workload Workload>
order one_forward_one_backward(const parallel_workload& made, const Workload& step, const Workload& other,
                               std::span<const device_id> devices) {
  if (devices.empty()) {
    throw value_error("one_forward_one_backward", "there are no stages");
  }
  const auto num_ops = made.graph.num_ops();
  std::uint32_t count = 1;
  for (const op_id v : ids(num_ops)) {
    count = std::max(count, made.replica[v] + 1);
    if (made.origin[v] != none && made.origin[v] >= step.num_ops()) {
      throw value_error("one_forward_one_backward", "the micro-batches are those of another step");
    }
  }
  const auto passes = detail::passes_of(step, other);
  const auto num_stages = static_cast<std::uint32_t>(devices.size());
  std::vector<std::uint32_t> turn(num_ops); // of an op's pass on its stage
  for (const op_id v : ids(num_ops)) {
    const auto at = std::find(devices.begin(), devices.end(), made.where[v]);
    const auto stage = at == devices.end() ? 0 : static_cast<std::uint32_t>(at - devices.begin());
    const auto ahead = std::min(count, num_stages - stage);
    const auto k = made.replica[v];
    switch (made.origin[v] == none ? detail::pass::backward : passes[made.origin[v]]) {
    case detail::pass::setup: turn[v] = 0; break;
    case detail::pass::forward: turn[v] = 1 + (k < ahead ? k : 2 * k - ahead + 1); break;
    case detail::pass::backward: turn[v] = 1 + 2 * k + ahead; break;
    case detail::pass::update: turn[v] = 1 + 2 * count + ahead; break;
    }
  }
  auto ops = graph::topological_order(made.graph);
  stable_sort(ops, [&](op_id a, op_id b) {
    return std::tie(made.where[a], turn[a]) < std::tie(made.where[b], turn[b]);
  });
  order found;
  found.reserve(num_ops);
  for (const op_id v : ops) {
    found.push_back(weft::step::run(v));
  }
  return found;
}

} // namespace weft::parallel
