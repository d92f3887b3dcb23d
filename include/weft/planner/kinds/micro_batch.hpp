// SPDX-License-Identifier: BSL-1.0
/// A model in micro-batches of one size, and its layers in stages.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/linear.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/choose_resharding.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/parallel/staged_step.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/plan.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/recomputed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace weft::planner {

/// Times that are known op by op, wherever ops run.
struct known_times : cost::link_transfers {
  std::vector<double> seconds = {}; ///< by op

  template <class W, class P>
  double compute_time(const W& /*w*/, op_id v, const P& /*p*/, device_id /*d*/) const {
    return seconds[v];
  }
  template <class W, class P>
  device_id device_class(const W& /*w*/, const P& /*p*/, device_id /*d*/) const {
    return 0;
  }
};

/// The rule by which a model is cut into stages.
enum class stage_rule : std::uint8_t {
  time,         ///< the slowest stage is as fast as can be
  memory,       ///< … of the cuts whose stages hold as many micro-batches as one forward, one backward has in flight
  least_memory, ///< … of those that hold one micro-batch
};

/// The part of a model that a micro-batch is, cut into stages.
struct staged_model {
  workload ops = {};                 ///< those of the model, or its parts
  placement where = {};              ///< of the first replica
  std::vector<bool> repeated = {};   ///< by op: for each micro-batch
  std::vector<std::uint32_t> stage = {};
  std::vector<double> seconds = {};  ///< by op
  partition::model_layers layers = {};
  std::vector<std::uint32_t> stage_of_part = {}; ///< of the layers, what comes before them and what follows
};

/// A model in micro-batches of one size. It refers to its task.
class micro_batch {
public:
  /// Of so many examples. Throws `refusal` if the model cannot be done in micro-batches.
  micro_batch(const task& t, std::uint64_t examples)
      : t_{t}, part_{std::make_shared<model_step>(t.with_batch(examples))} {
    const auto other = t.with_batch(2 * examples);
    if (!parallel::have_same_ops(ops(), other.ops)) {
      throw refusal{{.is = reason::kind::ops_depend_on_batch}};
    }
    if (auto type = unknown_update(ops()); !type.empty() && parallel::gradients(ops()).empty()) {
      throw refusal{{.is = reason::kind::unknown_update, .name = std::move(type)}};
    }
    repeated_ = parallel::repeated_ops(ops(), other.ops);
    if (std::find(repeated_.begin(), repeated_.end(), true) == repeated_.end()) {
      throw refusal{{.is = reason::kind::nothing_of_batch}};
    }
    part_->ops = parallel::with_free_sums(ops());
  }

  const std::shared_ptr<model_step>& part() const { return part_; }

  /// The seconds in which a gradient of so many bytes is added to another one.
  double seconds_of_sum(byte_count bytes, device_id d) const {
    workload_builder b;
    const op_id term = b.add_op({.bytes = bytes}), before = b.add_op({.bytes = bytes});
    const op_id sum = b.add_op({.work = static_cast<double>(bytes) / part_->element_bytes,
                                .bytes = bytes,
                                .type = "Add"});
    b.add_edge(before, sum);
    b.add_edge(term, sum);
    return t_.costs().kernels.compute_time(std::move(b).build(), sum, t_.machine(), d);
  }

  /// Seconds that a micro-batch takes a stage at least: its device, or the host that launches its passes.
  double seconds_of_stage(const way& s, device_id device) const {
    const double host = host_seconds(device);
    const auto passes = s.stages == 1 || host == 0 ? 0 : s.turns; // and as many backward where that stage has some
    return std::max(least_seconds(s.ranks, device) / s.stages,
                    host / s.stages + passes * cost::pass_launch_seconds(t_.costs().how));
  }

  /// True if the rule cuts it otherwise than by time, for devices that are alike.
  bool is_other_cut(const way& s, const std::vector<device_id>& devices, stage_rule rule) const {
    const auto m = cut(s, devices, rule);
    return !m.stage.empty() && m.stage != cut(s, devices, stage_rule::time).stage;
  }

  /// In stages on these devices, the first replica's: `ranks` for each stage, `turns` stages for each device. None if
  /// the rule has no cut, or if ops and what they send take far longer than that, one after the other. Throws `refusal`
  /// if no splits of ops fit.
  std::optional<staged_model> staged(const way& s, const std::vector<device_id>& devices, stage_rule rule,
                                     double faster_than) const {
    auto m = cut(s, devices, rule);
    if (m.stage.empty()) {
      return std::nullopt;
    }
    auto where = placements(s, devices, m.stage);
    if (s.ranks > 1) {
      return split(s, devices, where, faster_than, m) ? std::optional{std::move(m)} : std::nullopt;
    }
    m.ops = ops();
    m.where = std::move(where.front());
    m.repeated = repeated_;
    for (const op_id v : ids(ops().num_ops())) {
      m.seconds.push_back(seconds_on(m.where[v], ops(), v));
    }
    return m;
  }

private:
  const workload& ops() const { return part_->ops; }
  double seconds_on(device_id d, const workload& w, op_id v) const {
    return t_.costs().kernels.compute_time(w, v, t_.machine(), d);
  }

  /// Seconds that a micro-batch takes each of so many devices that split its ops as is fastest, without what they send.
  double least_seconds(std::uint32_t ranks, device_id device) const {
    if (const auto at = least_.find(ranks); at != least_.end()) {
      return at->second;
    }
    const auto where = replica_on(device, ops(), t_.machine());
    const auto model = ranks > 1 ? axes_of(*part_) : parallel::split_model{};
    const auto parts = ranks > 1 ? std::optional<parallel::split_ops>{std::in_place, model, ranks} : std::nullopt;
    double seconds = 0;
    for (const op_id v : ids(ops().num_ops())) {
      if (!repeated_[v] || where[v] != device) {
        continue;
      }
      double least = seconds_on(device, ops(), v);
      if (parts) {
        for (const auto axis : parts->axes(v)) {
          least = std::min(least, seconds_on(device, parts->ops(), parts->of(v, axis)));
        }
      }
      seconds += least;
    }
    return least_[ranks] = seconds;
  }

  /// Seconds that a host takes to launch the ops of a micro-batch that run on the device.
  double host_seconds(device_id device) const {
    if (!is_launched(t_.costs(), t_.machine(), device)) {
      return 0;
    }
    const auto where = replica_on(device, ops(), t_.machine());
    double seconds = 0;
    for (const op_id v : ids(ops().num_ops())) {
      seconds += repeated_[v] && where[v] == device ? cost::host_seconds(ops(), v, t_.costs().how) : 0;
    }
    return seconds;
  }

  /// The bytes of stages, as the rule counts them. Of ops in parts each device holds a part.
  parallel::stage_memory memory_of(const way& s, const std::vector<device_id>& devices, stage_rule rule) const {
    const auto& w = ops();
    const auto is_backward = backward_ops(w);
    const double share = 1.0 / s.ranks;
    const std::vector<double> nothing(w.num_ops(), 0);
    parallel::stage_memory m{.capacity = static_cast<double>(memory_for_each(t_.machine(), devices)),
                             .fixed = nothing, .kept = nothing, .working = nothing};
    for (std::uint32_t i = 0; i < s.stages; ++i) {
      m.in_flight.push_back(rule == stage_rule::least_memory
                              ? 1.0 : static_cast<double>(std::min<std::uint64_t>(s.micro_batches, s.stages - i)));
    }
    for (const op_id v : ids(w.num_ops())) {
      m.fixed[v] = share * static_cast<double>(w.resident_bytes(v));
      for (const tensor_id t : w.inputs(v)) {
        m.working[v] += share * static_cast<double>(w.bytes(t));
      }
      for (const tensor_id t : w.outputs(v)) {
        const double bytes = share * static_cast<double>(w.bytes(t));
        bool is_kept = false, lasts = false;
        for (const op_id c : w.consumers(t)) {
          is_kept = is_kept || (is_backward[c] && !is_backward[v] && repeated_[v]);
          lasts = lasts || (repeated_[v] && !repeated_[c]);
        }
        m.working[v] += bytes;
        m.kept[v] += is_kept && !w.is_resident(t) ? bytes : 0;
        m.fixed[v] += lasts ? bytes : 0; // a gradient, to which micro-batches add
      }
    }
    return m;
  }

  /// The stage of each op, and of each layer, as if each stage had a device like these, on which everything may run;
  /// none of any op if the rule has no cut.
  staged_model cut(const way& s, const std::vector<device_id>& devices, stage_rule rule) const {
    const auto& w = ops();
    const auto like = devices.front();
    const auto stages = s.stages * s.turns;
    const auto first = chosen_devices(t_.machine().devices(), {like}).front();
    const platform line{std::vector<device>(stages, first), uniform_links{}};
    const auto anywhere = w.with_kinds(std::vector<kind_set>(w.num_ops(), kind_set::all()));
    const auto on_first = replica_on(like, w, t_.machine());
    known_times times;
    for (const op_id v : ids(w.num_ops())) {
      times.seconds.push_back(t_.costs().launched.compute_time(w, v, t_.machine(), on_first[v]));
    }
    std::vector<device_id> all(stages);
    std::iota(all.begin(), all.end(), 0);
    const problem on_line{anywhere, line, times};
    const auto stage = rule == stage_rule::time
                         ? parallel::pipeline_stages(on_line, all, repeated_)
                         : parallel::pipeline_stages_within(memory_of(s, devices, rule), on_line, all, repeated_)
                             .value_or(placement{});
    staged_model m;
    if (stage.empty()) {
      return m;
    }
    m.layers = partition::find_layers(on_line);
    m.stage_of_part.assign(m.layers.num_parts(), 0);
    for (const op_id v : ids(w.num_ops())) { // gradients may be in earlier stages than their layers
      auto& last = m.stage_of_part[m.layers.part[on_line.component(v)]];
      last = std::max(last, stage[v]);
    }
    m.stage.assign(stage.begin(), stage.end());
    move_sums(m.stage);
    return m;
  }

  /// Moves sums for updates to the stages of these.
  void move_sums(std::vector<std::uint32_t>& stage) const {
    const auto& w = ops();
    const auto order = graph::topological_order(w);
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const tensor_id t : w.outputs(*i)) {
        for (const op_id c : w.consumers(t)) {
          if (parallel::is_sum(w.type(*i)) && !repeated_[c] && w.consumers(t).size() == 1) {
            stage[*i] = stage[c];
          }
        }
      }
    }
  }

  /// By rank: the devices of ops that are in these stages.
  std::vector<placement> placements(const way& s, const std::vector<device_id>& devices,
                                    const std::vector<std::uint32_t>& stage) const {
    const auto& w = ops();
    const auto home = [&](std::uint32_t of, std::uint32_t rank) {
      return devices[std::size_t{of % s.stages} * s.ranks + rank];
    };
    std::map<device_id, placement> on; // by home
    for (const device_id d : devices) {
      on[d] = replica_on(d, w, t_.machine());
    }
    std::vector<placement> where(s.ranks, placement(w.num_ops()));
    for (const op_id v : ids(w.num_ops())) {
      for (std::uint32_t r = 0; r < s.ranks; ++r) {
        where[r][v] = on.at(home(stage[v], r))[v];
      }
    }
    return where;
  }

  /// True if other ops than those of micro-batches read what v makes, as updates read gradients.
  bool is_added_up(op_id v) const {
    const auto& w = ops();
    const auto outputs = w.outputs(v);
    return repeated_[v] && std::any_of(outputs.begin(), outputs.end(), [&](tensor_id t) {
             const auto& readers = w.consumers(t);
             return std::any_of(readers.begin(), readers.end(), [&](op_id c) { return !repeated_[c]; });
           });
  }

  /// The splits of ops among so many ranks that are fastest within the memory of so many stages (0: as if there were
  /// memory for all).
  const parallel::chosen_splits& chosen_splits(const parallel::split_model& model, std::uint32_t ranks,
                                               std::uint32_t stages, const parallel::split_costs& costs) const {
    auto& chosen = chosen_[{ranks, stages}];
    if (chosen.axis.empty()) {
      chosen = parallel::choose_splits(model, ranks, costs,
                                       {.budget = {.moves = 2000, .stop = t_.how().stop}, .jobs = t_.how().jobs});
    }
    return chosen;
  }

  /// Splits each op among the devices of its stage; false if that takes too long.
  bool split(const way& s, const std::vector<device_id>& devices, const std::vector<placement>& where,
             double faster_than, staged_model& m) const {
    const auto model = axes_of(*part_);
    const parallel::split_ops parts{model, s.ranks};
    const std::vector<device_id> group(devices.begin(), devices.begin() + s.ranks);
    const parallel::fastest_resharding fastest{t_.machine(), group, t_.how().contention,
                                               parallel::usual_collectives(t_.machine(), group), t_.costs().kernels};
    parallel::split_costs costs{
      .op = [&](op_id v, std::uint32_t axis) { return seconds_on(where[0][v], parts.ops(), parts.of(v, axis)); },
      .transfer = [&](parallel::resharding what, byte_count size) { return fastest.seconds(what, size); },
      .lasts = [&](op_id v) { return is_added_up(v); }};
    const auto& unlimited = chosen_splits(model, s.ranks, 0, costs);
    costs.capacity = memory_for_each(t_.machine(), devices) * s.stages; // of all stages
    const auto& chosen =
      unlimited.peak <= costs.capacity ? unlimited : chosen_splits(model, s.ranks, s.stages, costs);
    if (!chosen.found) {
      throw refusal{{.is = reason::kind::no_splits_fit}};
    }
    double once = 0; // seconds, of what no micro-batch does
    for (const op_id v : ids(ops().num_ops())) {
      once += repeated_[v] ? 0 : seconds_on(where.front()[v], parts.ops(), parts.of(v, chosen.axis[v]));
    }
    const auto each = (chosen.seconds - once) * static_cast<double>(s.micro_batches);
    if ((each + once) / s.stages > most_overlap * faster_than) {
      return false;
    }
    take_parts(s, devices,
               parallel::tensor_parallel(
                 model, chosen.axis, where, part_->element_bytes,
                 [&](parallel::resharding what, byte_count size) { return fastest.messages(what, size); }),
               m);
    return true;
  }

  /// Takes the parts of ops for the model's. What joins and cuts tensors is in the stage that its inputs come from, or
  /// that its outputs go to.
  void take_parts(const way& s, const std::vector<device_id>& devices, parallel::split_workload made,
                  staged_model& m) const {
    const auto stage_of_op = std::exchange(m.stage, {});
    m.ops = std::move(made.graph);
    m.where = std::move(made.where);
    const auto n = m.ops.num_ops();
    m.stage.assign(n, none);
    m.repeated.assign(n, false);
    m.seconds.assign(n, 0);
    const auto place_of = [&](device_id d) {
      const auto at = std::find(devices.begin(), devices.end(), d);
      return at == devices.end() ? none : static_cast<std::uint32_t>(at - devices.begin()) / s.ranks;
    };
    const auto order = graph::topological_order(m.ops);
    for (const op_id v : order) {
      const auto from = made.origin[v];
      m.seconds[v] = seconds_on(m.where[v], m.ops, v);
      if (from != none) {
        m.stage[v] = stage_of_op[from];
        m.repeated[v] = repeated_[from];
        continue;
      }
      for (const tensor_id t : m.ops.inputs(v)) {
        const auto producer = m.ops.producer(t);
        m.repeated[v] = m.repeated[v] || m.repeated[producer];
        if (m.stage[producer] != none && m.stage[producer] % s.stages == place_of(m.where[v])) {
          m.stage[v] = m.stage[producer];
        }
      }
    }
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const tensor_id t : m.ops.outputs(*i)) {
        for (const op_id c : m.ops.consumers(t)) {
          m.stage[*i] = m.stage[*i] == none ? m.stage[c] : m.stage[*i];
        }
      }
      m.stage[*i] = m.stage[*i] == none ? 0 : m.stage[*i];
    }
  }

  const task& t_;
  std::shared_ptr<model_step> part_;
  std::vector<bool> repeated_ = {};
  // By ranks and stages; 0 of them: as if there were memory for all.
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, parallel::chosen_splits> chosen_ = {};
  mutable std::map<std::uint32_t, double> least_ = {}; // seconds, by ranks
};

} // namespace weft::planner
