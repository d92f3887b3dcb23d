// SPDX-License-Identifier: BSL-1.0
// The code of docs/parallel.md.
#include "weft/all.hpp"
#include "weft/networks.hpp"
#include "weft/parallel.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <iostream>
#include <limits>
#include <vector>

namespace docs_parallel_test {

TEST_CASE("docs: data parallelism") {
  // [parallel]
  const weft::workload step = weft::zoo::make("mnist_conv@16"); // what one replica does: its part of a batch of 64
  const weft::platform machine = weft::presets::hgx_a100_4gpu(); // device 0 is the host, 1 to 4 are GPUs
  const std::vector<weft::device_id> gpus{1, 2, 3, 4};

  std::vector<weft::placement> replicas; // any placements will do, also of a replica on several devices
  for (const weft::device_id gpu : gpus) {
    weft::placement where(step.num_ops(), gpu);
    for (const weft::op_id v : weft::ids(step.num_ops())) {
      where[v] = step.kinds(v).contains(weft::device_kind::gpu) ? gpu : 0;
    }
    replicas.push_back(where);
  }
  const auto all_reduce =
    weft::parallel::choose_all_reduce(25'000'000, machine, gpus, weft::contention_model::fair);
  const auto made = weft::parallel::data_parallel(step, replicas, all_reduce.messages);

  const weft::problem problem{made.graph, machine}; // ops, tensors and a placement, as any others
  const auto run = weft::simulator{problem, weft::schedule::path_completion_time{}}.run({.placement = made.where});
  // [parallel]
  CHECK(run.makespan > 0);
  CHECK(made.buckets.size() == 1);
}

TEST_CASE("docs: pipelines that run") {
  // [pipeline]
  const weft::workload step = weft::zoo::make("resnet50_cifar10@16"); // of a micro-batch
  const weft::workload other = weft::zoo::make("resnet50_cifar10@32"); // what grows is done for each micro-batch
  const weft::platform machine = weft::presets::hgx_a100_4gpu();
  const std::vector<weft::device_id> gpus{1, 2, 3, 4};

  const auto stages = weft::parallel::pipeline_stages(weft::problem{step, machine}, gpus);
  const auto made = weft::parallel::micro_batched(step, other, 8, stages);
  const weft::plan plan{made.where, weft::parallel::one_forward_one_backward(made, step, other, gpus)};

  const weft::problem problem{made.graph, machine};
  const auto run = weft::simulator{problem, weft::schedule::static_order{}}.run(plan);
  // [pipeline]
  CHECK(run.makespan > 0);
  CHECK(run.makespan < std::numeric_limits<double>::infinity());
}

} // namespace docs_parallel_test
