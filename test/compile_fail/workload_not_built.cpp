// SPDX-License-Identifier: BSL-1.0
// expect: weft: a builder is not a workload yet
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <utility>

auto ops(weft::workload_builder b, const weft::platform<>& p) {
#ifdef WEFT_COMPILE_FAIL
  return weft::problem{b, p}.num_ops();
#else
  const weft::workload w = std::move(b).build();
  return weft::problem{w, p}.num_ops();
#endif
}
