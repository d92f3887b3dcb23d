// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a ready policy
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
struct policy {}; // no keys, no queue
#else
using policy = weft::schedule::fifo;
#endif

using problem = weft::problem<weft::workload, weft::platform<>>;

auto run(const problem& p, const weft::plan& decided) {
  return weft::simulator<problem, policy>{p}.run(decided).makespan;
}
