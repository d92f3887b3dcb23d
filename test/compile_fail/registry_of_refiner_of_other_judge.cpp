// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a refiner of a registry
#include "weft/platform/platform.hpp"
#include "weft/solve/registry.hpp"
#include "weft/workload/workload.hpp"

using problem = weft::problem<weft::workload, weft::platform<>>;

#ifdef WEFT_COMPILE_FAIL
using judge_type = weft::evaluator<problem, weft::schedule::static_order>;
#else
using judge_type = weft::any_evaluator<problem>;
#endif

struct keep {
  weft::budget budget = {};
  weft::evaluated_plan operator()(judge_type&, weft::evaluated_plan start, weft::rng&) const { return start; }
};

void add(weft::registry<problem>& all) { all.add_refiner("mine", keep{}); }
