// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a refiner, which the stages between
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
using between = weft::partition::hash;
#else
using between = weft::refine::local_search;
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, between{}, weft::schedule::fifo{})(p).makespan;
}
