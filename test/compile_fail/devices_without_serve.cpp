// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a device model for this policy
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/workload.hpp"

using problem = weft::problem<weft::workload, weft::platform<>>;

struct never_busy {
  struct state {
    void reset(const weft::placed_flow<problem>&, const weft::order&) {}
    void push(weft::item_id, weft::device_id, double) {}
#ifndef WEFT_COMPILE_FAIL
    template <class Begin>
    void serve(weft::device_id, double, Begin) {}
#endif
  };
  template <class Policy>
  state state_for(const problem&, const Policy&) const {
    return {};
  }
};

auto run(const problem& p, const weft::plan& decided) {
  weft::simulator<problem, weft::schedule::fifo, weft::simulate::no_contention, never_busy> sim{p};
  return sim.run(decided).makespan;
}
