// SPDX-License-Identifier: BSL-1.0
// What transfers on shared links cost, and how much of that a plan that knows of them saves: the networks of the zoo up
// to 6,000 ops on platforms with shared links, planned by solve::best, which knows of none, and by solve::best under fair sharing.
// Deterministic.
//
// contention [--moves N] [--port]     --moves: of each search (20000); --port: one tensor per port instead of fair
// sharing
#include "weft/compiled.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/networks.hpp"
#include "weft/platform/presets.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/solve/best.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace weft;

struct sum {
  double log_ratio = 0;
  int count = 0; // where contention costs more than 5 %
  int worse = 0;
};

void compare(const char* platform_name, const zoo::entry& network, const simulate::any_network& shared, std::uint64_t moves,
             sum& all) {
  const auto w = zoo::make(network.name);
  const auto q = presets::make(platform_name);
  const auto efficiencies = cost::typical_efficiencies();
  cost::roofline costs;
  costs.efficiencies = &efficiencies;
  const compiled::tabulated p{w, q, cost::tabulated{costs, w, q}};
  if (p.num_ops() > 6000) {
    return;
  }
  const auto blind = solve::best(p, {.moves = moves});
  const auto aware = solve::best(p, simulate::under{schedule::static_order{}, shared}, {.moves = moves});
  if (!blind.has_plan() || !aware.has_plan()) {
    return;
  }
  const double run = simulator{p, schedule::static_order{}, shared}.run(blind.plan).makespan;
  const bool counts = run > 1.05 * blind.makespan;
  if (counts) {
    all.log_ratio += std::log(aware.makespan / run);
    ++all.count;
  }
  all.worse += aware.makespan > run;
  std::printf("%-15s %-17s %8.3f %8.3f %7.1f %% %s %6.1f x\n", platform_name, network.name.data(), run / blind.makespan,
              aware.makespan / blind.makespan, 100 * (1 - aware.makespan / run), counts ? " " : "-",
              aware.stats.partition_seconds / std::max(1e-9, blind.stats.partition_seconds));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  std::uint64_t moves = 20'000;
  simulate::any_network shared{contention_model::fair};
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--moves") == 0 && i + 1 < argc) {
      moves = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--port") == 0) {
      shared.model = contention_model::port;
    } else if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // as all benchmarks are run by the tests
      quick = true;
    }
  }
  std::printf("%-33s %8s %8s %9s %10s\n", "makespan / that without contention", "unaware", "aware", "gain", "planning");
  sum all;
  for (const char* platform : {"dgx_a100", "dgx_a100_x2", "hgx_a100_x2", "pcie_8gpu", "p3_8xlarge_x2", "cpu_cluster_16"}) {
    for (const auto& network : zoo::entries) {
      if (!quick || network.name == "mnist_conv") {
        compare(platform, network, shared, quick ? 100 : moves, all);
      }
    }
  }
  std::printf("mean gain where contention costs more than 5 %% (no -): %.1f %% in %d cases; worse in %d\n",
              100 * (1 - std::exp(all.log_ratio / std::max(1, all.count))), all.count, all.worse);
}
