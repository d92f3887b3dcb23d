// SPDX-License-Identifier: BSL-1.0
// expect: weft: this cost model lacks transfer_time
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

struct my_cost {
  double compute_time(const weft::workload&, weft::op_id, const weft::platform<>&, weft::device_id) const { return 1; }
#ifndef WEFT_COMPILE_FAIL
  double transfer_time(const weft::workload&, weft::tensor_id, const weft::platform<>&, weft::device_id,
                       weft::device_id) const {
    return 1;
  }
#endif
};

auto ops(const weft::workload& w, const weft::platform<>& p) {
  return weft::problem<weft::workload, weft::platform<>, my_cost>{w, p}.num_ops();
}
