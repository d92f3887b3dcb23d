// SPDX-License-Identifier: BSL-1.0
/// The planner: ways in which devices share a step (data, tensor and pipeline parallelism), compared, and the one to
/// take. Apart from all.hpp, which plans where each op runs once.
#pragma once

#include "weft/planner/batch_by_speed.hpp"
#include "weft/planner/batch_split.hpp"
#include "weft/planner/best.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/micro_batch.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/op_split.hpp"
#include "weft/planner/pipelines.hpp"
#include "weft/planner/pruning.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/run.hpp"
#include "weft/planner/share.hpp"
#include "weft/planner/staged_way.hpp"
#include "weft/planner/steps_of.hpp"
#include "weft/planner/task.hpp"
#include "weft/planner/usual_placements.hpp"
#include "weft/planner/way.hpp"
#include "weft/planner/way_text.hpp"
