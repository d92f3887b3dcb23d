// SPDX-License-Identifier: BSL-1.0
// expect: weft: a refiner of a registry lacks a member
#include "weft/platform/platform.hpp"
#include "weft/solve/registry.hpp"
#include "weft/workload/workload.hpp"

#include <utility>

using problem = weft::problem<weft::workload, weft::platform<>>;

struct keep {
#ifndef WEFT_COMPILE_FAIL
  weft::budget budget = {};
#endif
  weft::evaluated_plan operator()(auto&, weft::evaluated_plan start, weft::rng&) const { return start; }
};

void add(weft::registry<problem>& all) { all.add_refiner("mine", keep{}); }
