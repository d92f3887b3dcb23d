// SPDX-License-Identifier: BSL-1.0
// expect: weft: work\(op_id\) of this workload does not return a number
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/archetype.hpp"

struct my_workload : weft::workload_archetype {
#ifdef WEFT_COMPILE_FAIL
  const char* work(weft::op_id) const { return "1 GFLOP"; }
#endif
};

auto time(const my_workload& w, const weft::platform<>& p) { return weft::problem{w, p}.compute_time(0, 0); }
