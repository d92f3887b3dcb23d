// SPDX-License-Identifier: BSL-1.0
// List schedulers on random layered graphs (levels of 1,000 ops, 4 inputs per op) of 10^4 to 10^7 ops, next to a bare
// sweep: the same graph in topological order, for each op the latest arrival on each device and the device where it
// finishes first, written by hand with nothing else around it. `sweeps` is how many such sweeps a scheduler takes,
// `ns/op` its time per op, `peak_MB` the memory of the process so far, graph and problem included.
//
// `heft/scaled`, `heft/tabulated` and `heft/measured` plan for the same times, which come through a wrapper or from
// memory; `vs_linear` is how many times as long as with cost::linear that takes, in runs that take turns.
//
// The graphs of 10^7 ops are made only if the filter asks for them: --benchmark_filter=ops:10000000
#include "../support/cases.hpp"

#include "weft/cost/compose.hpp"
#include "weft/cost/linear.hpp"
#include "weft/cost/measured.hpp"
#include "weft/cost/tabulated.hpp"
#include "weft/partition/dls.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/fcp.hpp"
#include "weft/partition/flb.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/hlfet.hpp"
#include "weft/partition/mcp.hpp"
#include "weft/partition/min_min.hpp"
#include "weft/partition/peft.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft;

/// Of this process, which has one thread; not the time that others take from it.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_megabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

/// The edges of a graph in topological order, and nothing else.
class bare_sweep {
public:
  explicit bare_sweep(const bench::problem& p)
      : devices_{p.num_devices()}, inverse_bandwidth_(devices_ * devices_, 0.0), slowness_(devices_, 0.0) {
    std::vector<std::uint32_t> position(p.num_ops(), 0);
    std::uint32_t number = 0;
    for (const op_id v : p.topological_order()) {
      position[v] = number++;
    }
    for (const op_id v : p.topological_order()) {
      for (const tensor_id t : p.workload().inputs(v)) {
        source_.push_back(position[p.workload().producer(t)]);
        bytes_.push_back(static_cast<double>(p.workload().bytes(t)));
      }
      first_.push_back(static_cast<std::uint32_t>(source_.size()));
      work_.push_back(p.workload().work(v));
    }
    for (const device_id a : ids(devices_)) {
      slowness_[a] = 1 / p.platform().speed(a);
      for (const device_id b : ids(devices_)) {
        inverse_bandwidth_[a * devices_ + b] = a == b ? 0 : 1 / p.platform().bandwidth(a, b);
      }
    }
  }

  double operator()() {
    finish_.resize(work_.size());
    where_.resize(work_.size());
    ready_.assign(devices_, 0.0);
    free_.assign(devices_, 0.0);
    double* __restrict const ready = ready_.data();
    for (std::size_t v = 0; v < work_.size(); ++v) {
      std::fill(ready, ready + devices_, 0.0);
      for (std::uint32_t e = first_[v]; e < first_[v + 1]; ++e) {
        const double made = finish_[source_[e]];
        const double bytes = bytes_[e];
        const double* __restrict const inverse = inverse_bandwidth_.data() + where_[source_[e]] * devices_;
        for (std::size_t d = 0; d < devices_; ++d) {
          const double arrival = made + bytes * inverse[d];
          ready[d] = ready[d] < arrival ? arrival : ready[d];
        }
      }
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t d = 0; d < devices_; ++d) {
        if (const double end = std::max(ready[d], free_[d]) + work_[v] * slowness_[d]; end < least) {
          least = end;
          where_[v] = static_cast<std::uint32_t>(d);
        }
      }
      finish_[v] = free_[where_[v]] = least;
    }
    return *std::max_element(free_.begin(), free_.end());
  }

private:
  std::size_t devices_;
  std::vector<std::uint32_t> first_{0};
  std::vector<std::uint32_t> source_;
  std::vector<double> bytes_;
  std::vector<double> work_;
  std::vector<double> inverse_bandwidth_;
  std::vector<double> slowness_;
  std::vector<double> finish_;
  std::vector<std::uint32_t> where_;
  std::vector<double> ready_;
  std::vector<double> free_;
};

struct scene {
  workload ops;
  weft::platform<> devices;
  bench::problem task{ops, devices};
  double sweep_seconds = 0; // the best of five

  scene(std::int64_t num_ops, std::int64_t num_devices)
      : ops{generate::layered_sized(static_cast<std::uint64_t>(num_ops), 1000, 4, 1)},
        devices{bench::devices(static_cast<std::uint32_t>(num_devices), 0)} {
    bare_sweep sweep{task};
    sweep_seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {
      const double begin = cpu_seconds();
      benchmark::DoNotOptimize(sweep());
      sweep_seconds = std::min(sweep_seconds, cpu_seconds() - begin);
    }
  }
};

const scene& generated(std::int64_t num_ops, std::int64_t num_devices) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<scene>> known;
  if (num_ops > 1'000'000) {
    known.clear(); // so that the peak is that of one problem
  }
  auto& s = known[{num_ops, num_devices}];
  if (!s) {
    s = std::make_unique<scene>(num_ops, num_devices);
  }
  return *s;
}

template <class Scheduler, class Problem>
double seconds_of(const Scheduler& scheduler, const Problem& task, workspace& scratch) {
  rng random{1};
  const double begin = cpu_seconds();
  benchmark::DoNotOptimize(scheduler(task, random, scratch));
  return cpu_seconds() - begin;
}

/// For all sizes up to the largest.
template <class Measure>
void add_sizes(const std::string& name, Measure measure, std::int64_t largest) {
  for (const std::int64_t num_devices : {8, 64}) {
    auto* const b = benchmark::RegisterBenchmark(name.c_str(), measure)
                      ->ArgNames({"ops", "devices"})
                      ->Complexity(benchmark::oN)
                      ->Unit(benchmark::kMillisecond);
    for (std::int64_t n = 10'000; n <= largest; n *= 10) {
      b->Args({n, num_devices});
    }
  }
}

template <class Scheduler>
void add(const std::string& name, Scheduler scheduler, std::int64_t largest = 1'000'000) {
  const auto measure = [scheduler](benchmark::State& state) {
    const scene& s = generated(state.range(0), state.range(1));
    workspace scratch;
    double best = std::numeric_limits<double>::infinity();
    for (auto _ : state) {
      best = std::min(best, seconds_of(scheduler, s.task, scratch));
    }
    state.SetComplexityN(state.range(0));
    state.counters["ns/op"] = 1e9 * best / static_cast<double>(state.range(0));
    state.counters["sweeps"] = best / s.sweep_seconds;
    state.counters["sweep_ns/op"] = 1e9 * s.sweep_seconds / static_cast<double>(state.range(0));
    state.counters["peak_MB"] = peak_megabytes();
  };
  add_sizes(name, measure, largest);
}

/// HEFT with the cost model that `make_cost` makes of a scene.
template <class MakeCost>
void add_heft_with(const std::string& name, MakeCost make_cost) {
  const auto measure = [make_cost](benchmark::State& state) {
    const scene& s = generated(state.range(0), state.range(1));
    const auto task = s.task.with_costs(make_cost(s));
    workspace scratch;
    double best = std::numeric_limits<double>::infinity();
    double linear = best;
    for (auto _ : state) {
      linear = std::min(linear, seconds_of(partition::heft{}, s.task, scratch));
      best = std::min(best, seconds_of(partition::heft{}, task, scratch));
    }
    state.SetComplexityN(state.range(0));
    state.counters["ns/op"] = 1e9 * best / static_cast<double>(state.range(0));
    state.counters["vs_linear"] = best / linear;
  };
  add_sizes("heft/" + name, measure, 1'000'000);
}

/// The times of cost::linear as if they had been measured: on one device of each kind.
cost::measured<> measured_on(const scene& s) {
  cost::measured<> cost{cost::linear{}, s.devices};
  kind_set known;
  for (const device_id d : ids(s.devices.num_devices())) {
    if (const device_kind kind = s.devices.kind(d); !known.contains(kind)) {
      known = known | kind;
      std::vector<double> seconds;
      for (const op_id v : ids(s.ops.num_ops())) {
        seconds.push_back(s.task.compute_time(v, d));
      }
      cost.add(kind, std::move(seconds));
    }
  }
  return cost;
}

} // namespace

int main(int argc, char** argv) {
  const bool huge = std::any_of(argv, argv + argc, [](std::string a) { return a.find("10000000") != a.npos; });
  add("heft", partition::heft{}, huge ? 10'000'000 : 1'000'000);
  add_heft_with("scaled", [](const scene&) { return cost::scaled{cost::linear{}}; });
  add_heft_with("tabulated", [](const scene& s) { return cost::tabulated{cost::linear{}, s.ops, s.devices}; });
  add_heft_with("measured", measured_on);
  add("mcp", partition::mcp{});
  add("hlfet", partition::hlfet{});
  add("fcp", partition::fcp{});
  add("peft", partition::peft{}, 100'000);
  add("etf", partition::etf{});
  add("dls", partition::dls{}, 100'000);
  add("min_min", partition::min_min{}, 100'000);
  add("flb", partition::flb{});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
