// SPDX-License-Identifier: BSL-1.0
// What transfers on shared links cost, and how much of that a plan that knows of them saves: the networks of the zoo up
// to 6,000 ops on platforms with shared links, planned by solve::best, which knows of none, and by solve::best under
// fair sharing. Deterministic.
//
// contention [--moves N] [--port]     --moves: of each search (20000); --port: one tensor per port instead of fair
// sharing
#include "support/suite.hpp"

#include "weft/instance.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/io/stg.hpp"
#include "weft/networks.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/platform/topology.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/solve/best.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft;

struct sum {
  double log_ratio = 0;
  int count = 0; // where contention costs more than 5 %
  int worse = 0;
};

constexpr const char* platforms[] = {"dgx_a100",  "dgx_a100_x2",   "hgx_a100_x2",
                                     "pcie_8gpu", "p3_8xlarge_x2", "cpu_cluster_16"};

/// Calls `f(problem)` for a network of the zoo if it has at most 6,000 ops.
template <class F>
void with_network(const char* platform_name, const zoo::entry& network, F f) {
  const auto w = zoo::make(network.name);
  const auto q = presets::make(platform_name);
  const auto efficiencies = cost::typical_efficiencies();
  cost::roofline costs;
  costs.efficiencies = &efficiencies;
  if (w.num_ops() <= 6000) {
    f(instance{w, q, cost::lowered{costs, w, q}});
  }
}

void compare(const char* platform_name, const zoo::entry& network, const instance& p,
             const simulate::any_network& shared, std::uint64_t moves, sum& all) {
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

/// HEFT on some problems, on one network.
struct heft_case {
  double log_ratio = 0; ///< of the makespans, aware over unaware
  double worst = 0;
  int count = 0; ///< where contention costs the unaware plan more than 5 %
  int longer = 0;
  double aware_seconds = 0; ///< to plan
  double unaware_seconds = 0;
};

/// The least of five.
template <class Scheduler, class Problem>
double seconds_to_plan(const Scheduler& s, const Problem& p, plan& into) {
  double least = std::numeric_limits<double>::infinity();
  workspace scratch;
  for (int i = 0; i < 5; ++i) {
    rng random{1};
    const auto start = std::chrono::steady_clock::now();
    auto made = s(p, random, scratch);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    into = std::move(*made);
  }
  return least;
}

/// Both networks.
struct heft_cases {
  heft_case port, fair;

  template <class Problem>
  void add(const Problem& p) {
    plan unaware;
    const double seconds = seconds_to_plan(partition::heft{}, p, unaware);
    const double alone = simulator{p, schedule::static_order{}}.run(unaware).makespan;
    add(p, simulate::port_contention{}, unaware, seconds, alone, port);
    add(p, simulate::fair_sharing{}, unaware, seconds, alone, fair);
  }
  void print(const char* name) const {
    for (const auto& [network, c] : {std::pair{"port", port}, std::pair{"fair", fair}}) {
      std::printf("| %s | `%s` | %d | %.1f %% | %d | %.1f %% | %.1f |\n", name, network, c.count,
                  100 * (1 - std::exp(c.log_ratio / std::max(1, c.count))), c.longer, 100 * (c.worst - 1),
                  c.aware_seconds / c.unaware_seconds);
    }
    std::fflush(stdout);
  }

private:
  template <class Problem, class Network>
  static void add(const Problem& p, const Network& network, const plan& unaware, double seconds, double alone,
                  heft_case& to) {
    simulator sim{p, schedule::static_order{}, network};
    const double before = sim.run(unaware).makespan;
    if (before <= 1.05 * alone) {
      return;
    }
    plan aware;
    to.aware_seconds += seconds_to_plan(partition::heft{}.on(network), p, aware);
    to.unaware_seconds += seconds;
    const double ratio = sim.run(aware).makespan / before;
    to.log_ratio += std::log(ratio);
    to.worst = std::max(to.worst, ratio);
    to.longer += ratio > 1 + 1e-9;
    ++to.count;
  }
};

/// Eight devices in two halves, between which one cable is as wide as that of one device.
platform<interconnect> two_halves(const std::vector<device>& devices, const weft::link& cable) {
  return {devices, topology::fat_tree({{4, cable}, {2, cable}})};
}

workload with_tensors(const workload& w, double bytes_per_work) {
  workload_builder b;
  for (const op_id v : ids(w.num_ops())) {
    b.add_op({.work = w.work(v), .bytes = static_cast<byte_count>(w.work(v) * bytes_per_work)});
  }
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id v : w.consumers(t)) {
      b.add_edge(w.producer(t), v);
    }
  }
  return std::move(b).build();
}

int compare_heft(int count, char** files) {
  std::printf("| problems | network | contention > 5 %% | shorter by | longer in | at most by | planning |\n"
              "|---|---|--:|--:|--:|--:|--:|\n");
  for (const char* platform_name : platforms) {
    heft_cases cases;
    for (const auto& network : zoo::entries) {
      with_network(platform_name, network, [&](const auto& p) { cases.add(p); });
    }
    cases.print((std::string{"zoo, `"} + platform_name + "`").c_str());
  }
  heft_cases uniform, halves, stg;
  bench::for_each_of_suite(1, [](const auto&) { return true; }, [&](const bench::suite_case& c) {
    uniform.add(c.problem);
    const auto q = two_halves(c.data.devices.devices(), c.data.devices.links()(0, 1));
    halves.add(problem{c.data.ops, q, c.data.costs()});
  });
  uniform.print("suite");
  halves.print("suite, two halves");
  for (int f = 0; f < count; ++f) {
    constexpr double bandwidth = 1e6;
    const auto w = with_tensors(io::read_workload_stg(files[f]), bandwidth);
    const auto q = two_halves(std::vector<device>(8), {.bandwidth = bandwidth});
    stg.add(problem{w, q});
  }
  if (count > 0) {
    stg.print("STG, two halves");
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::uint64_t moves = 20'000;
  simulate::any_network shared{contention_model::fair};
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--heft") == 0) {
      return compare_heft(argc - i - 1, argv + i + 1);
    }
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
  for (const char* platform_name : platforms) {
    for (const auto& network : zoo::entries) {
      if (!quick || network.name == "mnist_conv") {
        with_network(platform_name, network, [&](const auto& p) {
          compare(platform_name, network, p, shared, quick ? 100 : moves, all);
        });
      }
    }
  }
  std::printf("mean gain where contention costs more than 5 %% (no -): %.1f %% in %d cases; worse in %d\n",
              100 * (1 - std::exp(all.log_ratio / std::max(1, all.count))), all.count, all.worse);
}
