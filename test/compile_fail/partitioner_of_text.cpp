// SPDX-License-Identifier: BSL-1.0
// expect: weft: this partitioner returns neither a placement
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
using decision = const char*;
#else
using decision = weft::placement;
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline([](const auto&) { return decision{}; }, weft::schedule::fifo{})(p).makespan;
}
