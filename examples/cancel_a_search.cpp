// SPDX-License-Identifier: BSL-1.0
// How far a search is, and ending it before its budget is spent: here as soon as a plan is good enough.
#include <weft/all.hpp>
#include <weft/networks.hpp>

#include <cstdio>

int main() {
  const auto workload = weft::zoo::make("inception_v3");
  const auto platform = weft::presets::make("hgx_a100_4gpu"); // a CPU and four GPUs
  const weft::problem problem{workload, platform};
  const double bound = weft::bound::best(problem).value; // no plan takes less time

  // [cancel]
  std::stop_source source; // which any thread may ask to stop, such as one that waits for Ctrl-C
  const std::stop_token stop = source.get_token();
  const auto tell = [&](const weft::progress& x) { // for each better plan, one call at a time
    if (!stop.stop_requested()) {
      std::printf("%7.3f ms, %5.1f %% above the bound\n", x.best * 1e3, 100 * (x.best / bound - 1));
    }
    if (x.best < 2 * bound) {
      source.request_stop();
    }
  };
  const auto found = weft::solve::best(problem, {.moves = 10'000'000, .stop = &stop, .on_progress = tell});
  // [cancel]
  std::printf("%s\n", !stop.stop_requested() ? "stopped by the budget" : "stopped, as that is good enough");
  return found.makespan < 2 * bound && weft::validate(problem, found.plan).empty() ? 0 : 1;
}
