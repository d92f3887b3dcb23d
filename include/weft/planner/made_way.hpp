// SPDX-License-Identifier: BSL-1.0
/// A way to share a step that was made: the ops of all devices, a plan and its run, and the figures of all ways.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/batch_parts.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/pipeline_order.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/way.hpp"
#include "weft/workload/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
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
  bool splits_sequence = false;     ///< of ops: rows of a sequence are in parts, and products have whole weights
  double idle = 0;                  ///< of stages: the share of the step in which a device waits
  std::vector<device_id> limited = {};  ///< of parts by speed: the devices of `limits`
  parallel::batch_parts limits = {};    ///< … what memory has room for

  bool is_made() const { return seconds < std::numeric_limits<double>::infinity(); }
};

/// The all-reduces of gradients, and the gathers of parameters that are held in parts.
struct reduced_gradients {
  byte_count bytes = 0;     ///< of a replica
  std::size_t buckets = 0;  ///< 0: nothing is reduced
  parallel::collective_algorithm algorithm = parallel::collective_algorithm::ring;
  std::size_t gathers = 0;     ///< of units of parameters; 0: none is held in parts
  byte_count largest_unit = 0; ///< of these
};

/// The splits of ops, and their reshardings.
struct split_of_ops {
  std::vector<std::uint32_t> axis = {}; ///< by op of `made_way::part`, see `parallel::chosen_splits` …
  std::size_t in_parts = 0;             ///< … and how many of them are in parts
  std::map<parallel::resharding, std::size_t> reshardings = {}; ///< what is sent, of one replica
  std::vector<parallel::resharded_tensor> resharded = {};
};

/// The layers of each stage of a pipeline, and the order of its passes.
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
  std::vector<op_id> origin = {};           ///< of the ops in `part`; `none` in collectives; empty of stages
  std::vector<op_id> returned = {};         ///< of the ops, those that make results of the model
  std::unique_ptr<instance> problem = {};   ///< null: no plan was found
  weft::plan plan = {};
  trace run = {};
  lower_bound bound = {};                   ///< on the time of a step, however it is shared
  parallel::sharding sharding = {};         ///< of parameters; without devices: not of stages
  reduced_gradients reduced = {};
  std::uint64_t least_batch = 0; ///< from which on replicas are faster than one device; 0: not known
  std::size_t experts = 0;                  ///< that are on one replica each
  split_of_ops split = {};
  stages_of_layers stages = {};

  const way& how() const { return figures.how; }
  bool fits() const { return !figures.why_not; }
  parallel::timed_way timed() const { return {features, run.makespan}; }
};

} // namespace weft::planner
