// SPDX-License-Identifier: BSL-1.0
// expect: weft: operator\(\) of this partitioner is not const
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

struct partitioner {
#ifdef WEFT_COMPILE_FAIL
  weft::placement operator()(const auto& p) { return weft::placement(p.num_ops()); }
#else
  weft::placement operator()(const auto& p) const { return weft::placement(p.num_ops()); }
#endif
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(partitioner{}, weft::schedule::fifo{})(p).makespan;
}
