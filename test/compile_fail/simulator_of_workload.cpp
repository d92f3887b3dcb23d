// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a problem
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

auto run(const weft::workload& w, const weft::platform<>& p, const weft::plan& decided) {
#ifdef WEFT_COMPILE_FAIL
  (void)p;
  return weft::simulator{w, weft::schedule::fifo{}}.run(decided).makespan;
#else
  const weft::problem problem{w, p};
  return weft::simulator{problem, weft::schedule::fifo{}}.run(decided).makespan;
#endif
}
