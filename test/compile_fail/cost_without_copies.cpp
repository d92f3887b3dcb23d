// SPDX-License-Identifier: BSL-1.0
// expect: weft: a cost model is kept by value
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

#include <utility>

struct my_cost : weft::cost::linear {
#ifdef WEFT_COMPILE_FAIL
  my_cost(const my_cost&) = delete;
#endif
};

auto ops(const weft::workload& w, const weft::platform<>& p, const my_cost& c) {
  return weft::problem<weft::workload, weft::platform<>, my_cost>(w, p, c).num_ops();
}
