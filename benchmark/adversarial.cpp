// SPDX-License-Identifier: BSL-1.0
// How much worse than each other strategies can get: for every ordered pair the largest ratio of makespans that
// weft::adversarial_search finds among small problems. Rows lose, columns win. Strategies that search are left out;
// with `--only heft,branch_and_bound --ops 6` HEFT is compared with the optimum.
//
// adversarial [--moves N] [--rounds N] [--ops N] [--devices N] [--ccr X] [--seed N]
//             [--only NAME,NAME…] [--csv | --cpp]
//   --ccr  the most communication, as generate::ccr_of counts it
//   --cpp  the worst problems as rows of test/golden/adversarial.hpp
#include "weft/solve/adversarial.hpp"
#include "weft/solve/registry.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using registry = weft::registry<weft::adversarial_problem>;

/// Seconds of a strategy's plan, run in its order if it decided one, else under path_completion_time.
class makespan_of {
public:
  makespan_of(const registry& r, std::string name) : registry_{&r}, partition_{r.find_partitioner(name)}, name_{name} {}

  const std::string& name() const { return name_; }

  double operator()(const weft::adversarial_problem& p) {
    weft::rng random{0};
    const auto decided = (*partition_)(p, random, scratch_);
    if (!decided) {
      return std::numeric_limits<double>::infinity();
    }
    const char* policy = decided->plan.order.empty() ? "path_completion_time" : "static_order";
    const auto simulator = (*registry_->find_policy(policy))(p, weft::contention_model::none);
    simulator->prepare(decided->plan);
    return simulator->run_prepared(trace_).makespan;
  }

private:
  const registry* registry_;
  const registry::partitioner* partition_;
  std::string name_;
  weft::workspace scratch_;
  weft::trace trace_;
};

struct found {
  std::string loser;
  std::string winner;
  weft::adversarial_result result;
};

template <class Range, class Print>
void print_list(const Range& range, Print print) {
  std::printf("{");
  bool first = true;
  for (const auto& x : range) {
    std::printf(first ? "" : ", ");
    print(x);
    first = false;
  }
  std::printf("}");
}

/// A row of test/golden/adversarial.hpp, with the optimum of the exact search.
void print_row(const found& f) {
  const auto& i = f.result.instance;
  const weft::workload w = i.make_workload();
  const weft::platform<> q = i.make_platform();
  const weft::adversarial_problem p{w, q};
  weft::rng random{0};
  weft::workspace scratch;
  const auto exact = weft::refine::branch_and_bound{}(p, random, scratch);
  const auto number = [](std::uint32_t x) { std::printf("%u", x); };
  std::printf("  {\"%s\", \"%s\", {", f.loser.c_str(), f.winner.c_str());
  print_list(i.work, number);
  std::printf(", ");
  print_list(i.edges, [](const auto& e) { std::printf("{%u, %u, %u}", e.from, e.to, e.bytes); });
  std::printf(", ");
  print_list(i.speed, number);
  std::printf(", ");
  print_list(i.bandwidth, number);
  std::printf("}, %.17g, %.17g, %.17g},\n", f.result.first, f.result.second, exact->bound);
}

} // namespace

int main(int argc, char** argv) {
  weft::adversarial_search search;
  std::uint64_t seed = 1;
  bool once = false; // by ctest, with minimal time
  bool csv = false;
  bool cpp = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    const auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
    csv = csv || is("--csv");
    cpp = cpp || is("--cpp");
    if (is("--moves")) {
      search.budget.moves = number();
    } else if (is("--rounds")) {
      search.rounds = static_cast<std::uint32_t>(number());
    } else if (is("--ops")) {
      search.max_ops = static_cast<std::uint32_t>(number());
    } else if (is("--devices")) {
      search.max_devices = static_cast<std::uint32_t>(number());
    } else if (is("--ccr") && i + 1 < argc) {
      search.max_ccr = std::strtod(argv[++i], nullptr);
    } else if (is("--seed")) {
      seed = number();
    } else if (is("--only") && i + 1 < argc) {
      only = std::string{","} + argv[++i] + ",";
    }
  }
  if (once) {
    search.budget.moves = 5;
    search.rounds = 1;
  }
  const registry r = registry::standard();
  std::vector<makespan_of> all;
  for (const auto& name : r.partitioner_names()) {
    // What tries many plans takes many times as long and would be the same with fewer moves on such problems.
    const bool searches = name == "branch_and_bound" || name.find("search") != std::string::npos;
    if (only.empty() ? !searches : only.find("," + name + ",") != std::string::npos) {
      all.emplace_back(r, name);
    }
  }
  if (!cpp) {
    std::printf(csv ? "loser" : "%-24s", "");
    for (const auto& winner : all) {
      std::printf(csv ? ",%s" : " %9.9s", winner.name().c_str());
    }
    std::printf("\n");
  }
  std::vector<found> worst; // per loser, and all of HEFT's
  for (auto& loser : all) {
    found most{loser.name(), "", {}};
    if (!cpp) {
      std::printf(csv ? "%s" : "%-24s", loser.name().c_str());
    }
    for (auto& winner : all) {
      double ratio = 1;
      if (&winner != &loser) {
        weft::rng random{seed};
        found f{loser.name(), winner.name(), search(loser, winner, random)};
        ratio = f.result.ratio;
        if (loser.name() == "heft" && ratio > 1.2) {
          worst.push_back(f);
        } else if (ratio > most.result.ratio) {
          most = std::move(f);
        }
      }
      if (!cpp) {
        std::printf(csv ? ",%.3f" : " %9.2f", ratio);
      }
    }
    if (!cpp) {
      std::printf("\n");
      std::fflush(stdout);
    }
    if (!most.winner.empty()) {
      worst.push_back(std::move(most));
    }
  }
  if (cpp) {
    for (const found& f : worst) {
      print_row(f);
    }
  }
  return 0;
}
