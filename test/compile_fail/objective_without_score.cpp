// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not an objective
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

struct busiest {
#ifdef WEFT_COMPILE_FAIL
  double value(const auto&, const weft::trace& run) const { return run.makespan; }
#else
  double score(const auto&, const weft::trace& run) const { return run.makespan; }
#endif
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, weft::evaluation{weft::schedule::fifo{}, busiest{}})(p).score.value;
}
