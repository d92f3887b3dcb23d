// SPDX-License-Identifier: BSL-1.0
// How many events per second the simulator handles: completions of ops and of sends, and arrivals. A run includes
// `prepare`, which finds the transfers and ranks the items; setting up a simulator is a benchmark of its own.
#include "../support/cases.hpp"

#include "weft/partition/batch_split.hpp"
#include "weft/partition/hash.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <tuple>

namespace {

/// A workload on a platform with its placements. Kept between benchmarks, since large ones take long to make.
struct scene {
  weft::workload workload;
  weft::platform<> platform;
  bench::problem task{workload, platform};
  weft::plan hash = decide(weft::partition::hash{});
  weft::plan batch_split = decide(weft::partition::batch_split{});

  scene(weft::workload w, weft::platform<> p) : workload{std::move(w)}, platform{std::move(p)} {}

private:
  template <class Partitioner>
  weft::plan decide(const Partitioner& partitioner) const {
    weft::rng random{1};
    weft::workspace scratch;
    weft::plan decided = weft::partition::run(partitioner, task, random, scratch)->plan;
    for (const weft::op_id v : task.topological_order()) { // for static_order
      decided.order.push_back(weft::step::run(v));
    }
    return decided;
  }
};

const scene& recurrent() {
  static const scene made{bench::paper_workloads().back().value, bench::paper_platforms().back().value};
  return made;
}

const scene& generated(std::int64_t num_ops, std::int64_t num_devices, double send_work) {
  using key = std::tuple<std::int64_t, std::int64_t, double>;
  static std::map<key, std::unique_ptr<scene>> known;
  auto& s = known[{num_ops, num_devices, send_work}];
  if (!s) {
    s = std::make_unique<scene>(bench::layered(static_cast<std::uint64_t>(num_ops)),
                                bench::devices(static_cast<std::uint32_t>(num_devices), send_work));
  }
  return *s;
}

template <class Policy>
void simulate(benchmark::State& state, const scene& s, const weft::plan& decided) {
  weft::simulator<bench::problem, Policy> sim{s.task};
  std::uint64_t events = 0;
  for (auto _ : state) {
    const weft::simulation run = sim.run(decided);
    benchmark::DoNotOptimize(run.makespan);
    events += run.num_events;
  }
  state.counters["events"] = static_cast<double>(events) / static_cast<double>(state.iterations());
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

template <class Policy>
void simulate_recurrent(benchmark::State& state, const weft::plan scene::*decided) {
  simulate<Policy>(state, recurrent(), recurrent().*decided);
}

/// Arguments: ops, devices.
template <class Policy>
void simulate_layered(benchmark::State& state, const weft::plan scene::*decided, double send_work) {
  const scene& s = generated(state.range(0), state.range(1), send_work);
  simulate<Policy>(state, s, s.*decided);
  state.SetComplexityN(state.range(0));
}

template <class Policy>
void set_up(benchmark::State& state) {
  const scene& s = generated(state.range(0), state.range(1), 10);
  for (auto _ : state) {
    const weft::simulator<bench::problem, Policy> sim{s.task};
    benchmark::DoNotOptimize(&sim);
  }
  state.SetComplexityN(state.range(0));
}

template <class Policy>
void add(const std::string& policy) {
  for (const auto& [placement, decided] : {std::pair{"hash", &scene::hash}, {"batch_split", &scene::batch_split}}) {
    const auto label = std::string{"/"} + placement + "/" + policy;
    benchmark::RegisterBenchmark(("recurrent" + label).c_str(), simulate_recurrent<Policy>, decided)
      ->Unit(benchmark::kMillisecond);
    for (const auto& [sends, send_work] : {std::pair{"", 10.0}, {"/free_sends", 0.0}}) {
      for (const std::int64_t num_devices : {8, 64}) {
        benchmark::RegisterBenchmark(("layered" + label + sends).c_str(), simulate_layered<Policy>, decided, send_work)
          ->ArgNames({"ops", "devices"})
          ->ArgsProduct({benchmark::CreateRange(1'000, 1'000'000, 10), {num_devices}})
          ->Complexity(benchmark::oNLogN)
          ->Unit(benchmark::kMillisecond);
      }
    }
  }
  benchmark::RegisterBenchmark(("set_up/" + policy).c_str(), set_up<Policy>)
    ->ArgNames({"ops", "devices"})
    ->ArgsProduct({benchmark::CreateRange(1'000, 1'000'000, 10), {8}})
    ->Complexity(benchmark::oN)
    ->Unit(benchmark::kMillisecond);
}

} // namespace

int main(int argc, char** argv) {
  add<weft::schedule::fifo>("fifo");
  add<weft::schedule::path_completion_time>("path_completion_time");
  add<weft::schedule::maximum_successor_rank>("maximum_successor_rank");
  add<weft::schedule::largest_remaining_work>("largest_remaining_work");
  add<weft::schedule::static_order>("static_order");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
