// SPDX-License-Identifier: BSL-1.0
// What refine::windows makes of HEFT's plan on two threads in 60 seconds per million ops: the makespan under
// static_order over HEFT's, and both over the best lower bound. Layered graphs and stencils on 8 devices, CCR 1:
// devices that differ in speed, the same with sends, and unrelated times (range-based, beta 1). `peak_GB` is the memory
// of the process so far, graph and problem included. Depends on the speed of the machine.
//
// windows [--ops N] [--microseconds PER_OP] [--threads N] [--ccr RATIO] [--only BEGINNING_OF_A_NAME]
#include "support/cases.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/table.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/windows.hpp"
#include "weft/schedule/static_order.hpp"

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

namespace {

struct arguments {
  std::uint32_t ops = 0; ///< 0: 10^4 and 10^5
  double seconds_per_op = 60e-6;
  double ccr = 1;
  unsigned threads = 2;
  std::string only = {};
};

double peak_gigabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / (1 << 20);
}

template <class Problem>
void study(const std::string& name, const Problem& p, const arguments& a) {
  weft::rng random{1};
  weft::workspace scratch;
  auto start = weft::partition::run(weft::partition::heft{}, p, random, scratch);
  weft::evaluator<Problem, weft::schedule::static_order> judge{p};
  const auto heft = judge.recorded(std::move(start->plan));
  const double bound = weft::bound::best(p).value;
  const weft::stopwatch clock;
  double passes = 1; // after the passes
  const std::function<void(const weft::progress&)> listen = [&](const weft::progress& x) {
    passes = x.moves <= 5 * (1 + p.num_ops() / 8) ? x.best / heft.run.makespan : passes;
  };
  const weft::refine::windows refiner{
    .budget = {.seconds = a.seconds_per_op * static_cast<double>(p.num_ops()), .on_progress = &listen},
    .threads = a.threads};
  const auto found = refiner(judge, heft, random);
  std::printf("%-26s %9zu %8.3f %8.3f %8.3f %8.3f %8.1f %8.2f\n", name.c_str(), p.num_ops(), heft.run.makespan / bound,
              passes, found.run.makespan / heft.run.makespan, found.run.makespan / bound, clock.seconds(),
              peak_gigabytes());
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
    study(name + (send_work > 0 ? ", sends" : ""), bench::problem{w, q}, a);
  }
  const auto q = weft::generate::heterogeneous({.devices = devices,
                                                .min_speed = 1,
                                                .max_speed = 1,
                                                .memory_times_speed = std::uint64_t{1} << 62,
                                                .send_work = 0},
                                               1);
  const auto seconds = weft::generate::range_based_costs(amounts, devices, 1, 1);
  const weft::cost::table table{seconds, amounts.num_ops(), devices};
  const auto w = weft::generate::with_ccr(amounts, q, a.ccr, table);
  study(name + ", unrelated", weft::problem{w, q, table}, a);
}

void study_size(std::uint32_t n, const arguments& a) {
  for (const std::uint32_t width : {16u, 64u, 1000u}) {
    if (width <= n / 100) {
      study_all("layered " + std::to_string(width), [&] { return weft::generate::layered_sized(n, width, 4, 1); }, a);
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
      a = {.ops = 2000, .seconds_per_op = 20e-6};
    } else if (is("--ops")) {
      a.ops = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (is("--microseconds")) {
      a.seconds_per_op = std::strtod(argv[++i], nullptr) * 1e-6;
    } else if (is("--threads")) {
      a.threads = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else if (is("--only")) {
      a.only = argv[++i];
    } else if (is("--ccr")) {
      a.ccr = std::strtod(argv[++i], nullptr);
    }
  }
  std::printf("%-26s %9s %8s %8s %8s %8s %8s %8s\n", "problem", "ops", "HEFT", "passes", "windows", "", "", "peak");
  std::printf("%-26s %9s %8s %8s %8s %8s %8s %8s\n", "", "", "/ bound", "/ HEFT", "/ HEFT", "/ bound", "seconds", "GB");
  if (a.ops > 0) {
    study_size(a.ops, a);
    return 0;
  }
  study_size(10'000, a);
  study_size(100'000, a);
}
