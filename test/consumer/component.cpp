// SPDX-License-Identifier: BSL-1.0
// What a component links; weft::compiled has something to link.
#include <weft/graph/adjacency.hpp>
#include <weft/graph/topological_order.hpp>

#include <vector>

#ifdef WEFT_COMPILED_LINEAR
#include <weft/solve/best.hpp>
#include <weft/solve/registry.hpp>
#include <weft/workload/builder.hpp>

int solve() {
  weft::workload_builder b;
  b.add_edge(b.add_op({.work = 1e9, .bytes = 4}), b.add_op({.work = 1e9}));
  const weft::workload task = std::move(b).build();
  const weft::platform<> devices{std::vector<weft::device>(2), weft::link_matrix{2}};
  const weft::compiled::linear p{task, devices};
  const weft::compiled::tabulated same{task, devices, {weft::cost::linear{}, task, devices}};
  const bool has_all = weft::registry<weft::compiled::tabulated>::standard().find_partitioner("heft") != nullptr;
  const weft::solve::best_options quick{.moves = 100};
  return has_all && weft::solve::best(p, quick).makespan == weft::solve::best(same, quick).makespan ? 0 : 1;
}
#else
int solve() { return 0; }
#endif

int main() {
  const std::vector<std::vector<int>> successors{{1, 2}, {3}, {3}, {}};
  return weft::graph::topological_order(successors).back() == 3 ? solve() : 1;
}
