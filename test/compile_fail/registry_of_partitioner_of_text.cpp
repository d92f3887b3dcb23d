// SPDX-License-Identifier: BSL-1.0
// expect: weft: this partitioner returns neither a placement
#include "weft/platform/platform.hpp"
#include "weft/solve/registry.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
using decision = const char*;
#else
using decision = weft::placement;
#endif

using problem = weft::problem<weft::workload, weft::platform<>>;

void add(weft::registry<problem>& all) {
  all.add_partitioner("mine", [](const problem&) { return decision{}; });
}
