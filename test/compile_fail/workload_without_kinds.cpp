// SPDX-License-Identifier: BSL-1.0
// expect: weft: this workload lacks kinds
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/archetype.hpp"

struct my_workload : weft::workload_archetype {
#ifdef WEFT_COMPILE_FAIL
  weft::kind_set kinds(weft::op_id) const = delete;
#endif
};

auto ops(const my_workload& w, const weft::platform<>& p) { return weft::problem{w, p}.num_ops(); }
