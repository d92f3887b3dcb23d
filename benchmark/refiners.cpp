// SPDX-License-Identifier: BSL-1.0
// What each refiner makes of HEFT's plan in equal time: the makespan under static_order over the best lower bound.
// Depends on the speed of the machine.
//
// refiners [--seconds N]
#include "support/cases.hpp"

#include "weft/bound/best.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/large_neighbourhood_search.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using bench::problem;

void study(const std::string& name, const weft::workload& w, const weft::platform<>& q, double seconds) {
  const problem p{w, q};
  weft::rng random{1};
  weft::workspace scratch;
  const auto start = weft::partition::run(weft::partition::heft{}, p, random, scratch);
  if (!start) {
    std::printf("%-44s has no plan of HEFT\n", name.c_str());
    return;
  }
  const double bound = weft::bound::best(p).value;
  weft::simulator<problem, weft::schedule::static_order> sim{p};
  std::printf("%-44s %8.4f", name.c_str(), sim.run(start->plan).makespan / bound);
  const auto column = [&](auto refiner) {
    refiner.budget = {.seconds = seconds};
    weft::rng own{1};
    const auto found = weft::refine::improve(p, start->plan, refiner, weft::schedule::static_order{}, own);
    std::printf(" %8.4f", found.score.value / bound);
    std::fflush(stdout);
  };
  column(weft::refine::local_search{});
  column(weft::refine::simulated_annealing{});
  column(weft::refine::tabu_search{});
  column(weft::refine::large_neighbourhood_search{});
  column(weft::refine::genetic{});
  std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
  double seconds = 5;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // by ctest
      seconds = 0.01;
    } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::strtod(argv[++i], nullptr);
    }
  }
  std::printf("Makespan / lower bound after %g s each\n%-44s %8s %8s %8s %8s %8s %8s\n", seconds, "problem", "HEFT",
              "local", "anneal", "tabu", "lns", "genetic");
  for (const auto& q : bench::paper_platforms()) {
    for (const auto& w : bench::paper_workloads()) {
      study(w.name + " x " + q.name, w.value, q.value, seconds);
    }
  }
  const auto fifty = weft::presets::make("paper_like_50");
  for (const char* net : {"ptb_lstm", "dynamic_rnn", "inception_v3"}) {
    study(std::string{"zoo:"} + net + " x preset:paper_like_50", weft::zoo::make(net), fifty, seconds);
  }
  study("layered 3000 x 50 random devices", weft::generate::layered_sized(3000, 60, 4, 1), bench::devices(50), seconds);
}
