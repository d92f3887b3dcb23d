// SPDX-License-Identifier: BSL-1.0
/// The independent checker: `validate(problem, placement)`, `validate(problem, plan)` and
/// `validate(problem, placement, trace, options)`, and `validate(problem, state, trace)` of a run that went on by
/// another plan, each returning the list of broken rules.
///
/// It shares no code with partitioners, schedulers and the simulator, so that it can contradict them.
#pragma once

#include "weft/validate/continued.hpp"
#include "weft/validate/memory.hpp"
#include "weft/validate/order.hpp"
#include "weft/validate/placement.hpp"
#include "weft/validate/trace.hpp"
#include "weft/validate/violation.hpp"
