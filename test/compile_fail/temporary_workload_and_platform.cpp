// SPDX-License-Identifier: BSL-1.0
// expect: workload_must_outlive_the_problem
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

auto ops() {
#ifdef WEFT_COMPILE_FAIL
  return weft::problem{weft::workload{}, weft::platform<>{}}.num_ops();
#else
  const weft::workload w;
  const weft::platform<> p;
  return weft::problem{w, p}.num_ops();
#endif
}
