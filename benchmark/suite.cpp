// SPDX-License-Identifier: BSL-1.0
// The strategies on the suite of generated problems: the geometric mean of makespan / lower bound, by communication,
// heterogeneity and family. A strategy that decides no order runs under path_completion_time. Deterministic.
//
// suite [--seeds N] [--families] [--csv]
#include "support/suite.hpp"

#include "weft/bound/best.hpp"
#include "weft/solve/registry.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using registry = weft::registry<bench::suite_problem>;

struct mean {
  double log_sum = 0;
  int count = 0;
};

} // namespace

int main(int argc, char** argv) {
  std::uint64_t seeds = 1;
  bool once = false; // by ctest, with minimal time
  bool csv = false;
  bool families = false;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
    csv = csv || is("--csv");
    families = families || is("--families");
    if (is("--seeds") && i + 1 < argc) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    }
  }
  const registry all = registry::standard();
  std::vector<std::string> names;
  for (const auto& name : all.partitioner_names()) { // what tries many plans takes too long for a table of heuristics
    if (name != "branch_and_bound" && name.find("search") == std::string::npos) {
      names.push_back(name);
    }
  }
  std::vector<std::string> columns{"ccr 0.1", "ccr 1", "ccr 10", "identical", "related", "unrelated", "all"};
  if (families) {
    columns.assign(weft::generate::suite_families.begin(), weft::generate::suite_families.end());
  }
  std::map<std::string, std::map<std::string, mean>> means;
  weft::workspace scratch;
  weft::trace record;
  const auto selected = [&](const weft::generate::suite_entry& e) { return !once || e.ccr == 1; };
  bench::for_each_of_suite(seeds, selected, [&](const bench::suite_case& c) {
    const double bound = weft::bound::best(c.problem).value;
    for (const auto& name : names) {
      weft::rng random{1};
      const auto decided = (*all.find_partitioner(name))(c.problem, random, scratch);
      if (!decided) {
        continue;
      }
      const char* policy = decided->plan.order.empty() ? "path_completion_time" : "static_order";
      const auto simulator = (*all.find_policy(policy))(c.problem, weft::contention_model::none);
      simulator->prepare(decided->plan);
      const double ratio = simulator->run_prepared(record).makespan / bound;
      for (const auto& column : bench::suite_columns(c.entry)) {
        mean& m = means[name][column];
        m.log_sum += std::log(ratio);
        ++m.count;
      }
    }
  });
  std::printf(csv ? "partition" : "%-24s", "");
  for (const auto& column : columns) {
    std::printf(csv ? ",%s" : " %15s", column.c_str());
  }
  std::printf("\n");
  for (const auto& name : names) {
    std::printf(csv ? "%s" : "%-24s", name.c_str());
    for (const auto& column : columns) {
      const mean m = means[name][column];
      std::printf(csv ? ",%.4f" : " %15.3f", m.count == 0 ? 0 : std::exp(m.log_sum / m.count));
    }
    std::printf("\n");
  }
  return 0;
}
