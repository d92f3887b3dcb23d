// SPDX-License-Identifier: BSL-1.0
// expect: weft: nothing says what power these devices draw: give the platform idle_watts\(device_id\) const
#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/energy.hpp"
#include "weft/platform/archetype.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/workload/workload.hpp"

struct my_platform : weft::platform_archetype {
  double speed(weft::device_id) const { return 1; }
  double latency(weft::device_id, weft::device_id) const { return 0; }
  double bandwidth(weft::device_id, weft::device_id) const { return 1; }
};

double joules(const weft::workload& w, const my_platform& p, const weft::plan& x) {
#ifdef WEFT_COMPILE_FAIL
  const weft::objective::energy of_it{};
#else
  const weft::objective::energy of_it{weft::uniform_power{.idle = 1, .active = 2}};
#endif
  const weft::problem problem{w, p};
  return weft::evaluator{problem, weft::evaluation{weft::schedule::fifo{}, of_it}}.judge(x).value;
}
