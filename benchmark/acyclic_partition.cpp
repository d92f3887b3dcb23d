// SPDX-License-Identifier: BSL-1.0
// Acyclic partitions: what is cut, against what dagP cuts of 2mm (Herrmann et al., SIAM J. Sci. Comput. 41(4), 2019), a
// topological order in equal pieces, and greedy growing, refined or not, without coarsening; and edges per second, with
// memory, for graphs of 10^5 to 10^7 ops. Deterministic but for the seconds, which are CPU seconds of one thread.
//
// acyclic_partition [--times] [--ops N] [--parts K]: only times; graphs up to N ops (10^6), into K parts (8)
#include "weft/graph/generate.hpp"
#include "weft/graph/polyhedral.hpp"
#include "weft/partition/acyclic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace {

using namespace weft;
using partition::acyclic_partition;
namespace ml = partition::multilevel;

constexpr double imbalance = 0.03;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The most that this process has had at once.
double peak_mib() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

bool is_good(const csr_graph& g, const acyclic_partition& p) {
  bool up = p.imbalance <= imbalance + 1e-9;
  for (const op_id v : ids(g.num_ops())) {
    for (const op_id w : g.successors(v)) {
      up = up && p.part[v] <= p.part[w];
    }
  }
  return up;
}

/// Cut edges of the order of the ids in equal pieces, and of greedy growing without and with refinement.
struct baselines {
  double equal_pieces, growing, refined;
};
baselines cut_simply(const csr_graph& g, std::uint32_t parts) {
  const auto d = ml::number(g).dag;
  std::vector<std::uint32_t> equal(g.num_ops());
  for (const op_id v : ids(g.num_ops())) {
    equal[v] = static_cast<std::uint32_t>(std::uint64_t{v} * parts / g.num_ops());
  }
  rng random{1};
  const std::vector<double> limit(parts, d.total_weight() / parts * (1 + imbalance));
  auto grown = ml::cut_at_narrow_places(d, ml::growing_order<true>(d, random), limit);
  baselines b{ml::cut_weight(d, equal), ml::cut_weight(d, grown), 0};
  ml::refiner<ml::edge_gains>{d, grown, limit}({.passes = 8});
  b.refined = ml::cut_weight(d, grown);
  return b;
}

/// False if a partition is not what was asked for.
bool compare(const std::string& name, const csr_graph& g, std::uint32_t parts, double dagp = 0) {
  const auto simple = cut_simply(g, parts);
  std::printf("%-14s %8zu %9zu %3u %9.0f %9.0f %9.0f", name.c_str(), g.num_ops(), g.num_edges(), parts,
              simple.equal_pieces, simple.growing, simple.refined);
  bool good = true;
  for (const std::uint32_t effort : {0u, 8u}) {
    const double start = cpu_seconds();
    const auto p = partition::acyclic(g, {.parts = parts, .imbalance = imbalance, .effort = effort});
    std::printf(" %9.0f %8.3f", p.cut, cpu_seconds() - start);
    good = good && is_good(g, p) && (dagp == 0 || p.cut <= dagp);
  }
  const auto v = partition::acyclic(g, {.parts = parts, .imbalance = imbalance, .minimise = partition::cut::volume});
  std::printf(" %9.0f", v.volume);
  std::printf(dagp > 0 ? " %9.0f\n" : "         -\n", dagp);
  return good && is_good(g, v);
}

csr_graph layered(std::uint64_t ops, double in_degree) {
  return generate::layered_graph(
    {.min_width = 100, .max_width = 1000, .long_range_share = 0, .num_ops = ops, .in_degree = in_degree}, 1);
}
/// Products of square matrices with about so many ops, three per innermost iteration.
csr_graph gemm(std::uint64_t ops) {
  const auto n = static_cast<std::size_t>(std::cbrt(static_cast<double>(ops) / 3));
  return generate::gemm({n, n, n});
}

bool compare_cuts(bool brief) {
  std::printf("Cut edges at 3 %% imbalance; volume: minimised in its place\n"
              "%-14s %8s %9s %3s %9s %9s %9s %9s %8s %9s %8s %9s %9s\n",
              "graph", "ops", "edges", "k", "pieces", "growing", "refined", "acyclic", "seconds", "effort 8", "seconds",
              "volume", "dagP");
  bool good = true;
  const csr_graph two = generate::two_matrix_products();
  const std::pair<std::uint32_t, double> published[] = {{2, 200}, {4, 3'630}, {8, 7'147}, {16, 10'315}};
  for (const auto& [k, dagp] : published) {
    good = (brief && k > 2) || (compare("2mm", two, k, dagp) && good);
  }
  for (const std::uint32_t k : {2u, 4u, 8u, 16u}) {
    if (!brief) {
      good = compare("3mm", generate::three_matrix_products(), k) && good;
      good = compare("layered", layered(100'000, 2), k) && good;
      good = compare("random", generate::random_dag(50'000, 3.0 / 50'000, 1), k) && good;
      good = compare("fork-join", generate::fork_join(100, 10, 50), k) && good;
    }
  }
  return good;
}

void measure(const std::string& name, const csr_graph& g, std::uint32_t parts) {
  const double start = cpu_seconds();
  const auto p = partition::acyclic(g, {.parts = parts, .imbalance = imbalance});
  const double seconds = cpu_seconds() - start;
  std::printf("%-14s %9zu %9zu %3u %9.0f %8.3f %12.2f %9.0f %11.0f\n", name.c_str(), g.num_ops(), g.num_edges(), parts,
              p.cut, seconds, static_cast<double>(g.num_edges()) / seconds / 1e6, peak_mib(),
              peak_mib() * 1024 * 1024 / static_cast<double>(g.num_edges()));
}

} // namespace

int main(int argc, char** argv) {
  double most = 1e6;
  std::uint32_t parts = 8;
  bool brief = false, only_times = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // by ctest
      brief = true;
    } else if (std::strcmp(argv[i], "--times") == 0) {
      only_times = true;
    } else if (std::strcmp(argv[i], "--ops") == 0 && i + 1 < argc) {
      most = std::strtod(argv[++i], nullptr);
    } else if (std::strcmp(argv[i], "--parts") == 0 && i + 1 < argc) {
      parts = static_cast<std::uint32_t>(std::max(1L, std::strtol(argv[++i], nullptr, 10)));
    }
  }
  const bool good = only_times || compare_cuts(brief);
  std::printf("\nOne thread; memory is the peak of the process, the graph that is given included\n"
              "%-14s %9s %9s %3s %9s %8s %12s %9s %11s\n",
              "graph", "ops", "edges", "k", "cut", "seconds", "10^6 edges/s", "MiB", "bytes/edge");
  for (double ops = 1e5; ops <= (brief ? 1e5 : most * 1.001); ops *= 10) {
    const auto n = static_cast<std::uint64_t>(ops);
    measure("layered", layered(n, 2), parts);
    measure("gemm", gemm(n), parts);
  }
  return good ? 0 : 1;
}
