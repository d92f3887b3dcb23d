// SPDX-License-Identifier: BSL-1.0
// A graph that you already have, without a copy: lists of successors, and one column per number that weft needs.
#include <weft/all.hpp>

#include <cstdio>

int main() {
  // [own_graph]
  const std::vector<std::vector<int>> successors{{1, 2, 3}, {4}, {4}, {5}, {5}, {}};
  const std::vector<double> work{1, 4, 5, 6, 3, 1};
  const std::vector<weft::byte_count> bytes{8, 4, 4, 4, 4, 0};
  const weft::annotated_graph workload{successors, {.work = work, .bytes = bytes}};
  // [own_graph]

  // Graph algorithms take the lists as they are.
  const auto order = weft::graph::topological_order(successors);
  std::printf("topological order:");
  for (const weft::op_id v : order) {
    std::printf(" %u", v);
  }
  std::printf("\nthe same successors, not a copy: %s\n", &workload.graph() == &successors ? "yes" : "no");

  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{{.latency = 0, .bandwidth = 8}}};
  const weft::problem problem{workload, platform};
  const auto print = [](const char* name, const weft::result& r) {
    std::printf("%s: makespan %.1f, %s; devices", name, r.makespan, to_string(r.status).data());
    for (const weft::device_id d : r.plan.placement) {
      std::printf(" %u", d);
    }
    std::printf("\n");
  };
  print("hash", weft::pipeline(weft::partition::hash{}, weft::schedule::fifo{})(problem));
  print("branch_and_bound", weft::pipeline(weft::refine::branch_and_bound{}, weft::schedule::static_order{})(problem));
}
