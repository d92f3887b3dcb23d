// SPDX-License-Identifier: BSL-1.0
/// The planner: ways in which devices share a step (data, tensor and pipeline parallelism), compared, and the one to
/// take. Apart from all.hpp, which plans where each op runs once.
#pragma once

#include "weft/planner/best.hpp"
#include "weft/planner/best_way.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/options.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/share.hpp"
#include "weft/planner/step_settings.hpp"
#include "weft/planner/steps_of.hpp"
#include "weft/planner/tried_amounts.hpp"
#include "weft/planner/typical_costs.hpp"
#include "weft/planner/way.hpp"
#include "weft/planner/way_text.hpp"
