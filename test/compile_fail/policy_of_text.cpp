// SPDX-License-Identifier: BSL-1.0
// expect: weft: a ready policy that is a function of \(placed_flow, item_id\) returns a number
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#include <string>

#ifdef WEFT_COMPILE_FAIL
using key = std::string;
#else
using key = double;
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, [](const auto&, weft::item_id) { return key{}; })(p).makespan;
}
