// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a partitioner
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#ifdef WEFT_COMPILE_FAIL
constexpr auto on_one = [](const weft::workload& w, const weft::platform<>&) { return weft::placement(w.num_ops()); };
#else
constexpr auto on_one = [](const auto& p) { return weft::placement(p.num_ops()); };
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(on_one, weft::schedule::fifo{})(p).makespan;
}
