// SPDX-License-Identifier: BSL-1.0
#include "kernels/pipelined_step.hpp"

#include "weft/execute/static_executor.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"

#include "small_networks.hpp"
#include "trial.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernels_pipelined_step_test {

using namespace test;

constexpr std::size_t num_steps = 3;

using maker = kernels::training_net (*)(std::uint64_t batch);

/// Layers whose gradients are clipped by their joint norm, which is larger than the limit.
kernels::training_net clipped(std::uint64_t batch) {
  auto net = kernels::new_network();
  const auto fed = net->input_pipeline({{{batch, 8}}, {{batch, 4}}});
  auto x = fed[0];
  for (const char* name : {"layer0", "layer1", "layer2"}) {
    x = weft::nn::tanh(weft::nn::dense(name, x, 8));
  }
  const auto loss = reduce_mean(softmax_cross_entropy(weft::nn::dense("head", x, 4), fed[1])) *
                    net->data("Const", "large", {});
  return kernels::make_training_net(
    "clipped", std::move(net), {{loss}}, {.rule = weft::optimizer::sgd, .transform = weft::nn::clip_by_global_norm},
    {.learning_rate = 0.1f, .given = {{"large", {1000}}}});
}

/// Those in which examples of a batch do not depend on each other, as they do through batch normalisation.
const std::vector<maker> makers{
  [](std::uint64_t b) { return kernels::lstm({.batch = b, .steps = 4, .hidden = 16, .classes = 8}); },
  [](std::uint64_t b) { return kernels::lstm({.fused = true, .batch = b, .steps = 4, .hidden = 16, .classes = 8}); },
  [](std::uint64_t b) { return kernels::convolutions({.batch = b, .image = 8, .width = 4}); },
  clipped};

std::vector<weft::device_id> stages(std::size_t count) {
  const auto all = weft::ids(count);
  return {all.begin(), all.end()};
}

/// Cut by the work of ops.
weft::placement cut(const kernels::training_net& net, const std::vector<weft::device_id>& devices) {
  const weft::platform machine{std::vector<weft::device>(devices.size(), {.speed = 1e9}), weft::uniform_links{}};
  return weft::parallel::pipeline_stages(weft::problem{net.step.graph, machine}, devices);
}

std::vector<double> losses_of_stages(maker make, std::size_t num_stages, std::size_t batch, std::uint32_t count) {
  const auto whole = make(batch), part = make(batch / count), other = make(batch / count + 1);
  const auto devices = stages(num_stages);
  const auto made =
    weft::parallel::micro_batched(part.step.graph, other.step.graph, count, cut(part, devices));
  const auto program = kernels::program_of(part, other, made, devices);
  REQUIRE(program.num_devices() == num_stages);
  kernels::pipelined_step step{part, made, program, devices};
  step.take_inputs(whole, whole.bind(), batch);
  weft::static_executor run{program};
  std::vector<double> losses;
  for (std::size_t i = 0; i < num_steps; ++i) {
    run(step, step.memory()).rethrow();
    losses.push_back(step.losses()[0]);
  }
  return losses;
}

TEST_CASE("pipelined_step: stages with micro-batches train as one device does with the whole batch") {
  constexpr std::size_t batch = 8;
  for (const auto make : makers) {
    const auto whole = make(batch);
    const auto expected = losses_of_whole(whole, num_steps);
    CAPTURE(whole.name);
    REQUIRE(expected[0] != expected[2]);
    for (const std::size_t num_stages : {1u, 2u, 3u, 4u}) {
      for (const std::uint32_t count : {1u, 2u, 4u, 8u}) {
        CAPTURE(num_stages);
        CAPTURE(count);
        const auto losses = losses_of_stages(make, num_stages, batch, count);
        for (std::size_t i = 0; i < num_steps; ++i) {
          CHECK(losses[i] == doctest::Approx(expected[i]).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("pipelined_step: of devices that are not here, nothing is bound, and losses are not a number") {
  const auto part = makers[0](2), other = makers[0](4);
  const auto devices = stages(2);
  const auto made = weft::parallel::micro_batched(part.step.graph, other.step.graph, 2, cut(part, devices));
  const auto program = kernels::program_of(part, other, made, devices);
  for (const weft::device_id d : devices) {
    kernels::pipelined_step step{part, made, program, std::vector{d}};
    CHECK(step.memory().has(d));
    CHECK_FALSE(step.memory().has(1 - d));
    CHECK(std::isnan(step.losses().at(0)) == (d == 0));
  }
}

} // namespace kernels_pipelined_step_test
