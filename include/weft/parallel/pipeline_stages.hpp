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
#include <optional>
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

/// The memory that stages of a pipeline have, and what ops hold of it, in bytes.
struct stage_memory {
  double capacity = 0;              ///< of each stage
  std::vector<double> in_flight = {}; ///< by stage: micro-batches whose forward pass is done and backward pass is not
  std::vector<double> fixed = {};   ///< by op: held all the time
  std::vector<double> kept = {};    ///< by op: of its results what the backward pass of a micro-batch reads
  std::vector<double> working = {}; ///< by op: held while it runs
};

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

/// Cuts the layers of a step into stages.
template <class Problem>
class stage_cutter {
public:
  stage_cutter(const Problem& step, std::span<const device_id> devices, const std::vector<bool>& repeated)
      : step_{step}, devices_{devices}, repeated_{repeated}, found_{partition::find_layers(step)},
        layer_of_(found_.num_parts(), none) {
    if (!repeated.empty() && repeated.size() != step.num_ops()) {
      throw value_error("pipeline_stages", "say of every op whether it is repeated, or of none");
    }
    for (const auto part : found_.part) {
      layer_of_[part] = 0;
    }
    for (auto& layer : layer_of_) { // those that have ops
      layer = layer == none ? none : num_layers_++;
    }
    if (devices.empty() || num_layers_ < devices.size()) {
      throw value_error("pipeline_stages", "a step of " + std::to_string(num_layers_) + " layers cannot be cut into " +
                                             std::to_string(devices.size()) + " stages");
    }
    find_others();
  }

  /// The placement of the fastest cut whose stages fit; none if no cut does.
  std::optional<placement> cut(const stage_memory* memory) const {
    const auto stage_of_layer = fastest_cut(memory);
    if (stage_of_layer.empty()) {
      return std::nullopt;
    }
    std::vector<std::uint32_t> stage_of;
    for (const auto part : found_.part) {
      stage_of.push_back(stage_of_layer[layer_of_[part]]);
    }
    flow_back(step_, devices_, stage_of);
    if (!repeated_.empty()) {
      follow_updates(step_, devices_, repeated_, stage_of);
    }
    placement where(step_.num_ops());
    for (const op_id v : ids(step_.num_ops())) {
      const auto c = step_.component(v);
      where[v] = elsewhere_[c] == none ? devices_[stage_of[c]] : elsewhere_[c];
    }
    return where;
  }

private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  bool allows(component_id c, device_id d) const { return step_.kinds(c).contains(step_.platform().kind(d)); }
  std::uint32_t layer(op_id v) const { return layer_of_[found_.part[step_.component(v)]]; }

  /// Finds devices for what no stage may do.
  void find_others() {
    elsewhere_.assign(step_.num_components(), none);
    for (component_id c = 0; c < step_.num_components(); ++c) {
      if (std::any_of(devices_.begin(), devices_.end(), [&](device_id d) { return allows(c, d); })) {
        continue;
      }
      for (device_id d = 0; d < step_.num_devices() && elsewhere_[c] == none; ++d) {
        elsewhere_[c] = allows(c, d) ? d : none;
      }
      if (elsewhere_[c] == none) {
        throw value_error("pipeline_stages", "op " + std::to_string(step_.members(c)[0]) + " allows no device");
      }
    }
  }

  /// The seconds of each layer on a device.
  std::vector<double> seconds_on(device_id d) const {
    std::vector<double> seconds(num_layers_, 0);
    for (const op_id v : ids(step_.num_ops())) {
      const auto c = step_.component(v);
      if (elsewhere_[c] == none) {
        seconds[layer(v)] += allows(c, d) ? step_.compute_time(v, d) : never;
      }
    }
    return seconds;
  }

  /// The bytes of the layers of a stage.
  struct layer_bytes {
    double fixed = 0, kept = 0, working = 0;
  };
  std::vector<layer_bytes> bytes_of_layers(const stage_memory& memory) const {
    std::vector<layer_bytes> bytes(num_layers_);
    for (const op_id v : ids(step_.num_ops())) {
      if (elsewhere_[step_.component(v)] == none) {
        auto& b = bytes[layer(v)];
        b.fixed += memory.fixed[v];
        b.kept += memory.kept[v];
        b.working = std::max(b.working, memory.working[v]);
      }
    }
    return bytes;
  }

  /// The stage of each layer; empty if no cut leaves each op a device that it allows and fits.
  std::vector<std::uint32_t> fastest_cut(const stage_memory* memory) const {
    const auto num_stages = devices_.size();
    const auto bytes = memory ? bytes_of_layers(*memory) : std::vector<layer_bytes>(num_layers_);
    std::vector<double> slowest(num_layers_ + 1, never); // of the stages so far, which take so many layers
    slowest[0] = 0;
    std::vector<std::vector<std::uint32_t>> first(num_stages, std::vector<std::uint32_t>(num_layers_ + 1, 0));
    for (std::size_t s = 0; s < num_stages; ++s) {
      const auto seconds = seconds_on(devices_[s]);
      const double in_flight = memory ? memory->in_flight[s] : 0;
      const double capacity = memory ? memory->capacity : never;
      std::vector<double> with_stage(num_layers_ + 1, never);
      for (std::uint32_t end = 1; end <= num_layers_; ++end) {
        double stage = 0;
        layer_bytes all;
        for (std::uint32_t begin = end; begin-- > 0;) {
          stage += seconds[begin];
          all = {all.fixed + bytes[begin].fixed, all.kept + bytes[begin].kept,
                 std::max(all.working, bytes[begin].working)};
          if (all.fixed + in_flight * all.kept + all.working > capacity) {
            break; // more layers hold more
          }
          if (const double most = std::max(slowest[begin], stage); most <= with_stage[end] && slowest[begin] < never) {
            with_stage[end] = most;
            first[s][end] = begin;
          }
        }
      }
      slowest = with_stage;
    }
    if (slowest[num_layers_] == never) {
      return {};
    }
    std::vector<std::uint32_t> stage_of_layer(num_layers_, 0);
    std::uint32_t end = num_layers_;
    for (std::size_t s = num_stages; s-- > 0;) {
      std::fill(stage_of_layer.begin() + first[s][end], stage_of_layer.begin() + end, static_cast<std::uint32_t>(s));
      end = first[s][end];
    }
    return stage_of_layer;
  }

  const Problem& step_;
  std::span<const device_id> devices_;
  const std::vector<bool>& repeated_;
  partition::model_layers found_;
  std::vector<std::uint32_t> layer_of_; // by part
  std::uint32_t num_layers_ = 0;
  std::vector<device_id> elsewhere_ = {}; // by component: of what no stage may do; else `none`
};

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
  auto where = detail::stage_cutter<Problem>{step, devices, repeated}.cut(nullptr);
  if (!where) {
    throw value_error("pipeline_stages", "no cut leaves each op a device of a kind that it allows");
  }
  return std::move(*where);
}

/// The same of the cuts whose stages fit: of each, `fixed` and `in_flight` times `kept` of all its ops, and `working`
/// of that one of them which has most, are at most the capacity. None if no cut fits. Exact by that measure: of all
/// cuts that fit it is the one whose slowest stage is fastest. Throws as above. Complexity: as above.
template <class Problem>
std::optional<placement> pipeline_stages_within(const stage_memory& memory, const Problem& step,
                                                std::span<const device_id> devices,
                                                const std::vector<bool>& repeated = {}) {
  const auto n = step.num_ops();
  if (memory.in_flight.size() != devices.size() || memory.fixed.size() != n || memory.kept.size() != n ||
      memory.working.size() != n) {
    throw value_error("pipeline_stages_within", "say of every stage how many micro-batches are in flight, and of every "
                                                "op what it holds");
  }
  return detail::stage_cutter<Problem>{step, devices, repeated}.cut(&memory);
}

} // namespace weft::parallel
