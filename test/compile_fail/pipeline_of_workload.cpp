// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a problem
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

auto solve(const weft::workload& w, const weft::platform<>& p) {
  const auto solve = weft::pipeline(weft::partition::hash{}, weft::schedule::fifo{});
#ifdef WEFT_COMPILE_FAIL
  (void)p;
  return solve(w).makespan;
#else
  return solve(weft::problem{w, p}).makespan;
#endif
}
