// SPDX-License-Identifier: BSL-1.0
#include "kernels/replicated_step.hpp"

#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/schedule/fifo.hpp"

#include "small_networks.hpp"
#include "trial.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace kernels_replicated_step_test {

using namespace test;

constexpr std::size_t num_steps = 3;

std::vector<double> losses_of_parts(const kernels::training_net& whole, const kernels::training_net& part,
                                    std::size_t batch, const weft::parallel::collective& all_reduce,
                                    weft::byte_count bucket_bytes) {
  const auto count = all_reduce.ranks;
  std::vector<weft::placement> where;
  for (weft::device_id d = 0; d < count; ++d) {
    where.emplace_back(part.step.graph.num_ops(), d);
  }
  const auto made = weft::parallel::data_parallel(part.step.graph, where, all_reduce, {.bucket_bytes = bucket_bytes});
  const weft::execute::program program{made.graph, weft::plan{.placement = made.where}};
  kernels::replicated_step step{part, made, weft::ids(count)};
  const auto inputs = whole.bind();
  for (std::size_t r = 0; r < count; ++r) {
    step.take_inputs(r, whole, inputs, batch);
  }
  weft::execute::memory memory{program};
  weft::static_executor run{program};
  std::vector<double> losses;
  for (std::size_t i = 0; i < num_steps; ++i) {
    run(step, memory).rethrow();
    double sum = 0;
    for (std::size_t r = 0; r < count; ++r) {
      sum += step.losses(r)[0];
    }
    losses.push_back(sum / count);
  }
  return losses;
}

TEST_CASE("replicated_step: replicas train as the whole batch does") {
  constexpr std::size_t batch = 8;
  const std::vector<kernels::training_net (*)(std::uint64_t)> makers{
    [](std::uint64_t b) { return kernels::lstm({.batch = b, .steps = 4, .hidden = 16, .classes = 8}); },
    [](std::uint64_t b) { return kernels::lstm({.fused = true, .batch = b, .steps = 4, .hidden = 16, .classes = 8}); },
    [](std::uint64_t b) { return kernels::convolutions({.batch = b, .image = 8, .width = 4}); }};
  for (const auto make : makers) {
    const auto whole = make(batch);
    const auto expected = losses_of_whole(whole, num_steps);
    CAPTURE(whole.name);
    REQUIRE(expected[0] != expected[2]);
    for (const std::uint32_t count : {2u, 4u}) {
      const auto part = make(batch / count);
      for (const weft::byte_count bucket : {weft::byte_count{1}, weft::byte_count{3000}, weft::byte_count{1} << 20}) {
        for (const auto& all_reduce :
             {weft::parallel::ring_all_reduce(count), weft::parallel::tree_all_reduce(count),
              weft::parallel::hierarchical_all_reduce(count, 2)}) {
          const auto losses = losses_of_parts(whole, part, batch, all_reduce, bucket);
          CAPTURE(count);
          CAPTURE(bucket);
          for (std::size_t i = 0; i < num_steps; ++i) {
            CHECK(losses[i] == doctest::Approx(expected[i]).epsilon(1e-5));
          }
        }
      }
    }
  }
}

} // namespace kernels_replicated_step_test
