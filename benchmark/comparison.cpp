// SPDX-License-Identifier: BSL-1.0
// The whole comparison of the critical-path paper on one thread: {hash, batch_split, mite, dfs, critical_path} x {fifo,
// path_completion_time, maximum_successor_rank} x both graphs x both device files x 20 seeds. Prints the seconds and
// who spent them, and how much longer a plain simulator takes for the same runs: a std::set of events, and a list per
// device that is searched for the item with the largest key.
#include "support/cases.hpp"

#include "weft/core/budget.hpp"
#include "weft/instance.hpp"
#include "weft/solve/registry.hpp"

#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

/// Runs a placement under path_completion_time, written for brevity and not for speed.
double plain_simulation(const weft::placed_flow<weft::instance>& flow, const std::vector<double>& keys) {
  const auto& w = flow.problem().workload();
  std::vector<std::uint32_t> missing(flow.num_inputs().begin(), flow.num_inputs().end());
  std::vector<std::list<weft::item_id>> ready(flow.problem().num_devices());
  std::vector<bool> busy(ready.size(), false);
  std::set<std::pair<double, std::uint32_t>> events;
  const auto num_items = static_cast<std::uint32_t>(flow.num_items());
  const auto deliver = [&](const auto& consumers) {
    for (const weft::op_id c : consumers) {
      if (--missing[c] == 0) {
        ready[flow.device_of(c)].push_back(c);
      }
    }
  };
  for (const weft::op_id v : weft::ids(flow.num_ops())) {
    if (missing[v] == 0) {
      ready[flow.device_of(v)].push_back(v);
    }
  }
  double now = 0;
  for (;;) {
    for (std::size_t d = 0; d < ready.size(); ++d) {
      if (!busy[d] && !ready[d].empty()) {
        const auto next = std::max_element(ready[d].begin(), ready[d].end(),
                                           [&](weft::item_id a, weft::item_id b) { return keys[a] < keys[b]; });
        busy[d] = true;
        events.emplace(now + flow.duration(*next), *next);
        ready[d].erase(next);
      }
    }
    if (events.empty()) {
      return now;
    }
    now = events.begin()->first;
    while (!events.empty() && events.begin()->first == now) {
      const std::uint32_t code = events.begin()->second;
      events.erase(events.begin());
      if (code >= num_items) {
        deliver(flow.consumers_of_transfer(code - num_items));
        continue;
      }
      busy[flow.device_of(code)] = false;
      if (flow.is_send(code)) {
        const auto k = flow.transfer_of(code);
        events.emplace(now + flow.transfers()[k].transfer_time, num_items + k);
        continue;
      }
      for (const weft::tensor_id t : w.outputs(code)) {
        for (const std::uint32_t k : flow.transfers_of(t)) {
          ready[flow.device_of(code)].push_back(flow.send_of(k));
        }
        deliver(flow.local_consumers(t));
      }
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  bool once = false; // by ctest, with minimal time
  for (int i = 1; i < argc; ++i) {
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
  }
  const std::uint64_t seeds = once ? 1 : 20;
  const auto strategies = weft::registry<weft::instance>::standard();
  const std::vector<std::string> policies{"fifo", "path_completion_time", "maximum_successor_rank"};
  std::map<std::string, double> seconds;
  double total = 0;
  double ours = 0;
  double plain = 0;
  std::uint64_t events = 0;
  const auto workloads = bench::paper_workloads();
  const auto platforms = bench::paper_platforms();
  for (const auto& w : workloads) {
    for (const auto& p : platforms) {
      const auto numbers = weft::lower(bench::problem{w.value, p.value});
      const weft::instance& task = *numbers;
      weft::workspace scratch;
      weft::trace trace;
      weft::placed_flow<weft::instance> flow{task};
      for (const std::string partition : {"hash", "batch_split", "mite", "dfs", "critical_path"}) {
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
          weft::rng random{seed};
          const weft::stopwatch deciding;
          const auto decided = (*strategies.find_partitioner(partition))(task, random, scratch);
          seconds[partition] += deciding.seconds();
          total += deciding.seconds();
          if (!decided) {
            std::printf("%s is infeasible on %s x %s\n", partition.c_str(), w.name.c_str(), p.name.c_str());
            return 1;
          }
          for (const auto& policy : policies) {
            const weft::stopwatch running;
            const auto simulator = (*strategies.find_policy(policy))(task, weft::contention_model::none);
            simulator->prepare(decided->plan);
            const auto run = simulator->run_prepared(trace);
            const double spent = running.seconds();
            seconds[policy] += spent;
            total += spent;
            events += run.num_events;
            if (policy == "path_completion_time") {
              ours += spent;
              const weft::stopwatch baseline;
              flow.assign(decided->plan.placement);
              std::vector<double> keys(flow.num_items());
              weft::schedule::path_completion_time{}.assign_keys(
                weft::schedule::context<weft::instance>{flow, decided->plan.order}, keys);
              const double makespan = plain_simulation(flow, keys);
              plain += baseline.seconds();
              if (makespan != run.makespan) {
                std::printf("the plain simulator disagrees: %.17g for %.17g\n", makespan, run.makespan);
                return 1;
              }
            }
          }
        }
      }
    }
  }
  std::printf("%zu graphs x %zu device files x 5 partitioners x 3 ready policies x %llu seeds: %.3f s, %.1f M events\n",
              workloads.size(), platforms.size(), static_cast<unsigned long long>(seeds), total,
              static_cast<double>(events) / 1e6);
  for (const auto& [name, spent] : seconds) {
    std::printf("  %-24s %5.1f %%\n", name.c_str(), 100 * spent / total);
  }
  std::printf("path_completion_time runs: a plain simulator takes %.2f times as long\n", plain / ours);
  return 0;
}
