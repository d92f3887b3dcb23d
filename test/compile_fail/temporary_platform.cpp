// SPDX-License-Identifier: BSL-1.0
// expect: platform_must_outlive_the_problem
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

auto ops(const weft::workload& w) {
#ifdef WEFT_COMPILE_FAIL
  return weft::problem{w, weft::platform<>{}, weft::cost::linear{}}.num_ops();
#else
  const weft::platform<> p;
  return weft::problem{w, p, weft::cost::linear{}}.num_ops();
#endif
}
