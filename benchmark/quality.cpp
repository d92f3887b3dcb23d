// SPDX-License-Identifier: BSL-1.0
// How good the strategies are: the geometric mean of makespan / lower bound over bundled networks and random layered
// graphs with little, medium and much communication, each on several platforms. Deterministic. `--csv` for a file.
#include "support/cases.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/compose.hpp"
#include "weft/solve/registry.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using cost_model = weft::cost::scaled<weft::cost::linear>;
using problem = weft::problem<weft::workload, weft::platform<>, cost_model>;

/// One kind of problem: a column of the table.
struct family {
  std::string name;
  std::vector<weft::workload> workloads;
  std::vector<weft::platform<>> platforms;
  double communication; // factor on transfer and send times
};

std::vector<family> families(bool once) {
  std::vector<family> list;
  family nets{"networks", {}, {}, 1};
  for (const char* name : {"mnist_conv", "lstm", "dynamic_rnn"}) {
    nets.workloads.push_back(weft::zoo::make(name));
  }
  for (const char* name : {"paper_like_10", "paper_like_50"}) {
    nets.platforms.push_back(weft::presets::make(name));
  }
  list.push_back(std::move(nets));
  for (const auto& [name, communication] : {std::pair{"layered 0.1", 0.1}, {"layered 1", 1.0}, {"layered 10", 10.0}}) {
    family f{name, {}, {}, communication};
    for (std::uint64_t seed = 1; seed <= (once ? 1 : 3); ++seed) {
      f.workloads.push_back(weft::generate::layered_sized(500, 20, 3, seed));
    }
    for (const std::uint32_t count : {4u, 16u}) {
      f.platforms.push_back(bench::devices(count));
    }
    list.push_back(std::move(f));
  }
  return list;
}

} // namespace

int main(int argc, char** argv) {
  bool once = false; // by ctest, with minimal time
  bool csv = false;
  for (int i = 1; i < argc; ++i) {
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
    csv = csv || std::strcmp(argv[i], "--csv") == 0;
  }
  auto strategies = weft::registry<problem>::standard();
  const auto all = families(once);
  std::printf(csv ? "partition,schedule" : "%-24s %-24s", "partition", "schedule");
  for (const auto& f : all) {
    std::printf(csv ? ",%s" : " %12s", f.name.c_str());
  }
  std::printf("\n");
  for (const auto& partition : strategies.partitioner_names()) {
    if (partition == "branch_and_bound") { // ends with HEFT's plan on graphs of this size
      continue;
    }
    std::vector<std::vector<double>> log_sums(all.size(), std::vector<double>(strategies.policy_names().size(), 0.0));
    std::vector<double> counts(all.size(), 0.0);
    for (std::size_t f = 0; f < all.size(); ++f) {
      for (const auto& w : all[f].workloads) {
        for (const auto& p : all[f].platforms) {
          const problem task{w, p, cost_model{{}, 1, all[f].communication}};
          const double bound = weft::bound::best(task).value;
          weft::workspace scratch;
          weft::trace trace;
          weft::rng random{1};
          const auto decided = (*strategies.find_partitioner(partition))(task, random, scratch);
          if (!decided) {
            continue;
          }
          counts[f] += 1;
          for (std::size_t s = 0; s < strategies.policy_names().size(); ++s) {
            const auto simulator =
              (*strategies.find_policy(strategies.policy_names()[s]))(task, weft::contention_model::none);
            simulator->prepare(decided->plan);
            log_sums[f][s] += std::log(simulator->run_prepared(trace).makespan / bound);
          }
        }
      }
    }
    for (std::size_t s = 0; s < strategies.policy_names().size(); ++s) {
      std::printf(csv ? "%s,%s" : "%-24s %-24s", partition.c_str(), strategies.policy_names()[s].c_str());
      for (std::size_t f = 0; f < all.size(); ++f) {
        std::printf(csv ? ",%.4f" : " %12.3f", std::exp(log_sums[f][s] / counts[f]));
      }
      std::printf("\n");
    }
  }
  return 0;
}
