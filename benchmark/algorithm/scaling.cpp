// SPDX-License-Identifier: BSL-1.0
// How partitioners and lower bounds grow with the graph: random layered graphs of 10^3 to 10^6 ops on 8 and 64 devices.
// iterated_critical_path is quadratic and ends at 10^4; the searches (iterated_local_search, branch_and_bound) run for
// as long as they are given.
#include "../support/cases.hpp"

#include "weft/bound/area.hpp"
#include "weft/bound/best.hpp"
#include "weft/bound/communication_path.hpp"
#include "weft/bound/critical_path.hpp"
#include "weft/bound/group_load.hpp"
#include "weft/partition/batch_split.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/dfs.hpp"
#include "weft/partition/divide_successors.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/iterated_critical_path.hpp"
#include "weft/partition/mite.hpp"

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <utility>

namespace {

struct scene {
  weft::workload workload;
  weft::platform<> platform;
  bench::problem task{workload, platform};

  scene(weft::workload w, weft::platform<> p) : workload{std::move(w)}, platform{std::move(p)} {}
};

const bench::problem& generated(std::int64_t num_ops, std::int64_t num_devices) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<scene>> known; // large ones take long to make
  auto& s = known[{num_ops, num_devices}];
  if (!s) {
    s = std::make_unique<scene>(bench::layered(static_cast<std::uint64_t>(num_ops)),
                                bench::devices(static_cast<std::uint32_t>(num_devices)));
  }
  return s->task;
}

template <class Run>
void add(const std::string& name, Run run, std::int64_t largest = 1'000'000) {
  const auto measure = [run](benchmark::State& state) {
    const bench::problem& task = generated(state.range(0), state.range(1));
    for (auto _ : state) {
      benchmark::DoNotOptimize(run(task));
    }
    state.SetComplexityN(state.range(0));
  };
  for (const std::int64_t num_devices : {8, 64}) {
    benchmark::RegisterBenchmark(name.c_str(), measure)
      ->ArgNames({"ops", "devices"})
      ->ArgsProduct({benchmark::CreateRange(1'000, largest, 10), {num_devices}})
      ->Complexity() // the best fit of the usual ones
      ->Unit(benchmark::kMillisecond);
  }
}

template <class Partitioner>
void add_partitioner(const std::string& name, Partitioner partitioner, std::int64_t largest = 1'000'000) {
  const auto run = [partitioner, scratch = std::make_shared<weft::workspace>()](const bench::problem& task) {
    weft::rng random{1};
    return weft::partition::run(partitioner, task, random, *scratch).has_value();
  };
  add("partition/" + name, run, largest);
}

} // namespace

int main(int argc, char** argv) {
  add_partitioner("hash", weft::partition::hash{});
  add_partitioner("batch_split", weft::partition::batch_split{});
  add_partitioner("critical_path", weft::partition::critical_path{});
  add_partitioner("mite", weft::partition::mite{});
  add_partitioner("dfs", weft::partition::dfs{});
  add_partitioner("iterated_critical_path", weft::partition::iterated_critical_path{}, 10'000);
  add_partitioner("divide_successors", weft::partition::divide_successors{});
  add_partitioner("heft", weft::partition::heft{});
  add("bound/critical_path", [](const bench::problem& p) { return weft::bound::critical_path(p); });
  add("bound/communication_path", [](const bench::problem& p) { return weft::bound::communication_path(p); });
  add("bound/area", [](const bench::problem& p) { return weft::bound::area(p); });
  add("bound/group_load", [](const bench::problem& p) { return weft::bound::group_load(p); });
  add("bound/best", [](const bench::problem& p) { return weft::bound::best(p).value; });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
