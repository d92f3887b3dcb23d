// SPDX-License-Identifier: BSL-1.0
// Where and with how many threads, decided together: a training step on a server's cores and a small accelerator. The
// same partitioner and the same search, first blind to threads, with concurrency control added afterwards, then judging
// every move by how the ops share the cores.
// [joint_solving]
#include <weft/all.hpp>
#include <weft/concurrency.hpp>
#include <weft/networks.hpp>

#include <iostream>

int main() {
  const auto workload = weft::zoo::make("ptb_lstm_fused", {.bookkeeping = false});
  const auto server = weft::machines::xeon_8480_2s();
  const weft::device cpu{.kind = weft::device_kind::cpu, .speed = server.core_speed * server.cores()};
  const weft::device gpu{.kind = weft::device_kind::gpu, .speed = 2e12};
  const weft::platform devices{{cpu, gpu}, weft::uniform_links{{.latency = 1e-5, .bandwidth = 2.5e10}}};
  const weft::with_machines platform{devices, {server, weft::accelerator("gpu", 2e12, 3e11, 5e-6)}};
  const weft::problem problem{workload, platform, weft::concurrency::moldable<>{}};

  const weft::refine::local_search search{.budget = {.moves = 1500}};
  const auto place = weft::pipeline(weft::partition::heft{}, search, weft::schedule::path_completion_time{});
  const auto place_and_share = weft::pipeline(weft::partition::heft{}, search, weft::concurrency::s1_s2_s3);

  const auto placed = place(problem); // believes that the cores run one op at a time
  const auto afterwards = weft::manycore_simulator{problem, weft::concurrency::s1_s2_s3}.run(placed.plan);
  const auto together = place_and_share(problem);

  std::cout << "placement, then threads: " << afterwards.makespan * 1e3 << " ms\n"
            << "both in one solve:       " << together.makespan * 1e3 << " ms, "
            << 100 * (1 - together.makespan / afterwards.makespan) << " % less; no plan is below "
            << together.bound.value * 1e3 << " ms\n";
  return together.makespan < afterwards.makespan ? 0 : 1;
}
// [joint_solving]
