// SPDX-License-Identifier: BSL-1.0
// Runs a program that scripts/torch_step.py wrote, by PyTorch's own kernels and without Python: its ops
// on so many workers, each with one thread, as HEFT deals them out by times that it measures first.
//
//   run_program step.pt2 [workers] [steps]
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/cost/table.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/interop/torch.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace {

unsigned number(const char* text, const char* what) {
  unsigned value = 0;
  const auto* const end = text + std::strlen(text);
  if (const auto read = std::from_chars(text, end, value); read.ec != std::errc{} || read.ptr != end || value == 0) {
    throw weft::error(std::string{"\""} + text + "\" is not a number of " + what);
  }
  return value;
}

/// The seconds that each op takes with one thread: the least of three runs.
std::vector<double> times_of(const weft::torch::program& p) {
  weft::torch::session values{p};
  std::vector<double> seconds(p.calls.size(), 1e9);
  for (int run = 0; run < 3; ++run) {
    values.begin();
    for (const weft::op_id v : weft::ids(p.calls.size())) {
      const weft::stopwatch watch;
      values.run(v);
      seconds[v] = std::min(seconds[v], watch.seconds());
    }
  }
  return seconds;
}

/// Ops on workers, by their times on any of them.
weft::plan planned(const weft::torch::program& p, unsigned workers, const std::vector<double>& seconds) {
  const weft::platform<weft::uniform_links> machine{std::vector<weft::device>(workers), {{.latency = 1e-6}}};
  std::vector<double> on_each; // worker
  for (const double s : seconds) {
    on_each.insert(on_each.end(), workers, s);
  }
  const weft::problem whole{p.graph, machine, weft::cost::table{on_each, seconds.size(), workers}};
  weft::rng random;
  weft::workspace scratch;
  return weft::partition::run(weft::partition::heft{}, whole, random, scratch)->plan;
}

void run(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    throw weft::error("give a program, and if you like numbers of workers and steps: run_program step.pt2 2 10");
  }
  const unsigned workers = argc > 2 ? number(argv[2], "workers") : 1;
  const unsigned steps = argc > 3 ? number(argv[3], "steps") : 5;
  const auto program = weft::torch::read_program(argv[1]);
  weft::static_executor execute{program.graph, planned(program, workers, times_of(program))};
  at::manual_seed(0);
  weft::torch::session values{program};
  for (unsigned i = 0; i < steps; ++i) {
    values.begin();
    const auto report = execute([&](weft::op_id v, weft::team t) { values.run(v, t); });
    report.rethrow();
    const auto results = values.results();
    const bool has_loss = !results.empty() && results.front().numel() == 1;
    std::printf("step %u: %.3f ms%s\n", i, 1e3 * report.seconds,
                has_loss ? (", loss " + std::to_string(results.front().item<double>())).c_str() : "");
  }
}

} // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "run_program: %s\n", e.what());
    return 1;
  }
}
