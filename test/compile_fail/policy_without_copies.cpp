// SPDX-License-Identifier: BSL-1.0
// expect: weft: a ready policy is kept by value
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

struct policy : weft::schedule::fifo {
#ifdef WEFT_COMPILE_FAIL
  policy(const policy&) = delete;
#endif
};

using problem = weft::problem<weft::workload, weft::platform<>>;

auto run(const problem& p, const weft::plan& decided) {
  return weft::simulator<problem, policy>{p}.run(decided).makespan;
}
