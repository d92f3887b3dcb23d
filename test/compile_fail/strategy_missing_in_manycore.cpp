// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a concurrency strategy
#include "weft/concurrency/moldable.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/workload/workload.hpp"

using platform = weft::with_machines<weft::platform<weft::uniform_links>>;
using problem = weft::problem<weft::workload, platform, weft::concurrency::moldable<>>;

#ifdef WEFT_COMPILE_FAIL
using strategy = weft::concurrency::fill_idle; // says nothing of threads
#else
using strategy = decltype(weft::concurrency::uniform(1, 1));
#endif

auto run(const problem& p, const strategy& s, const weft::plan& decided) {
  return weft::manycore_simulator<problem, strategy>{p, s}.run(decided).makespan;
}
