// SPDX-License-Identifier: BSL-1.0
// expect: weft: this observer has no event member that the simulator calls
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

struct observer {
#ifdef WEFT_COMPILE_FAIL
  void on_op_begin(weft::op_id, weft::device_id, double) {}
#else
  void on_op_start(weft::op_id, weft::device_id, double) {}
#endif
};

auto watch(const weft::problem<weft::workload, weft::platform<>>& p, const weft::plan& decided) {
  return weft::simulator{p, weft::schedule::fifo{}}.run(decided, observer{}).makespan;
}
