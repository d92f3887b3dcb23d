// SPDX-License-Identifier: BSL-1.0
// expect: weft: this cost model lacks compute_time
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
constexpr auto cost = [](weft::op_id, weft::device_id) { return 1.0; };
#else
constexpr struct : weft::cost::link_transfers {
  double compute_time(const weft::workload&, weft::op_id, const weft::platform<>&, weft::device_id) const { return 1; }
} cost;
#endif

auto time(const weft::workload& w, const weft::platform<>& p) { return weft::problem{w, p, cost}.compute_time(0, 0); }
