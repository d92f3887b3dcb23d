// SPDX-License-Identifier: BSL-1.0
/// The order of a step's ops in micro-batches in which each stage of a pipeline alternates between forward and backward
/// passes (1F1B).
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/parallel/pipeline_order.hpp"
#include "weft/parallel/staged_step.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::parallel {

/// The order of a step in micro-batches (`micro_batched(step, other, …)`) whose stages are on `devices`, the first one
/// first: **one forward, one backward**. With `count` micro-batches, stage s of S runs the forward passes of min(count,
/// S - s) of them, and then alternately the backward pass of the oldest one and the forward pass of the next; so it
/// holds the activations of S - s micro-batches, however many there are. What does not depend on the batch comes first,
/// updates come last, in a topological order as within each pass. A sum of gradients belongs to the backward pass of
/// the micro-batch that it adds. Other devices, such as a host that reads the input, take the turns of the first stage.
///
/// Tensors of the forward pass must lead to the same or a later stage, those of the backward pass to the same or an
/// earlier one, as `pipeline_stages` sees to; else stages wait for each other longer.
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
  staged_step s{.repeated = repeated_ops(step, other),
                .stage = std::vector<std::uint32_t>(step.num_ops(), 0),
                .num_stages = static_cast<std::uint32_t>(devices.size())};
  pipeline_problem p;
  for (const op_id v : ids(made.graph.num_ops())) {
    p.micro_batches = std::max(p.micro_batches, made.replica[v] + 1);
    if (made.origin[v] == none) {
      continue;
    }
    if (made.origin[v] >= step.num_ops()) {
      throw value_error("one_forward_one_backward", "the micro-batches are those of another step");
    }
    const auto at = std::find(devices.begin(), devices.end(), made.where[v]);
    s.stage[made.origin[v]] = at == devices.end() ? 0 : static_cast<std::uint32_t>(at - devices.begin());
  }
  s.pass = detail::passes_of(step, s.repeated, s.stage);
  p.trains = std::any_of(s.pass.begin(), s.pass.end(), [](pass x) { return x != pass::forward; });
  p.capacity.assign(devices.size(), std::numeric_limits<byte_count>::max());
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    pipeline_stage stage{.device = d};
    for (auto& c : stage.cost) {
      c.seconds = 1;
    }
    p.stages.push_back(stage);
  }
  const auto order = make_order(pipeline_schedule::one_forward_one_backward, p);
  return order_by_turns(made.graph, turns_of(s, made, p, *order));
}

} // namespace weft::parallel
