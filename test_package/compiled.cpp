// SPDX-License-Identifier: BSL-1.0
#include <weft/instance.hpp>
#include <weft/solve/best.hpp>
#include <weft/solve/registry.hpp>
#include <weft/workload/builder.hpp>

#include <utility>
#include <vector>

int main() {
  weft::workload_builder b;
  b.add_edge(b.add_op({.work = 1e9, .bytes = 4}), b.add_op({.work = 1e9}));
  const weft::workload task = std::move(b).build();
  const weft::platform<> devices{std::vector<weft::device>(2), weft::link_matrix{2}};
  const weft::problem p{task, devices};
  const auto same = weft::lower(p);
  const bool has_all = weft::registry<weft::instance>::standard().find_partitioner("heft") != nullptr;
  const weft::solve::best_options quick{.moves = 100};
  return has_all && weft::solve::best(p, quick).makespan == weft::solve::best(*same, quick).makespan ? 0 : 1;
}
