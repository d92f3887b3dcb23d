// SPDX-License-Identifier: BSL-1.0
// expect: weft: kind\(device_id\) of this platform does not return a device_kind
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

struct my_platform : weft::platform<> {
#ifdef WEFT_COMPILE_FAIL
  const char* kind(weft::device_id) const { return "gpu"; }
#endif
};

auto devices(const weft::workload& w, const my_platform& p) {
  return weft::problem<weft::workload, my_platform>{w, p}.num_devices();
}
