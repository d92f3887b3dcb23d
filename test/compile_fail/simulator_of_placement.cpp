// SPDX-License-Identifier: BSL-1.0
// expect: weft: what runs is a plan: of a placement
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

auto run(const weft::problem<weft::workload, weft::platform<>>& p, const weft::placement& where) {
#ifdef WEFT_COMPILE_FAIL
  return weft::simulator{p, weft::schedule::fifo{}}.run(where).makespan;
#else
  return weft::simulator{p, weft::schedule::fifo{}}.run({where}).makespan;
#endif
}
