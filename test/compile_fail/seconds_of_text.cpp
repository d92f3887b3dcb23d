// SPDX-License-Identifier: BSL-1.0
// expect: weft: compute_time of this cost model does not return a number of seconds
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

#include <string>

struct my_cost : weft::cost::link_transfers {
#ifdef WEFT_COMPILE_FAIL
  std::string compute_time(const weft::workload&, weft::op_id, const weft::platform<>&, weft::device_id) const {
    return "1 s";
  }
#else
  double compute_time(const weft::workload&, weft::op_id, const weft::platform<>&, weft::device_id) const { return 1; }
#endif
};

auto time(const weft::workload& w, const weft::platform<>& p) {
  return weft::problem<weft::workload, weft::platform<>, my_cost>{w, p}.compute_time(0, 0);
}
