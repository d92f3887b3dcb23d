// SPDX-License-Identifier: BSL-1.0
// expect: weft: concurrency strategies need to know devices from the inside
#include "weft/concurrency/moldable.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
using problem = weft::problem<weft::workload, weft::platform<weft::uniform_links>>;
#else
using problem = weft::problem<weft::workload, weft::with_machines<weft::platform<weft::uniform_links>>,
                              weft::concurrency::moldable<>>;
#endif
using strategy = decltype(weft::concurrency::uniform(1, 1));

auto run(const problem& p, const strategy& s, const weft::plan& decided) {
  return weft::manycore_simulator<problem, strategy>{p, s}.run(decided).makespan;
}
