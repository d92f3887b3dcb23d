// SPDX-License-Identifier: BSL-1.0
// expect: weft: concurrency strategies need to know devices from the inside
#include "weft/concurrency/moldable.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
using problem = weft::problem<weft::workload, weft::platform<>>; // devices are slots and no more
#else
using problem = weft::problem<weft::workload, weft::with_machines<weft::platform<>>, weft::concurrency::moldable<>>;
#endif

auto run(const problem& p, const weft::plan& decided) {
  return weft::simulator{p, weft::concurrency::s1}.run(decided).makespan;
}
