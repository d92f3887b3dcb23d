// SPDX-License-Identifier: BSL-1.0
// expect: weft: this workload lacks work
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/archetype.hpp"

struct my_workload : weft::workload_archetype {
#ifdef WEFT_COMPILE_FAIL
  double work(weft::op_id) const = delete;
#endif
};

auto ops(const my_workload& w, const weft::platform<>& p) {
  return weft::problem<my_workload, weft::platform<>>{w, p}.num_ops();
}
