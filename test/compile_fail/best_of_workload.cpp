// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a problem
#include "weft/platform/platform.hpp"
#include "weft/solve/best.hpp"
#include "weft/workload/workload.hpp"

auto best(const weft::workload& w, const weft::platform<>& p) {
#ifdef WEFT_COMPILE_FAIL
  (void)p;
  return weft::solve::best(w, {.seconds = 1}).makespan;
#else
  return weft::solve::best(weft::problem{w, p}, {.seconds = 1}).makespan;
#endif
}
