// SPDX-License-Identifier: BSL-1.0
// expect: weft: this refiner does not return a plan
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
constexpr auto keep = [](const auto&, weft::plan, const auto&, weft::rng&) {};
#else
constexpr auto keep = [](const auto&, weft::plan start, const auto&, weft::rng&) { return start; };
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, keep, weft::schedule::fifo{})(p).makespan;
}
