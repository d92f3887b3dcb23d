// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/program.hpp"

#include "support/small_problem.hpp"

#include "weft/cost/linear.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/allocate/lay_out.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/validate/program.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace execute_program_test {

using namespace weft;
using kind = instruction::kind;

/// a = 0, b = 1, c = 2, d = 3; a -> {b, c} -> d; tensors: a's, b's two, c's.
const workload diamond = test::diamond();

std::string text(const execute::program& p, device_id d) {
  std::string all;
  for (const instruction& i : p.of(d)) {
    constexpr const char* names[] = {"run", "send", "receive", "wait", "free"};
    all += (all.empty() ? "" : ", ") + std::string{names[static_cast<int>(i.what)]} + " " + std::to_string(i.id);
  }
  return all;
}

TEST_CASE("program: what each device of a small plan does") {
  const execute::program p{diamond, {{0, 1, 0, 1}}};
  CHECK(p.num_ops() == 4);
  CHECK(p.num_devices() == 2);
  // messages: a's tensor to b, c's to d; they arrive in buffers 4 and 5
  REQUIRE(p.messages().size() == 2);
  CHECK(p.messages()[0] == message{.tensor = 0, .from = 0, .to = 1, .tag = 0, .source = 0, .target = 4, .bytes = 100});
  CHECK(p.messages()[1] == message{.tensor = 3, .from = 0, .to = 1, .tag = 1, .source = 3, .target = 5, .bytes = 300});
  CHECK(text(p, 0) == "run 0, send 0, run 2, send 1, wait 0, free 0, wait 1, free 3");
  CHECK(text(p, 1) == "receive 0, wait 0, run 1, free 4, receive 1, wait 1, run 3, free 1, free 2, free 5");
  CHECK(p.peak_bytes(0) == 100 + 300 + 1000 + 3000);
  CHECK(p.peak_bytes(1) == 200 + 50 + 300 + 4000);
  CHECK(p.buffers()[4] == execute::tensor_buffer{.device = 1, .tensor = 0, .bytes = 100, .begin = 0, .end = 3});
  CHECK(std::vector(p.inputs(3).begin(), p.inputs(3).end()) == std::vector<std::uint32_t>{1, 2, 5});
  CHECK(std::vector(p.outputs(1).begin(), p.outputs(1).end()) == std::vector<std::uint32_t>{1, 2});
  CHECK(validate(diamond, {0, 1, 0, 1}, p).empty());
}

TEST_CASE("program: a plan's order says when tensors are sent") {
  plan p{{0, 1, 0, 1},
         {step::run(0), step::run(2), step::send(0, 0, 1), step::send(2, 3, 1), step::run(1), step::run(3)}};
  CHECK(text(execute::program{diamond, p}, 0) == "run 0, run 2, send 0, send 1, wait 0, free 0, wait 1, free 3");
}

TEST_CASE("program: memory that is needed again is waited for, and no more than that") {
  workload_builder b; // a chain on device 0, whose tensors all go to device 1, too
  for (int i = 0; i < 5; ++i) {
    b.add_op({.work = 1, .bytes = i == 2 ? 300u : 100u});
  }
  const auto last = b.add_op({.work = 1});
  for (op_id v = 0; v < 5; ++v) {
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
    b.add_edge(v, last);
  }
  const workload w = std::move(b).build();
  trace t{{{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}, {1, 6, 7}}, {}, 7};
  for (tensor_id x = 0; x < 5; ++x) {
    t.transfers.push_back({x, 0, 1, x + 1., x + 1., x + 1., x + 1.5}); // each takes half a second
  }
  const execute::program p{w, {{0, 0, 0, 0, 0, 1}}, t};
  // In that run, at most 100 + 300 bytes are alive at once. Until then, nothing waits.
  CHECK(p.peak_bytes(0) == 400);
  CHECK(text(p, 0) == "run 0, send 0, run 1, send 1, wait 0, free 0, run 2, send 2, wait 1, free 1, run 3, send 3, "
                      "wait 2, free 2, run 4, send 4, wait 3, free 3, wait 4, free 4");
  CHECK(p.peak_bytes(1) == 700); // no receive is before its transfer may begin, but all come before the only op
  CHECK(validate(w, {0, 0, 0, 0, 0, 1}, p).empty());
}

TEST_CASE("program: of a simulated run") {
  const auto devices = test::three_devices();
  const problem task{diamond, devices, cost::linear{}};
  const plan p{{0, 1, 2, 1}, {step::run(0), step::run(2), step::run(1), step::run(3)}};
  trace t;
  simulator{task, schedule::static_order{}}.run(p, simulate::recorder{t});
  const execute::program made{diamond, p, t};
  CHECK(validate(diamond, p.placement, made).empty());
  CHECK(made.fingerprint() != execute::program{diamond, {{0, 1, 0, 1}}}.fingerprint());
  CHECK(made.fingerprint() == execute::program{diamond, p, t}.fingerprint());
}

TEST_CASE("program: what begins to arrive during an op is received after it where memory lacks before") {
  workload_builder b;
  for (const byte_count bytes : {100u, 0u, 0u, 100u, 0u}) {
    b.add_op({.work = 1, .bytes = bytes});
  }
  b.add_edge(0, 2);
  b.add_edge(3, 4);
  const workload w = std::move(b).build();
  const placement where{0, 0, 1, 1, 0};
  trace t{{{0, 0, 1}, {0, 2, 10}, {1, 3, 4}, {1, 4, 5}, {0, 11, 12}}, {}, 12};
  t.transfers.push_back({0, 0, 1, 1, 1, 1, 3}); // has arrived when the other one begins
  t.transfers.push_back({3, 1, 0, 5, 5, 5, 6});
  const execute::program p{w, {where}, t};
  CHECK(p.peak_bytes(0) == 100);
  CHECK(p.peak_bytes(1) == 100);
  CHECK(text(p, 0).starts_with("run 0, send 0, run 1, free 1, wait 0, free 0, receive 1, wait 1, run 4"));
  CHECK(validate(w, where, p).empty());
}

TEST_CASE("program: takes the memory of the simulated run, if what is sent is held until it has arrived") {
  for (const char* net : {"mnist_conv", "dcgan", "lstm", "ptb_lstm_fused"}) {
    const workload own = zoo::make(net);
    std::vector<output_memory> over_inputs;
    for (const op_id v : ids(own.num_ops())) {
      over_inputs.push_back(ops::facts_of(own.type(v)).in_place ? output_memory::over_input : output_memory::own);
    }
    const workload all[] = {own, own.with_output_memory(over_inputs)};
    for (std::size_t k = 0; k < 6; ++k) {
      const workload& w = all[k / 3];
      const std::size_t devices = std::size_t{1} << k % 3;
      CAPTURE(net);
      CAPTURE(devices);
      const platform<uniform_links> machine{std::vector<device>(devices, {.speed = 1e13, .memory_bandwidth = 5e11}),
                                            {{.latency = 1e-5, .bandwidth = 1e10}}};
      const problem task{w, machine, cost::roofline{}};
      rng random;
      workspace scratch;
      const plan p = partition::run(partition::heft{}, task, random, scratch)->plan;
      trace t;
      simulator{task, schedule::static_order{}}.run(p, simulate::recorder{t});
      const execute::program made{w, p, t};
      if (devices == 1) {
        CHECK(made.peak_bytes(0) == peak_memory_of(task, p.placement, t)[0]);
      }
      for (auto& x : t.transfers) {
        x.send_finish = x.arrival;
      }
      const auto held = peak_memory_of(task, p.placement, t);
      for (device_id d = 0; d < made.num_devices(); ++d) {
        CHECK(made.peak_bytes(d) <= held[d]);
        CHECK(10 * made.peak_bytes(d) >= 9 * held[d]); // or the comparison says little
        std::vector<allocate::lifetime> lifetimes;
        for (const auto& x : made.buffers()) {
          if (x.device == d) {
            lifetimes.push_back({x.begin, x.end, allocate::aligned(x.bytes, 64), 64});
          }
        }
        const auto arena = allocate::lay_out(lifetimes);
        CHECK(100 * arena.bytes <= (devices == 1 ? 102 : 115) * arena.bound);
      }
    }
  }
}

TEST_CASE("program: tensors to keep") {
  const execute::program p{diamond, {{0, 1, 0, 1}}, {.keep = {0, 1}}};
  CHECK(p.buffers()[0].end == p.of(0).size());
  CHECK(p.buffers()[1].end == p.of(1).size());
  CHECK(text(p, 0) == "run 0, send 0, run 2, send 1, wait 1, free 3, wait 0");
  CHECK_THROWS_WITH_AS(execute::program(diamond, {{0, 0, 0, 0}}, {.keep = {9}}),
                       "program_options.keep: names tensor 9 of 4", value_error);
}

TEST_CASE("program: plans that are none") {
  CHECK_THROWS_WITH_AS(execute::program(diamond, {{0, 0}}), "the plan: places 2 ops, the workload has 4", value_error);
  CHECK_THROWS_WITH_AS(execute::program(diamond, {{0, 0, none, 0}}), "op 2: has no device in the plan", value_error);
  CHECK_THROWS_AS(execute::program(diamond, {{0, 0, 5000, 0}}), value_error);
  const plan repeated{{0, 0, 0, 0}, {step::run(0), step::run(0)}};
  CHECK_THROWS_WITH_AS(execute::program(diamond, repeated), "the plan's order: has op 0 twice", value_error);
  CHECK_THROWS_WITH_AS(execute::program(diamond, {{0, 0, 0, 0}}, trace{}), "the trace: has 0 ops, the workload 4",
                       value_error);
  const trace backwards{{{0, 3, 4}, {0, 2, 3}, {0, 1, 2}, {0, 0, 1}}, {}, 4};
  CHECK_THROWS_AS(execute::program(diamond, {{0, 0, 0, 0}}, backwards), constraint_error);
}

TEST_CASE("program: nothing to do") {
  const workload nothing = workload_builder{}.build();
  const execute::program p{nothing, {}};
  CHECK(p.num_devices() == 0);
  CHECK(validate(nothing, {}, p).empty());
  const execute::program far{diamond, {{3, 3, 3, 3}}};
  CHECK(far.num_devices() == 4);
  CHECK(far.of(0).empty());
  CHECK(text(far, 3) == "run 0, run 1, run 2, free 0, run 3, free 1, free 2, free 3");
}

} // namespace execute_program_test
