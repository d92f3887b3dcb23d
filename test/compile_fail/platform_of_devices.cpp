// SPDX-License-Identifier: BSL-1.0
// expect: weft: this platform lacks num_devices
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

#include <vector>

auto devices(const weft::workload& w, const std::vector<weft::device>& devices) {
#ifdef WEFT_COMPILE_FAIL
  return weft::problem{w, devices}.num_devices();
#else
  const weft::platform p{devices, weft::uniform_links{}};
  return weft::problem{w, p}.num_devices();
#endif
}
