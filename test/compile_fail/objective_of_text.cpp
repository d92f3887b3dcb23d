// SPDX-License-Identifier: BSL-1.0
// expect: weft: score\(problem, run\) of this objective returns neither a weft::score nor a number
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

struct busiest {
#ifdef WEFT_COMPILE_FAIL
  const char* score(const auto&, const weft::trace&) const { return "good"; }
#else
  double score(const auto&, const weft::trace& run) const { return run.makespan; }
#endif
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, weft::evaluation{weft::schedule::fifo{}, busiest{}})(p).score.value;
}
