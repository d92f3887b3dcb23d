// SPDX-License-Identifier: BSL-1.0
/// The stages of a pipeline: consecutive layers of a training step on each device, of about equal time.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/reversed.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// The same step, op by op, with sums of gradients in no colocation group. TensorFlow has a sum where its first term
/// is, with which it would draw the gradients of a later stage, and all that they are computed from, to an earlier one.
/// Complexity: O(n + m).
template <named_workload Workload>
workload with_free_sums(const Workload& step) {
  workload_builder b;
  weft::copy_ops(
    b, step, [&](op_id v) { return step.resident_bytes(v); }, [&](tensor_id t) { return step.bytes(t); }, keep_all{},
    [&](op_id v) { return !is_sum(step.type(v)) || !is_gradient(step, v); });
  return std::move(b).build();
}

namespace detail {

/// Moves gradients to earlier stages where what they are computed from comes from one, such as sums of the gradients of
/// one tensor that several layers read: no tensor of the backward pass leads to a later stage. Colocation groups move
/// as one, if they have gradients only, and nothing moves to a device of a kind that it does not allow. What no
/// gradient reads stays: nobody waits for it before the updates.
template <class Problem>
void flow_back(const Problem& step, std::span<const device_id> devices, std::vector<std::uint32_t>& stage_of) {
  const auto& w = step.workload();
  std::vector<bool> goes_back(step.num_ops()), flows(step.num_ops(), false); // constants do not
  std::vector<bool> leads_on(step.num_ops(), false); // to another gradient
  std::vector<bool> moves(step.num_components(), true);
  for (const op_id v : step.topological_order()) {
    goes_back[v] = is_gradient(w, v);
    moves[step.component(v)] = moves[step.component(v)] && goes_back[v];
    for (const tensor_id t : w.inputs(v)) {
      const op_id from = w.producer(t);
      flows[v] = flows[v] || (goes_back[v] && (flows[from] || !w.inputs(from).empty()));
      leads_on[from] = leads_on[from] || goes_back[v];
    }
  }
  for (bool again = true; again;) { // a group may move for an op that comes late
    again = false;
    for (const op_id v : step.topological_order()) {
      const auto c = step.component(v);
      for (const tensor_id t : w.inputs(v)) {
        const auto earlier = stage_of[step.component(w.producer(t))];
        if (moves[c] && leads_on[v] && flows[w.producer(t)] && earlier < stage_of[c] &&
            step.kinds(c).contains(step.platform().kind(devices[earlier]))) {
          stage_of[c] = earlier;
          again = true;
        }
      }
    }
  }
}

/// Moves what is done once for all micro-batches, such as sums of gradients and clipping, to the stage of the updates
/// that alone need it, if that is one: there it need not be sent back. What is left and makes less than it reads, such
/// as the norm of a gradient, moves to the stage that all of that comes from. Members of colocation groups stay.
template <class Problem>
void follow_updates(const Problem& step, std::span<const device_id> devices, const std::vector<bool>& repeated,
                    std::vector<std::uint32_t>& stage_of) {
  const auto& w = step.workload();
  std::vector<bool> moved(step.num_ops(), false);
  for (const op_id v : reversed(step.topological_order())) {
    const auto c = step.component(v);
    if (repeated[v] || step.members(c).size() > 1 || w.inputs(v).empty()) {
      continue;
    }
    std::uint32_t there = none;
    bool is_one = true;
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id reader : w.consumers(t)) {
        const auto s = stage_of[step.component(reader)];
        is_one = is_one && (is_update(w, reader) || moved[reader]) && (there == none || there == s);
        there = s;
      }
    }
    if (is_one && there != none && step.kinds(c).contains(step.platform().kind(devices[there]))) {
      stage_of[c] = there;
      moved[v] = true;
    }
  }
  for (const op_id v : step.topological_order()) {
    const auto c = step.component(v);
    if (repeated[v] || moved[v] || step.members(c).size() > 1 || is_update(w, v)) {
      continue;
    }
    std::uint32_t from = none;
    bool is_one = true;
    byte_count reads = 0, makes = 0;
    for (const tensor_id t : w.inputs(v)) {
      if (w.bytes(t) > 0) {
        const auto s = stage_of[step.component(w.producer(t))];
        is_one = is_one && (from == none || from == s);
        from = s;
        reads += w.bytes(t);
      }
    }
    for (const tensor_id t : w.outputs(v)) {
      makes += w.bytes(t);
    }
    if (is_one && from != none && makes < reads && step.kinds(c).contains(step.platform().kind(devices[from]))) {
      stage_of[c] = from;
    }
  }
}

} // namespace detail

/// The placement of a step in as many stages as there are devices, stage s on `devices[s]`: consecutive layers
/// (`partition::find_layers`, with what comes before them and what follows) and their gradients and updates, at least
/// one layer each, so that the time of the slowest stage is as short as can be. Of equally good cuts, the first stages
/// take as few layers as possible. Times are those of all ops of the step, updates included; transfers do not count,
/// nor does memory. No tensor of the forward pass leads to an earlier stage, and none of the backward pass to a later
/// one, but from or to a colocation group. Groups of TensorFlow's sums of gradients would bring gradients of later
/// stages to earlier ones: give the step `with_free_sums`.
///
/// If `repeated` says which ops are done for each micro-batch (`repeated_ops`), others that only updates of one stage
/// need, such as clipped gradients, are in that stage.
///
/// Ops that may be on none of these devices, such as those that read the input on a host, are on the first device of
/// the platform that they allow, and belong to no stage.
///
/// Throws `value_error` if there are no devices or fewer layers than devices, for `repeated` of another size, and if no
/// cut leaves each op a device of a kind that it allows.
/// Complexity: that of `find_layers`, and O((n + m + layers²) devices), as a rule.
/// Source: Narayanan et al., *PipeDream: Generalized Pipeline Parallelism for DNN Training*, SOSP 2019, section 3.1,
/// for stages without replicas.
template <class Problem>
placement pipeline_stages(const Problem& step, std::span<const device_id> devices,
                          const std::vector<bool>& repeated = {}) {
  if (!repeated.empty() && repeated.size() != step.num_ops()) {
    throw value_error("pipeline_stages", "say of every op whether it is repeated, or of none");
  }
  const auto found = partition::find_layers(step);
  std::vector<std::uint32_t> layer_of(found.num_parts(), none); // of those that have ops
  std::uint32_t num_layers = 0;
  for (const auto part : found.part) {
    layer_of[part] = 0;
  }
  for (auto& layer : layer_of) {
    layer = layer == none ? none : num_layers++;
  }
  const auto num_stages = devices.size();
  if (num_stages == 0 || num_layers < num_stages) {
    throw value_error("pipeline_stages", "a step of " + std::to_string(num_layers) + " layers cannot be cut into " +
                                           std::to_string(num_stages) + " stages");
  }

  const auto allows = [&](component_id c, device_id d) {
    return step.kinds(c).contains(step.platform().kind(d));
  };
  std::vector<device_id> elsewhere(step.num_components(), none); // of what no stage may do
  for (component_id c = 0; c < step.num_components(); ++c) {
    if (std::any_of(devices.begin(), devices.end(), [&](device_id d) { return allows(c, d); })) {
      continue;
    }
    for (device_id d = 0; d < step.num_devices() && elsewhere[c] == none; ++d) {
      elsewhere[c] = allows(c, d) ? d : none;
    }
    if (elsewhere[c] == none) {
      throw value_error("pipeline_stages", "op " + std::to_string(step.members(c)[0]) + " allows no device");
    }
  }

  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> slowest(num_layers + 1, never); // of the stages so far, which take so many layers
  slowest[0] = 0;
  std::vector<std::vector<std::uint32_t>> first(num_stages, std::vector<std::uint32_t>(num_layers + 1, 0));
  for (std::size_t s = 0; s < num_stages; ++s) {
    std::vector<double> seconds(num_layers, 0);
    for (const op_id v : ids(step.num_ops())) {
      const auto c = step.component(v);
      if (elsewhere[c] == none) {
        seconds[layer_of[found.part[c]]] += allows(c, devices[s]) ? step.compute_time(v, devices[s]) : never;
      }
    }
    std::vector<double> with_stage(num_layers + 1, never);
    for (std::uint32_t end = 1; end <= num_layers; ++end) {
      double stage = 0;
      for (std::uint32_t begin = end; begin-- > 0;) {
        stage += seconds[begin];
        if (const double all = std::max(slowest[begin], stage); all <= with_stage[end] && slowest[begin] < never) {
          with_stage[end] = all;
          first[s][end] = begin;
        }
      }
    }
    slowest = with_stage;
  }
  if (slowest[num_layers] == never) {
    throw value_error("pipeline_stages", "no cut leaves each op a device of a kind that it allows");
  }

  std::vector<std::uint32_t> stage_of_layer(num_layers, 0);
  std::uint32_t end = num_layers;
  for (std::size_t s = num_stages; s-- > 0;) {
    std::fill(stage_of_layer.begin() + first[s][end], stage_of_layer.begin() + end, static_cast<std::uint32_t>(s));
    end = first[s][end];
  }
  std::vector<std::uint32_t> stage_of;
  for (const auto part : found.part) {
    stage_of.push_back(stage_of_layer[layer_of[part]]);
  }
  detail::flow_back(step, devices, stage_of);
  if (!repeated.empty()) {
    detail::follow_updates(step, devices, repeated, stage_of);
  }
  placement where(step.num_ops());
  for (const op_id v : ids(step.num_ops())) {
    const auto c = step.component(v);
    where[v] = elsewhere[c] == none ? devices[stage_of[c]] : elsewhere[c];
  }
  return where;
}

} // namespace weft::parallel
