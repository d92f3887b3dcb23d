// SPDX-License-Identifier: BSL-1.0
/// A way to share a step that was made: the ops of all devices, a plan and its run, and the figures of all ways.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/batch_parts.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/copies_in_order.hpp"
#include "weft/parallel/pipeline_order.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/partition/layers.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/run.hpp"
#include "weft/planner/task.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace weft::planner {

/// A way in figures. Those of a kind of way are set for that kind alone.
struct compared_way {
  way how = {};
  reason why_not = {};              ///< it cannot be taken; none: it fits
  double seconds = std::numeric_limits<double>::infinity(); ///< of a step; infinite if none was made
  byte_count peak_memory = 0;       ///< of the device that needs most
  double bytes_sent = 0;            ///< between devices
  bool splits_batch = false;        ///< of ops: they are in parts of the batch, so that devices are replicas
  double idle = 0;                  ///< of stages: the share of the step in which a device waits
  std::vector<device_id> limited = {};  ///< of parts by speed: the devices of `limits`
  parallel::batch_parts limits = {};    ///< … what memory has room for

  bool is_made() const { return seconds < std::numeric_limits<double>::infinity(); }
};

/// What is sent to reduce gradients.
struct reduced_gradients {
  byte_count bytes = 0;     ///< of a replica
  std::size_t buckets = 0;  ///< 0: nothing is reduced
  parallel::collective_algorithm algorithm = parallel::collective_algorithm::ring;
};

/// How ops were split.
struct split_of_ops {
  std::vector<std::uint32_t> axis = {}; ///< by op of `made_way::part`, see `parallel::chosen_splits`
  std::map<parallel::resharding, std::size_t> reshardings = {}; ///< what is sent, of one replica
  std::vector<parallel::resharded_tensor> resharded = {};
};

/// What a pipeline does.
struct stages_of_layers {
  partition::model_layers layers = {};
  std::vector<std::uint32_t> stage_of_part = {}; ///< of the layers, what comes before them and what follows
  parallel::pipeline_problem problem = {};
  parallel::pipeline_order order = {};
  std::string start = {};       ///< the known schedule that the order was improved from
};

/// A step made for several devices. It refers to itself, and to the platform of its task.
struct made_way {
  made_way() = default;
  made_way(const made_way&) = delete; // its problem refers to its ops

  compared_way figures = {};
  parallel::configuration features = {};
  std::vector<device_id> devices = {};      ///< replica by replica or stage by stage
  std::shared_ptr<const model_step> part = {};    ///< of a replica, or a micro-batch, of which it was made
  workload ops = {};                        ///< of all devices
  std::vector<op_id> origin = {};           ///< of the ops in `part`; `none` in collectives
  std::vector<op_id> returned = {};         ///< of the ops, those that make results of the model
  std::unique_ptr<instance> problem = {};   ///< null: no plan was found
  plan found = {};
  trace run = {};
  lower_bound bound = {};                   ///< on the time of a step, however it is shared
  parallel::sharding sharding = {};         ///< of parameters; without devices: not of stages
  reduced_gradients reduced = {};
  std::size_t experts = 0;                  ///< that are on one replica each
  split_of_ops split = {};
  stages_of_layers stages = {};

  const way& how() const { return figures.how; }
  bool fits() const { return !figures.why_not; }
  parallel::timed_way timed() const { return {features, run.makespan}; }
};

/// The figures of a plan that ran. `sent_within`: bytes that its ops send while they run.
inline void take_figures(const instance& p, const placement& where, const trace& run, double sent_within,
                         compared_way& figures) {
  simulate::memory_tracker<instance> memory{p};
  memory.follow(where, run);
  figures.seconds = run.makespan;
  figures.peak_memory = memory.largest_peak();
  figures.bytes_sent = sent_within;
  for (const auto& x : run.transfers) {
    figures.bytes_sent += static_cast<double>(p.workload().bytes(x.tensor));
  }
}

/// Runs the plan of a way that has one, and says whether it fits.
inline void follow(const task& t, made_way& x) {
  x.run = follow(*x.problem, x.found, t.how().contention);
  auto& why = x.figures.why_not;
  why = {};
  for (const op_id v : ids(x.found.placement.size())) {
    if (!x.ops.kinds(v).contains(t.machine().kind(x.found.placement[v]))) {
      why = {.is = reason::kind::no_device_may_run, .name = std::string{x.ops.name(v)}};
      return;
    }
  }
  const auto shortages = memory_shortages(*x.problem, x.found.placement, x.run);
  if (!shortages.empty()) {
    const auto& s = shortages.front();
    why = {.is = reason::kind::memory_exceeded, .needed = s.peak, .capacity = s.capacity, .device = s.device};
  }
}

namespace detail {

/// True if what stays on each device fits there.
inline bool resident_bytes_fit(const instance& p, const placement& where) {
  std::vector<byte_count> held(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    held[p.memory_of(where[v])] += p.workload().resident_bytes(v);
  }
  const auto devices = ids(p.num_devices());
  return std::all_of(devices.begin(), devices.end(), [&](device_id d) { return held[d] <= p.capacity(d); });
}

/// The bytes that the device lacks that lacks most.
inline byte_count bytes_lacking(const made_way& x) {
  byte_count most = 0;
  for (const auto& s : memory_shortages(*x.problem, x.found.placement, x.run)) {
    most = std::max(most, s.excess());
  }
  return most;
}

/// Looks for an order in which a way fits that does not, one with the longest way to the end first: as its part runs on
/// one device where it holds little, with what is sent whenever it arrives, or waiting for it. Keeps the order in which
/// it lacks least.
inline void hold_less(const task& t, made_way& x) {
  const auto& p = *x.problem;
  const auto shortages = memory_shortages(p, x.found.placement, x.run);
  if (shortages.empty() || !resident_bytes_fit(p, x.found.placement)) {
    return;
  }
  const auto list = parallel::copies_in_order(
    x.ops, x.origin, solve::order_within(x.part->ops, shortages.front().capacity).sequence);
  for (const bool waits : {false, true}) {
    plan other{x.found.placement, {}};
    if (waits) {
      std::transform(list.begin(), list.end(), std::back_inserter(other.order), step::run);
    } else {
      other.order = order_by_list(p, x.found.placement, list, t.how().contention);
    }
    const auto lacked = bytes_lacking(x);
    auto plan_before = std::exchange(x.found, std::move(other));
    auto run_before = std::exchange(x.run, trace{});
    auto why_before = std::exchange(x.figures.why_not, reason{});
    follow(t, x);
    if (x.fits()) {
      return;
    }
    if (lacked <= bytes_lacking(x)) {
      x.found = std::move(plan_before);
      x.run = std::move(run_before);
      x.figures.why_not = std::move(why_before);
    }
  }
}

} // namespace detail

/// Runs a way whose ops, `origin` and `part` are made, with that placement. Where it does not fit as a framework would
/// run it, it takes an order in which the part holds little on one device.
inline void run_way(const task& t, placement where, made_way& x) {
  for (const op_id v : ids(x.origin.size())) {
    if (std::binary_search(x.part->returned.begin(), x.part->returned.end(), x.origin[v])) {
      x.returned.push_back(v);
    }
  }
  x.ops = with_memory(std::move(x.ops), x.part->sharing, x.returned);
  x.problem = std::make_unique<instance>(x.ops, t.machine(), cost::lowered{t.costs().ops, x.ops, t.machine()});
  x.found = {std::move(where), {}};
  follow(t, x);
  if (!x.fits()) {
    detail::hold_less(t, x);
  }
  take_figures(*x.problem, x.found.placement, x.run, 0, x.figures);
}

} // namespace weft::planner
