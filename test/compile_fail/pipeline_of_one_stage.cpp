// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a ready policy, which the last stage of a pipeline must be
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
#ifdef WEFT_COMPILE_FAIL
  return weft::pipeline(weft::partition::hash{})(p).makespan;
#else
  return weft::pipeline(weft::partition::hash{}, weft::schedule::fifo{})(p).makespan;
#endif
}
