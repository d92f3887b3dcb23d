// SPDX-License-Identifier: BSL-1.0
/// Models and costs of a command line as the planner takes them.
#pragma once

#include "model_file.hpp"
#include "model_options.hpp"
#include "platforms.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/model_step.hpp"

#include <memory>
#include <optional>

namespace tool {

/// A model that was read with these options, with what the planner wants to know of it.
weft::planner::model_step step_of(const model_options& o, input in);

/// Makes the steps of a source with other batches than the name of a bundled network or `o` says.
weft::planner::step_source steps_of(std::shared_ptr<const model_source> from, model_options o);

/// The way in which ops of a step in micro-batches are launched, if no option gives it: a bundled network that is
/// trained with a framework's kernels by that (`cost::launches::eager`). In the measurements that costs rest on,
/// Megatron-LM and DeepSpeed drive each micro-batch of each stage from Python.
weft::cost::launches launches_in_stages(const input& in);

/// The costs of steps of such a model, launched in that way, if it is given. Throws as `make_estimate`.
weft::planner::step_costs costs_of_steps(const model_options& o, const input& in, const target& on,
                                         std::optional<weft::cost::launches> how);

} // namespace tool
