// SPDX-License-Identifier: BSL-1.0
// expect: problem_must_outlive_it
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

auto run(const weft::workload& w, const weft::platform<>& q, const weft::plan& decided) {
#ifdef WEFT_COMPILE_FAIL
  weft::simulator s{weft::problem{w, q}, weft::schedule::fifo{}};
#else
  const weft::problem p{w, q};
  weft::simulator s{p, weft::schedule::fifo{}};
#endif
  return s.run(decided).makespan;
}
