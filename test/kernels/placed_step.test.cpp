// SPDX-License-Identifier: BSL-1.0
#include "kernels/placed_step.hpp"

#include "weft/core/random.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"

#include "small_networks.hpp"
#include "support/random_plans.hpp"
#include "trial.hpp"

#include <cmath>
#include <cstring>
#include <string>

namespace kernels_placed_step_test {

using namespace test;

weft::platform<weft::uniform_links> alike(std::size_t num_devices) {
  return {std::vector<weft::device>(num_devices, {.speed = 1e10, .memory_bandwidth = 1e10}),
          {{.latency = 1e-6, .bandwidth = 5e9}}};
}

weft::plan heft_plan(const weft::workload& w, std::size_t num_devices) {
  const auto machine = alike(num_devices);
  const weft::problem p{w, machine, weft::cost::roofline{}};
  weft::rng random;
  weft::workspace scratch;
  return weft::partition::run(weft::partition::heft{}, p, random, scratch)->plan;
}

/// What three steps of training came to.
struct outcome {
  std::vector<float> losses;
  std::vector<std::vector<float>> variables;
};

void take_variables(const kernels::bound_step& step, outcome& result) {
  for (const auto v : weft::ids(step.graph().num_ops())) {
    if (step.graph().type(v) == "VariableV2") {
      const auto values = step.values(step.graph().outputs(v).front());
      result.variables.emplace_back(values.begin(), values.end());
    }
  }
}

outcome trained_alone(const kernels::training_net& net) {
  auto step = net.bind();
  outcome result;
  for (int i = 0; i < 3; ++i) {
    run_in_order(step);
    for (const auto t : net.losses) {
      result.losses.push_back(step.values(t)[0]);
    }
  }
  take_variables(step, result);
  return result;
}

outcome trained(const kernels::training_net& net, const weft::execute::program& program) {
  kernels::placed_step step{net, program};
  weft::static_executor run{program};
  outcome result;
  for (int i = 0; i < 3; ++i) {
    run(step, step.memory()).rethrow();
    const auto losses = step.losses();
    result.losses.insert(result.losses.end(), losses.begin(), losses.end());
  }
  take_variables(step.step(), result);
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check_same(const outcome& a, const outcome& b) {
  CHECK(same_bits(a.losses, b.losses));
  REQUIRE(a.variables.size() == b.variables.size());
  for (std::size_t i = 0; i < a.variables.size(); ++i) {
    CHECK(same_bits(a.variables[i], b.variables[i]));
  }
}

TEST_CASE("placed step: any number of devices trains the same network, bit by bit") {
  for (const auto& net : small_networks()) {
    CAPTURE(net.name);
    const auto expected = trained_alone(net);
    CHECK(expected.losses.size() == 3 * net.losses.size());
    CHECK_FALSE(expected.variables.empty());
    weft::rng random{17};
    for (const std::uint32_t devices : {1u, 2u, 4u}) {
      CAPTURE(devices);
      check_same(expected, trained(net, kernels::program_of(
                                          net, {weft::test::random_placement(net.step.graph, devices, random)})));
      check_same(expected, trained(net, kernels::program_of(net, heft_plan(net.step.graph, devices))));
    }
  }
}

TEST_CASE("placed step: memory is what the simulated run holds, and what alignment adds") {
  for (const auto& net : small_networks()) {
    CAPTURE(net.name);
    const auto& w = net.step.graph;
    for (const std::size_t devices : {1u, 2u, 4u}) {
      CAPTURE(devices);
      const auto machine = alike(devices);
      const weft::problem task{w, machine, weft::cost::roofline{}};
      const auto plan = heft_plan(w, devices);
      weft::trace run;
      weft::simulator{task, weft::schedule::static_order{}}.run(plan, weft::simulate::recorder{run});
      const weft::execute::program program{w, plan, run};
      const weft::execute::memory memory{program};
      for (auto& x : run.transfers) {
        x.send_finish = x.arrival; // a buffer is held until what is sent from it has arrived
      }
      const auto peak = weft::peak_memory_of(task, plan.placement, run);
      for (weft::device_id d = 0; d < program.num_devices(); ++d) {
        CHECK(program.peak_bytes(d) <= peak[d]);
        CHECK((devices > 1 || program.peak_bytes(d) == peak[d]));
        CHECK(memory.live_bytes(d) >= program.peak_bytes(d));
        CHECK(memory.live_bytes(d) <= program.peak_bytes(d) + 64 * (program.buffers().size() + w.num_ops()));
        CHECK(100 * memory.arena_bytes(d) <= (devices == 1 ? 103 : 115) * memory.live_bytes(d));
      }
    }
  }
}

TEST_CASE("placed step: the gradient of a pooling needs nothing of it but tensors") {
  const auto net = kernels::inception_block({.image = 9, .channels = 8, .blocks = 1, .width = 4});
  weft::plan p{weft::placement(net.step.graph.num_ops(), 0)};
  bool found = false;
  for (const auto v : weft::ids(net.step.graph.num_ops())) {
    if (net.step.graph.type(v) == "MaxPoolGrad") {
      p.placement[v] = 1;
      found = true;
    }
  }
  REQUIRE(found);
  check_same(trained_alone(net), trained(net, kernels::program_of(net, p)));
}

TEST_CASE("placed step: of devices that are not here, nothing is bound") {
  const auto net = kernels::lstm({.batch = 2, .steps = 2, .hidden = 8, .classes = 4});
  const auto& w = net.step.graph;
  weft::rng random{3};
  const auto program = kernels::program_of(net, {weft::test::random_placement(w, 2, random)});
  const weft::device_id loss_device = program.device(w.producer(net.losses[0]));
  for (const weft::device_id d : {0u, 1u}) {
    const kernels::placed_step step{net, program, std::vector{d}};
    CHECK(step.memory().has(d));
    CHECK(step.step().values(net.losses[0]).size() == (d == loss_device ? 1 : 0));
    CHECK((d == loss_device || std::isnan(step.losses().at(0))));
    for (const auto v : weft::ids(w.num_ops())) {
      CHECK(step.step().has(v) == (program.device(v) == d));
      if (!step.step().has(v) && !w.outputs(v).empty()) {
        CHECK(step.step().values(w.outputs(v).front()).empty());
      }
    }
  }
}

TEST_CASE("placed step: reset goes back to where training started") {
  const auto net = kernels::lstm({.batch = 2, .steps = 2, .hidden = 8, .classes = 4});
  const auto program = kernels::program_of(net, heft_plan(net.step.graph, 2));
  kernels::placed_step step{net, program};
  weft::static_executor run{program};
  const auto loss = [&] {
    run(step, step.memory()).rethrow();
    return step.losses().at(0);
  };
  const float first = loss();
  CHECK(loss() != first);
  step.reset();
  CHECK(loss() == first);
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const weft::error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("placed step: plans that tear variables from their updates, and memory of other steps, are refused") {
  const auto net = kernels::resnet_block_stack({.batch = 2, .image = 8, .blocks_per_stage = 1});
  const auto& w = net.step.graph;
  weft::plan torn{weft::placement(w.num_ops(), 0)};
  weft::op_id update = weft::none;
  for (const auto v : weft::ids(w.num_ops())) {
    update = update == weft::none && w.type(v) == "ApplyMomentum" ? v : update;
  }
  torn.placement[update] = 1;
  CHECK(message_of([&] {
          const auto program = kernels::program_of(net, torn);
          const kernels::placed_step step{net, program};
        }) == "op '" + std::string{w.name(update)} + "' on device 1 uses variable '" +
                std::string{w.name(w.producer(w.inputs(update).front()))} +
                "' on device 0; a plan has to keep colocation groups together");
  const auto other = kernels::lstm({.batch = 2, .steps = 2, .hidden = 8, .classes = 4});
  const auto program = kernels::program_of(other, heft_plan(other.step.graph, 1));
  const weft::execute::memory memory{program};
  CHECK(message_of([&] {
          const kernels::bound_step step{*net.net, net.step, memory};
        }) == "the memory belongs to the program of another step");
}

} // namespace kernels_placed_step_test
