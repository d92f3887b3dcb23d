// SPDX-License-Identifier: BSL-1.0
// Heuristics on large graphs: the makespan of partition::reverse_heft under static_order over HEFT's, both over the
// best lower bound, and how long each took. Layered graphs and stencils on 8 devices, CCR 1: devices that differ in
// speed, the same with sends, and unrelated times (range-based, beta 1). `peak_GB` is the memory of the process so far,
// graph and problem included. Deterministic but for the seconds.
//
// large_graphs [--ops N] [--seed N] [--ccr RATIO] [--only BEGINNING_OF_A_NAME]
#include "support/cases.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/generate/ccr.hpp"
#include "weft/cost/table.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/reverse_heft.hpp"
#include "weft/schedule/static_order.hpp"

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace {

struct arguments {
  std::uint32_t ops = 0; ///< 0: 10^4 and 10^5
  double ccr = 1;
  std::uint64_t seed = 1;
  std::string only = {};
};

double peak_gigabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / (1 << 20);
}

template <class Problem>
void study(const std::string& name, const Problem& p) {
  weft::rng random{1};
  weft::workspace scratch;
  weft::evaluator<Problem, weft::schedule::static_order> judge{p};
  const auto made_by = [&](const auto& strategy, double& seconds) {
    const weft::stopwatch clock;
    auto decided = weft::partition::run(strategy, p, random, scratch);
    seconds = clock.seconds();
    return judge(std::move(decided->plan)).run.makespan;
  };
  double forwards = 0;
  double backwards = 0;
  const double heft = made_by(weft::partition::heft{}, forwards);
  const double reverse = made_by(weft::partition::reverse_heft{}, backwards);
  const double bound = weft::bound::best(p).value;
  std::printf("%-26s %9zu %8.3f %8.3f %8.3f %8.2f %8.2f %8.2f\n", name.c_str(), p.num_ops(), heft / bound,
              reverse / heft, reverse / bound, forwards, backwards, peak_gigabytes());
  std::fflush(stdout);
}

template <class Make>
void study_all(const std::string& name, Make make, const arguments& a) {
  if (name.compare(0, a.only.size(), a.only) != 0) {
    return;
  }
  const weft::workload amounts = make();
  constexpr std::uint32_t devices = 8;
  for (const double send_work : {0.0, 10.0}) {
    const auto q = bench::devices(devices, send_work);
    const auto w = weft::generate::with_ccr(amounts, q, a.ccr);
    study(name + (send_work > 0 ? ", sends" : ""), bench::problem{w, q});
  }
  const auto q = weft::generate::heterogeneous({.devices = devices,
                                                .min_speed = 1,
                                                .max_speed = 1,
                                                .memory_times_speed = std::uint64_t{1} << 62,
                                                .send_work = 0},
                                               1);
  const auto seconds = weft::generate::range_based_costs(amounts, devices, 1, a.seed);
  const weft::cost::table table{seconds, amounts.num_ops(), devices};
  const auto w = weft::generate::with_ccr(amounts, q, a.ccr, table);
  study(name + ", unrelated", weft::problem{w, q, table});
}

void study_size(std::uint32_t n, const arguments& a) {
  for (const std::uint32_t width : {16u, 64u, 1000u}) {
    if (width <= n / 100) {
      study_all(
        "layered " + std::to_string(width), [&] { return weft::generate::layered_sized(n, width, 4, a.seed); }, a);
    }
  }
  for (const std::uint32_t width : {8u, 32u}) {
    if (width * width <= n / 10) {
      study_all("stencil " + std::to_string(width) + " x " + std::to_string(width), [&] {
        return weft::generate::stencil_2d({.width = width, .height = width, .steps = n / (width * width)});
      }, a);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  arguments a;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* option) { return std::strcmp(argv[i], option) == 0 && i + 1 < argc; };
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // by ctest
      a.ops = 2000;
    } else if (is("--ops")) {
      a.ops = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (is("--seed")) {
      a.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--only")) {
      a.only = argv[++i];
    } else if (is("--ccr")) {
      a.ccr = std::strtod(argv[++i], nullptr);
    }
  }
  std::printf("%-26s %9s %8s %8s %8s %8s %8s %8s\n", "problem", "ops", "HEFT", "reverse", "reverse", "seconds",
              "seconds", "peak");
  std::printf("%-26s %9s %8s %8s %8s %8s %8s %8s\n", "", "", "/ bound", "/ HEFT", "/ bound", "HEFT", "reverse", "GB");
  if (a.ops > 0) {
    study_size(a.ops, a);
    return 0;
  }
  study_size(10'000, a);
  study_size(100'000, a);
}
