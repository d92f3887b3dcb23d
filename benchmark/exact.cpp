// SPDX-License-Identifier: BSL-1.0
// How many small problems refine::branch_and_bound proves optimal within some seconds of processor time, and the mean
// of makespan / bound, by family, communication and number of ops: small members of the suite's families, and random
// graphs whose ops take unrelated times ("table").
//
// exact [--seconds S] [--ops N] [--devices K] [--seeds N] [--family F] [--ccr X] [--list]    --list: a line a problem
#include "support/suite.hpp"

#include "weft/bound/best.hpp"
#include "weft/refine/branch_and_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using weft::generate::heterogeneity;
using weft::generate::suite_entry;
using weft::generate::suite_instance;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Asks a search to stop when the process has used so many seconds of processor time from now on.
class timer {
public:
  explicit timer(double seconds)
      : token{source_.get_token()}, watch_{[this, end = processor_seconds() + seconds](const std::stop_token& over) {
          while (!over.stop_requested() && processor_seconds() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
          }
          source_.request_stop();
        }} {}

private:
  std::stop_source source_;

public:
  std::stop_token token;

private:
  std::jthread watch_;
};

/// A member of a family of about so many ops.
weft::workload small_workload(const std::string& family, std::uint32_t ops, std::uint64_t seed) {
  namespace generate = weft::generate;
  const auto parts = [&](std::uint32_t of) { return std::max(2u, (ops + of / 2) / of); };
  const auto sized = [&](auto make, std::uint32_t first) { // the nearest size
    auto best = make(first);
    const auto off = [&](const weft::workload& w) {
      return std::abs(static_cast<double>(w.num_ops()) - static_cast<double>(ops));
    };
    for (std::uint32_t size = first + 1; size < 12; ++size) {
      if (auto next = make(size); off(next) < off(best)) {
        best = std::move(next);
      }
    }
    return best;
  };
  if (family == "layered" || family == "constrained") {
    generate::layered_dag_options o{.shape = {.min_width = 2, .max_width = 6, .num_ops = ops, .in_degree = 3}};
    o.cpu_only_probability = o.gpu_only_probability = family == "layered" ? 0 : 0.1;
    o.colocation_share = family == "layered" ? 0 : o.colocation_share;
    return generate::layered(o, seed);
  }
  if (family == "random_dag") {
    return generate::random_dag({.ops = ops, .degree = 3}, seed);
  }
  if (family == "fork_join") {
    return generate::fork_join(generate::fork_join_options{.width = 4, .length = 2, .stages = parts(9)}, seed);
  }
  if (family == "series_parallel") {
    return generate::series_parallel({.ops = ops, .parallel_share = 0.6}, seed);
  }
  if (family == "fft") {
    return sized([](std::uint32_t k) { return generate::fft({.points = 1u << std::min(k, 4u)}); }, 1);
  }
  if (family == "gauss") {
    return sized([](std::uint32_t k) { return generate::gaussian_elimination({.columns = k, .rows_per_column = 50}); },
                 2);
  }
  if (family == "cholesky") {
    return sized([](std::uint32_t k) { return generate::cholesky({.tiles = k}); }, 1);
  }
  if (family == "lu") {
    return sized([](std::uint32_t k) { return generate::lu({.tiles = k}); }, 1);
  }
  if (family == "stencil_1d") {
    return generate::stencil_1d({.width = 5, .steps = parts(5)});
  }
  return generate::stencil_2d({.width = 3, .height = 3, .steps = parts(9)});
}

/// Unrelated devices: op times of 5 to 15 s times 0.5 to 1.5, up to 3 inputs among the 12 ops before, mean transfer =
/// ccr times the mean op.
suite_instance table_instance(const suite_entry& e, std::uint32_t ops, std::uint32_t devices) {
  weft::rng random{weft::rng::mix(e.seed)};
  weft::workload_builder b;
  suite_instance made{
    {}, weft::platform<weft::uniform_links>{std::vector<weft::device>(devices), {{.bandwidth = 1e9}}}, {}};
  for (weft::op_id v = 0; v < ops; ++v) {
    const double work = random.uniform(5, 15);
    b.add_op({.work = work, .bytes = static_cast<weft::byte_count>(1e9 * e.ccr * random.uniform(5, 15))});
    for (std::uint32_t d = 0; d < devices; ++d) {
      made.seconds.push_back(work * random.uniform(0.5, 1.5));
    }
    const std::uint32_t reach = std::min(v, 12u);
    std::vector<weft::op_id> from;
    for (std::uint32_t i = random.below(4); reach > 0 && i > 0; --i) {
      const auto u = static_cast<weft::op_id>(v - 1 - random.below(reach));
      if (std::find(from.begin(), from.end(), u) == from.end()) {
        from.push_back(u);
        b.add_edge(u, v);
      }
    }
  }
  made.ops = std::move(b).build();
  return made;
}

struct row {
  int problems = 0;
  int proven = 0;
  double root = 0; // best makespan / bound::best
  double gap = 0;  // best makespan / best bound
};

int run(int argc, char** argv) {
  double seconds = 1;
  std::vector<std::uint32_t> sizes{20, 30, 40};
  std::uint32_t devices = 3;
  std::uint64_t seeds = 10;
  std::string only;
  double only_ccr = 0;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&](const char* name) {
      return std::strcmp(argv[i], name) == 0 && i + 1 < argc ? argv[++i] : nullptr;
    };
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // by ctest
      seconds = 0.02;
      sizes = {12};
      seeds = 1;
    } else if (const char* s = value("--seconds")) {
      seconds = std::strtod(s, nullptr);
    } else if (const char* n = value("--ops")) {
      sizes = {static_cast<std::uint32_t>(std::strtoul(n, nullptr, 10))};
    } else if (const char* k = value("--devices")) {
      devices = static_cast<std::uint32_t>(std::strtoul(k, nullptr, 10));
    } else if (const char* m = value("--seeds")) {
      seeds = std::strtoull(m, nullptr, 10);
    } else if (const char* f = value("--family")) {
      only = f;
    } else if (const char* c = value("--ccr")) {
      only_ccr = std::strtod(c, nullptr);
    } else if (std::strcmp(argv[i], "--list") == 0) {
      list = true;
    } else {
      std::fprintf(stderr, "exact: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  std::vector<std::string> families{"table"};
  families.insert(families.end(), weft::generate::suite_families.begin(), weft::generate::suite_families.end());
  std::printf("%-16s %5s %5s %9s %9s %10s %10s\n", "family", "ccr", "ops", "problems", "proven", "x/bound", "x/proven");
  std::map<std::pair<double, std::uint32_t>, row> all;
  const auto print = [](const std::string& name, double ccr, std::uint32_t ops, const row& r) {
    std::printf("%-16s %5g %5u %9d %8.0f%% %10.3f %10.3f\n", name.c_str(), ccr, ops, r.problems,
                100.0 * r.proven / r.problems, r.root / r.problems, r.gap / r.problems);
    std::fflush(stdout);
  };
  for (const auto& family : families) {
    if (!only.empty() && only != family && (only != "suite" || family == "table")) {
      continue;
    }
    for (const double ccr : weft::generate::suite_ccrs) {
      if (only_ccr > 0 && ccr != only_ccr) {
        continue;
      }
      for (const std::uint32_t ops : sizes) {
        row r;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
          for (const auto h : {heterogeneity::identical, heterogeneity::related, heterogeneity::unrelated}) {
            if (family == "table" && h != heterogeneity::unrelated) {
              continue;
            }
            const suite_entry e{family, ccr, h, seed};
            const auto made = family == "table"
                                ? table_instance(e, ops, devices)
                                : weft::generate::make_suite_instance(e, small_workload(family, ops, seed), devices);
            const bench::suite_problem p{made.ops, made.devices, made.costs()};
            weft::rng random{1};
            weft::workspace scratch;
            const double began = processor_seconds();
            const double root = weft::bound::best(p).value;
            const double bounded = processor_seconds();
            const timer limit{seconds};
            const auto found = weft::partition::run(
              weft::refine::branch_and_bound{.budget = {.moves = ~std::uint64_t{0}, .stop = &limit.token}}, p, random,
              scratch);
            const double spent = processor_seconds() - bounded;
            weft::simulator<bench::suite_problem, weft::schedule::static_order> sim{p};
            const double makespan = sim.run(found->plan).makespan;
            const bool proven = found->bound >= makespan * (1 - 1e-9);
            ++r.problems;
            r.proven += proven;
            r.root += makespan / root;
            r.gap += makespan / found->bound;
            if (list) {
              std::printf("%s/%s/%u/%llu: %zu ops, bound %.6g (%.3f s), proven %.6g, best %.6g, %.2f s%s\n",
                          family.c_str(), std::string{to_string(h)}.c_str(), devices,
                          static_cast<unsigned long long>(seed), p.num_ops(), root, bounded - began, found->bound,
                          makespan, spent, proven ? "" : " *");
              std::fflush(stdout);
            }
          }
        }
        print(family, ccr, ops, r);
        auto& sum = all[{ccr, ops}];
        sum.problems += r.problems;
        sum.proven += r.proven;
        sum.root += r.root;
        sum.gap += r.gap;
      }
    }
  }
  for (const auto& [key, r] : all) {
    print("all", key.first, key.second, r);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "exact: %s\n", e.what());
    return 2;
  }
}
