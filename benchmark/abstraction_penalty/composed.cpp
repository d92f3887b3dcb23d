// SPDX-License-Identifier: BSL-1.0
// The library's version: the stages that `pipeline(partition::critical_path{}, schedule::path_completion_time{})` runs,
// without the lower bound, which is a result of its own and not part of the algorithm.
#include "solvers.hpp"

#include "weft/partition/critical_path.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/simulator.hpp"

void solve_composed(const penalty::problem& p, std::uint64_t seed, penalty::outcome& out) {
  weft::workspace scratch;
  weft::rng random{seed};
  const auto decided = weft::partition::run(weft::partition::critical_path{}, p, random, scratch);
  if (!decided) {
    out = {};
    return;
  }
  weft::simulator simulate{p, weft::schedule::path_completion_time{}};
  const weft::simulation run = simulate.run(decided->plan);
  out = {true, run.makespan, run.transfer_bytes, run.num_events};
}
