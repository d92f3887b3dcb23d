// SPDX-License-Identifier: BSL-1.0
// expect: weft: on_transfer takes
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

struct observer {
  void on_op_start(weft::op_id, weft::device_id, double) {}
#ifdef WEFT_COMPILE_FAIL
  void on_transfer(std::uint32_t, const weft::transfer&, double) {} // lacks when it begins
#else
  void on_transfer(std::uint32_t, const weft::transfer&, double, double) {}
#endif
};

auto watch(const weft::problem<weft::workload, weft::platform<>>& p, const weft::plan& decided) {
  return weft::simulator{p, weft::schedule::fifo{}}.run(decided, observer{}).makespan;
}
