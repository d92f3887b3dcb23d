// SPDX-License-Identifier: BSL-1.0
// expect: weft: operator\(\) of this refiner is not const
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

struct refiner {
#ifdef WEFT_COMPILE_FAIL
  weft::evaluated_plan operator()(auto&, weft::evaluated_plan start, weft::rng&) { return start; }
#else
  weft::evaluated_plan operator()(auto&, weft::evaluated_plan start, weft::rng&) const { return start; }
#endif
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, refiner{}, weft::schedule::static_order{})(p).makespan;
}
