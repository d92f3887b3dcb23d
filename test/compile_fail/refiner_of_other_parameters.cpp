// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a refiner
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
constexpr auto keep = [](const auto&, weft::evaluated_plan start) { return start; };
#else
constexpr auto keep = [](auto&, weft::evaluated_plan start, weft::rng&) { return start; };
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, keep, weft::schedule::fifo{})(p).makespan;
}
