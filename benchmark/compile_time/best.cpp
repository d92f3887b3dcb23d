// SPDX-License-Identifier: BSL-1.0
// What most programs do that want a good plan: a workload, a platform, solve::best.
#ifdef WEFT_ONLY_WHAT_IT_USES
#include <weft/platform/platform.hpp>
#include <weft/problem.hpp>
#include <weft/solve/best.hpp>
#include <weft/workload/builder.hpp>
#else
#include <weft/all.hpp>
#endif

#include <cstdio>

int main() {
  weft::workload_builder net;
  net.add_edge(net.add_op({.work = 1e9, .bytes = 100}), net.add_op({.work = 1e9, .bytes = 100}));
  const weft::workload workload = std::move(net).build();
  const weft::platform<> devices{std::vector<weft::device>(2), weft::link_matrix{2}};
  const auto r = weft::solve::best(weft::problem{workload, devices}, {.seconds = 1});
  std::printf("%g s, gap %g\n", r.makespan, r.gap());
}
