// SPDX-License-Identifier: BSL-1.0
// expect: weft: this platform lacks slots\(device_id\) const, a number
#include "weft/platform/archetype.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

struct my_platform : weft::platform_archetype {
  double speed(weft::device_id) const { return 1; }
  double latency(weft::device_id, weft::device_id) const { return 0; }
  double bandwidth(weft::device_id, weft::device_id) const { return 1; }
#ifdef WEFT_COMPILE_FAIL
  std::uint32_t slots(weft::device_id) const = delete;
#endif
};

auto devices(const weft::workload& w, const my_platform& p) {
  return weft::problem<weft::workload, my_platform>{w, p}.num_devices();
}
