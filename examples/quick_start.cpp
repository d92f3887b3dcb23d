// SPDX-License-Identifier: BSL-1.0
// From a graph and some devices to a plan: where each op runs, how long it all takes, and how good that is.
// [quick_start]
#include <weft/all.hpp>

#include <iostream>

int main() {
  using enum weft::device_kind;
  weft::workload_builder net; // ops with their work in FLOP and output in bytes, and who reads what
  const auto images = net.add_op({.work = 1e8, .bytes = 6'000'000, .kinds = cpu, .name = "images"});
  const auto small = net.add_op({.work = 6e10, .bytes = 2'000'000, .name = "conv 3x3"});
  const auto large = net.add_op({.work = 9e10, .bytes = 2'000'000, .name = "conv 5x5"});
  const auto dense = net.add_op({.work = 2e10, .resident_bytes = 80'000'000, .name = "dense"});
  net.add_edge(images, small);
  net.add_edge(images, large);
  net.add_edge(small, dense);
  net.add_edge(large, dense);
  const weft::workload workload = std::move(net).build();

  const weft::device host{.kind = cpu, .speed = 5e11}, card{.kind = gpu, .speed = 1e13};
  const weft::uniform_links links{{.latency = 1e-5, .bandwidth = 1e10}};
  const weft::platform platform{{host, card, card}, links};

  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::path_completion_time{});
  const weft::result result = solve(weft::problem{workload, platform});
  if (!result) {
    std::cerr << result.reason << '\n'; // such as the op that fits nowhere, and what it needs
    return 1;
  }

  for (const weft::op_id v : weft::ids(workload.num_ops())) {
    const auto d = result.plan.placement[v];
    std::cout << workload.name(v) << " runs on " << to_string(platform.kind(d)) << ' ' << d << '\n';
  }
  std::cout.precision(3);
  std::cout << result.makespan * 1e3 << " ms, at most " << result.gap() * 100 << " % above the optimum\n";
}
// [quick_start]
