// SPDX-License-Identifier: BSL-1.0
// expect: weft: operator\(\) or assign_keys of this ready policy is not const
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

struct policy {
#ifdef WEFT_COMPILE_FAIL
  double operator()(const auto&, weft::item_id i) { return -1.0 * i; }
#else
  double operator()(const auto&, weft::item_id i) const { return -1.0 * i; }
#endif
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, policy{})(p).makespan;
}
