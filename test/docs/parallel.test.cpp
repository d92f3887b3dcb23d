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

TEST_CASE("docs: stages of a pipeline") {
  // [stages]
  // 24 blocks of a network with 1.2 GB of activations per micro-batch each, of which 60 MB go to the next block
  const std::vector<weft::parallel::chain_layer> blocks(24, {.forward_seconds = 0.010, .backward_seconds = 0.020,
                                                             .parameter_bytes = 400e6, .state_bytes = 1.6e9,
                                                             .activation_bytes = 1.2e9, .output_bytes = 60e6});
  auto pipeline = weft::parallel::chain_of_stages(blocks); // each block as it is, or recomputed
  pipeline.num_devices = 16;
  pipeline.memory_bytes = 24e9;
  pipeline.bandwidth = 25e9;
  pipeline.micro_batches = 96;
  pipeline.gradient_passes = 2; // all-reduces in rings
  const auto found = weft::parallel::choose_stages(pipeline);
  for (std::size_t i = 0; i < found.plan.size(); ++i) { // stages, from the first layers to the last ones
    const auto& stage = found.plan[i];
    const auto& cost = found.value.stages[i];
    std::cout << stage.layers.size() << " blocks, " << stage.replicas << " replicas, " << cost.seconds() << " s, "
              << cost.bytes / 1e9 << " GB\n";
  }
  // [stages]
  CHECK(found.optimal);
  CHECK(found.has_plan());
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
