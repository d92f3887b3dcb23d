// SPDX-License-Identifier: BSL-1.0
// expect: weft: this refiner does not return an evaluated_plan
#include "weft/platform/platform.hpp"
#include "weft/solve/registry.hpp"
#include "weft/workload/workload.hpp"

using problem = weft::problem<weft::workload, weft::platform<>>;

#ifdef WEFT_COMPILE_FAIL
using result_type = weft::plan;
constexpr result_type result_of(weft::evaluated_plan x) { return x.plan; }
#else
using result_type = weft::evaluated_plan;
constexpr result_type result_of(weft::evaluated_plan x) { return x; }
#endif

struct keep {
  weft::budget budget = {};
  result_type operator()(auto&, weft::evaluated_plan start, weft::rng&) const { return result_of(start); }
};

void add(weft::registry<problem>& all) { all.add_refiner("mine", keep{}); }
