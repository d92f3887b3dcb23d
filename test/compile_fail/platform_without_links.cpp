// SPDX-License-Identifier: BSL-1.0
// expect: weft: a platform needs the links between its devices, too: .*weft::uniform_links
#include "weft/platform/platform.hpp"

#include <vector>

auto count(const std::vector<weft::device>& devices) {
#ifdef WEFT_COMPILE_FAIL
  return weft::platform{devices}.num_devices();
#else
  return weft::platform{devices, weft::uniform_links{{.latency = 1e-6, .bandwidth = 1e10}}}.num_devices();
#endif
}
