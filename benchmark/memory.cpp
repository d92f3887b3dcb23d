// SPDX-License-Identifier: BSL-1.0
// Training steps of transformers on 8 GPUs, each with a fraction of the memory that one GPU would need for all of it:
// the step time of plans that keep to the memory over time, against layer-wise equal splitting run as frameworks do
// (what is ready first runs first, memory unlimited), and the memory at the worst moment, as the simulator tracks it
// and as the validator counts it. Deterministic but for the seconds.
//
// memory [--moves N] [--only NAME]
#include "weft/bound/live_memory.hpp"
#include "weft/instance.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/zoo.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace weft;
using gpu_problem = instance;

cost::lowered gpu_cost(const workload& w, const platform<>& q) {
  cost::roofline c;
  c.launch_overhead = 5e-6;
  return {c, w, q};
}

/// A DGX A100 whose GPUs have that much memory.
platform<> eight_gpus(byte_count each) {
  const auto full = presets::dgx_a100();
  auto devices = full.devices();
  for (std::size_t d = 1; d < devices.size(); ++d) {
    devices[d].memory_capacity = each;
  }
  return {std::move(devices), full.links()};
}

template <class Policy>
trace run_of(const gpu_problem& p, const plan& x, Policy policy) {
  trace run;
  simulator<gpu_problem, Policy>{p, policy}.run(x, simulate::recorder{run});
  return run;
}

byte_count largest_on_gpus(const std::vector<byte_count>& peaks) {
  return *std::max_element(peaks.begin() + 1, peaks.end());
}

double gib(byte_count bytes) { return static_cast<double>(bytes) / (1 << 30); }

/// False if something does not hold.
bool study(const std::string& name, double share, std::uint64_t moves) {
  const auto w = zoo::make(name);
  const auto ample = eight_gpus(byte_count{1} << 50);
  const gpu_problem unlimited{w, ample, gpu_cost(w, ample)};
  const plan alone{*partition::first_device{}(unlimited), {}};
  const auto on_one = run_of(unlimited, alone, schedule::fifo{});
  const auto whole = peak_memory_of(unlimited, alone.placement, on_one)[1];
  const plan layers{*partition::layer_split{}(unlimited), {}};
  const auto in_layers = run_of(unlimited, layers, schedule::fifo{});
  const auto layers_need = largest_on_gpus(peak_memory_of(unlimited, layers.placement, in_layers));

  const auto q = eight_gpus(static_cast<byte_count>(static_cast<double>(whole) * share));
  const gpu_problem p{w, q, gpu_cost(w, q)};
  const stopwatch clock;
  const auto reserved = solve::best(p, {.moves = 0});
  const double reserved_seconds = clock.seconds();
  const auto r = solve::best(p, {.moves = moves, .memory = memory_rule::over_time});
  const double seconds = clock.seconds() - reserved_seconds;
  std::printf("%-16s %6zu %7.2f %6.2f %8.2f %9.4f %9.4f", name.c_str(), w.num_ops(), gib(whole),
              gib(q.memory_capacity(1)), gib(layers_need), on_one.makespan, in_layers.makespan);
  if (reserved.has_plan()) {
    std::printf(" %9.4f", reserved.makespan);
  } else {
    std::printf(" %9s", "none");
  }
  if (!r.has_plan()) {
    std::printf(" %9s\n", "none");
    if (r.shortage) {
      std::printf("%s\n", to_string(*r.shortage, [&](op_id v) { return w.name(v); },
                                    [&](device_id d) { return q.name(d); }).c_str());
    }
    return false;
  }
  const auto run = run_of(p, r.plan, schedule::static_order{});
  const auto counted = peak_memory_of(p, r.plan.placement, run);
  const auto wrong = validate(p, r.plan.placement, run, {.memory = memory_rule::over_time});
  const bool confirmed = counted == r.peaks && wrong.empty();
  std::printf(" %9.4f %8.2f %7.3f %7.3f %8.1f %s\n", r.makespan, gib(largest_on_gpus(counted)),
              in_layers.makespan / r.makespan, r.makespan / r.bound.value, seconds,
              confirmed ? "confirmed" : "NOT CONFIRMED");
  std::fflush(stdout);
  return confirmed;
}

} // namespace

int main(int argc, char** argv) {
  std::uint64_t moves = 50'000;
  std::string only;
  bool brief = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // by ctest
      brief = true;
    } else if (std::strcmp(argv[i], "--moves") == 0 && i + 1 < argc) {
      moves = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      only = argv[++i];
    }
  }
  std::printf("Memory in GiB, times in seconds; whole: one GPU for everything, cap: memory of each of the 8 GPUs\n"
              "%-16s %6s %7s %6s %8s %9s %9s %9s %9s %8s %7s %7s %8s\n",
              "network", "ops", "whole", "cap", "layers'", "one GPU", "layers", "reserved", "over time", "peak",
              "layers/", "/bound", "seconds");
  bool all = true;
  if (brief) {
    return study("bert_base@2", 0.25, 0) ? 0 : 1;
  }
  for (const char* name : {"bert_large", "bert_large@32", "gpt2_medium", "gpt2_xl"}) {
    for (const double share : {1.0 / 4, 1.0 / 6}) {
      if (only.empty() || only == name) {
        all = study(name, share, moves) && all;
      }
    }
  }
  return all ? 0 : 1;
}
