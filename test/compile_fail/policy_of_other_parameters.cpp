// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a ready policy
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
#ifdef WEFT_COMPILE_FAIL
  return weft::pipeline(weft::partition::hash{}, [](weft::op_id) { return 1; })(p).makespan;
#else
  return weft::pipeline(weft::partition::hash{}, [](const auto&, weft::item_id) { return 1; })(p).makespan;
#endif
}
