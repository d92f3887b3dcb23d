// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a problem
#include "weft/bound/best.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

auto bound(const weft::workload& w, const weft::platform<>& p) {
#ifdef WEFT_COMPILE_FAIL
  (void)p;
  return weft::bound::best(w).value;
#else
  return weft::bound::best(weft::problem{w, p}).value;
#endif
}
