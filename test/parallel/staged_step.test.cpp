// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/staged_step.hpp"

#include "support/marked.hpp"
#include "weft/cost/linear.hpp"
#include "weft/parallel/find_pipeline_order.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace staged_step_test {

using namespace weft;

/// The makespan of a plan, which is valid, and the most memory on any device.
struct outcome {
  double makespan = 0;
  byte_count peak = 0;
};

template <class Platform>
outcome simulated(const workload& w, const Platform& machine, const placement& where, weft::order order) {
  const problem p{w, machine};
  plan x{where, std::move(order)};
  trace run;
  simulator{p, schedule::static_order{}}.run(x, simulate::recorder{run});
  CHECK(validate(p, where, run).empty());
  simulate::memory_tracker memory{p};
  memory.follow(where, run);
  return {run.makespan, memory.largest_peak()};
}

struct example {
  const char* small = "";
  const char* large = "";
  std::uint32_t stages = 1;
  std::uint32_t micro_batches = 1;
};

TEST_CASE("pass_run: a host that needs as long as its device slows it down, and a fast one does not") {
  const auto with_host = [](double seconds, double host) {
    parallel::pass_run r{.seconds = {7, seconds}};
    r.launched_in(1, host);
    CHECK(r.seconds[0] == 7);
    return r.seconds[1];
  };
  CHECK(with_host(2, 0) == 2);
  CHECK(with_host(0, 3) == 3);
  CHECK(with_host(0, 0) == 0);
  CHECK(with_host(1, 1) == doctest::Approx(std::cbrt(2)));
  CHECK(with_host(2, 1) == doctest::Approx(std::cbrt(9)));
  CHECK(with_host(1, 2) == with_host(2, 1));
  CHECK(with_host(10, 1) == doctest::Approx(10).epsilon(0.001));
}

TEST_CASE("make_staged_step: passes take the time and memory of the ops that are in them") {
  for (const auto& e : {example{"gpt2_small@1x32", "gpt2_small@2x32", 4, 6}, example{"resnet50@1", "resnet50@2", 3, 5},
                        example{"mnist_conv@4", "mnist_conv@8", 2, 4}, example{"lstm@2", "lstm@4", 1, 3}}) {
    CAPTURE(e.small);
    const workload step = zoo::make(e.small), other = zoo::make(e.large);
    const platform machine{std::vector<device>(e.stages, device{.speed = 1e12}),
                           uniform_links{{.latency = 1e-6, .bandwidth = 1e11}}};
    std::vector<device_id> devices(e.stages);
    std::iota(devices.begin(), devices.end(), 0);
    const auto where = parallel::pipeline_stages(problem{step, machine}, devices);
    const auto repeated = parallel::detail::follows_batch(step, other);
    const std::vector<std::uint32_t> stage(where.begin(), where.end());
    const auto staged = parallel::make_staged_step(
      step, repeated, stage, where, [&](const workload& w, const placement& at, const std::vector<op_id>&) {
        const problem p{w, machine};
        trace run;
        const auto order = parallel::order_by_turns(w, std::vector<std::uint64_t>(w.num_ops(), 0));
        simulator{p, schedule::static_order{}}.run(plan{at, order}, simulate::recorder{run});
        simulate::memory_tracker memory{p};
        memory.follow(at, run);
        std::vector<double> ends(e.stages, 0);
        for (const op_id v : ids(w.num_ops())) {
          ends[at[v]] = std::max(ends[at[v]], run.ops[v].finish);
        }
        return parallel::pass_run{ends, memory.peaks()};
      });
    CHECK(staged.num_stages == e.stages);
    CHECK(staged.trains == (e.stages > 1));
    const auto p = parallel::pipeline_of(staged, e.micro_batches, devices,
                                         std::vector<byte_count>(e.stages, byte_count{1} << 40),
                                         [&](byte_count bytes, device_id, device_id) {
                                           return 1e-6 + static_cast<double>(bytes) / 1e11;
                                         },
                                         [](byte_count, device_id) { return 0.0; });
    const auto found = parallel::find_pipeline_order(p, {.budget = {.moves = 2000}});
    REQUIRE(found.found);
    const auto in_place = parallel::micro_batch_sums::in_place;
    const auto passes =
      parallel::micro_batched(staged.graph, staged.repeated, e.micro_batches, staged.where, 4, in_place);
    const auto turns = parallel::turns_of(staged, passes, p, found.order);
    const auto coarse = simulated(passes.graph, machine, passes.where, parallel::order_by_turns(passes.graph, turns));

    parallel::staged_step by_op; // the same order for the ops themselves
    by_op.repeated = repeated;
    by_op.stage = stage;
    by_op.pass = parallel::detail::passes_of(step, repeated, stage);
    const auto ops = parallel::micro_batched(step, repeated, e.micro_batches, where, 4, in_place);
    const auto fine = simulated(ops.graph, machine, ops.where,
                                parallel::order_by_turns(ops.graph, parallel::turns_of(by_op, ops, p, found.order)));
    CHECK(coarse.makespan >= found.run.makespan * (1 - 1e-9));
    CHECK(coarse.makespan == doctest::Approx(fine.makespan).epsilon(0.01));
    CHECK(coarse.makespan <= 1.1 * found.run.makespan); // but for updates
    CHECK(static_cast<double>(coarse.peak) >= 0.99 * static_cast<double>(fine.peak));
    // What ops add in place is only counted for the first micro-batch, in passes beside the sum for each.
    CHECK(static_cast<double>(coarse.peak) <= 1.25 * static_cast<double>(fine.peak));
  }
}

TEST_CASE("make_staged_step: whole backward passes hold less of gradients and take the same work") {
  const workload step = zoo::make("gpt2_small@1x32"), other = zoo::make("gpt2_small@2x32");
  const platform machine{std::vector<device>(2, device{.speed = 1e12}), uniform_links{}};
  const auto where = parallel::pipeline_stages(problem{step, machine}, std::vector<device_id>{0, 1});
  const auto repeated = parallel::repeated_ops(step, other);
  const std::vector<std::uint32_t> stage(where.begin(), where.end());
  const auto no_run = [](const workload&, const placement&, const std::vector<op_id>&) {
    return parallel::pass_run{{1, 1}, {0, 0}};
  };
  const auto split = parallel::make_staged_step(step, repeated, stage, where, no_run);
  const auto whole =
    parallel::make_staged_step(step, repeated, stage, where, no_run, parallel::backward_passes::whole);
  const auto work = [](const parallel::staged_step& s, parallel::pass x) {
    double sum = 0;
    for (const op_id v : ids(s.graph.num_ops())) {
      sum += s.repeated[v] && s.pass[v] == x ? s.graph.work(v) : 0;
    }
    return sum;
  };
  CHECK(work(split, parallel::pass::weights) > 0);
  CHECK(work(whole, parallel::pass::weights) == 0);
  CHECK(work(whole, parallel::pass::forward) == work(split, parallel::pass::forward));
  CHECK(work(whole, parallel::pass::backward) ==
        doctest::Approx(work(split, parallel::pass::backward) + work(split, parallel::pass::weights)));
}

TEST_CASE("without_barriers: gradients of weights can wait, and nothing else changes") {
  const workload step = zoo::make("gpt2_small@1x32"), other = zoo::make("gpt2_small@2x32");
  const auto free = parallel::without_barriers(step);
  REQUIRE(free.num_ops() == step.num_ops());
  CHECK(free.num_edges() < step.num_edges());
  std::size_t lost = 0;
  for (const op_id v : ids(step.num_ops())) {
    REQUIRE(free.name(v) == step.name(v));
    REQUIRE(free.work(v) == step.work(v));
    REQUIRE(free.resident_bytes(v) == step.resident_bytes(v));
    REQUIRE(free.outputs(v).size() == step.outputs(v).size());
    if (free.inputs(v).size() != step.inputs(v).size()) {
      ++lost;
      REQUIRE(step.name(v).ends_with("tuple/group_deps"));
      REQUIRE(step.type(v) == "NoOp");
    }
  }
  CHECK(lost > 0);
  const platform machine{std::vector<device>(4, device{.speed = 1e12}), uniform_links{}};
  const std::vector<device_id> devices{0, 1, 2, 3};
  const auto where = parallel::pipeline_stages(problem{step, machine}, devices);
  const auto repeated = parallel::repeated_ops(step, other);
  const auto work_for_weights = [&](const workload& w, std::uint32_t stage) {
    const auto passes = parallel::detail::passes_of(w, repeated, {where.begin(), where.end()});
    double work[2] = {0, 0};
    for (const op_id v : ids(w.num_ops())) {
      if (repeated[v] && where[v] == stage && passes[v] != parallel::pass::forward) {
        work[passes[v] == parallel::pass::weights] += w.work(v);
      }
    }
    return work[1] / (work[0] + work[1]);
  };
  for (const std::uint32_t stage : {1u, 2u, 3u}) {
    CHECK(work_for_weights(step, stage) < 0.1);
    CHECK(work_for_weights(free, stage) > 0.35); // about half of a backward pass
    CHECK(work_for_weights(free, stage) < 0.6);
  }
}

/// Two layers, of which the first one divides: a part of its gradient follows from the forward pass alone.
struct two_layers {
  workload step;
  std::vector<bool> repeated;
  std::vector<std::uint32_t> stage;
};

two_layers make_two_layers(const std::string& prefix) {
  workload_builder b;
  two_layers made;
  const auto add = [&](const char* name, std::uint32_t stage, bool repeated, const std::vector<op_id>& inputs) {
    const op_id v = b.add_op({.work = 1, .bytes = 8, .name = prefix + name, .type = "Mul"});
    for (const op_id u : inputs) {
      b.add_edge(u, v);
    }
    made.stage.push_back(stage);
    made.repeated.push_back(repeated);
    return v;
  };
  const op_id parameters = add("a/weights", 0, false, {});
  const op_id divided = add("a/div", 0, true, {parameters});
  const op_id loss = add("b/loss", 1, true, {divided});
  const op_id quotient = add("gradients/a/div_grad/Neg", 0, true, {divided});
  const op_id of_loss = add("gradients/b/loss_grad/mul", 1, true, {loss, divided});
  const op_id of_weights = add("gradients/a/div_grad/mul", 0, true, {quotient, of_loss});
  add("update", 0, false, {parameters, of_weights});
  made.step = std::move(b).build();
  return made;
}

TEST_CASE("make_staged_step: gradients are in no forward pass, whatever they are made of, also as parts of ops") {
  for (const auto* prefix : {"", "tensor_1/"}) {
    CAPTURE(prefix);
    const auto m = make_two_layers(prefix);
    const auto passes = parallel::detail::passes_of(m.step, m.repeated, m.stage);
    using enum parallel::pass;
    CHECK(passes[1] == forward);
    CHECK(passes[2] == forward);
    CHECK(passes[3] == weights);
    CHECK(passes[4] == backward);
    CHECK(passes[5] == weights);
  }
}

TEST_CASE("make_staged_step: copies keep the slots of ops, and the memory of results") {
  const auto m = make_two_layers("");
  const workload step = test::marked(m.step);
  std::size_t passes = 0;
  const auto staged = parallel::make_staged_step(
    step, m.repeated, m.stage, {0, 0, 1, 0, 1, 0, 0},
    [&](const workload& ops, const placement&, const std::vector<op_id>& origin) {
      ++passes;
      test::check_marks(ops, origin, step);
      return parallel::pass_run{{1, 1}, {8, 8}};
    });
  CHECK(passes > 0);
  test::check_marks(staged.graph, staged.origin, step); // what is there once
}

TEST_CASE("pipeline_of: a pass takes the time in which what it makes is added up, but for the first micro-batch") {
  const auto m = make_two_layers("");
  const auto staged = parallel::make_staged_step(
    m.step, m.repeated, m.stage, {0, 0, 1, 0, 1, 0, 0},
    [](const workload&, const placement&, const std::vector<op_id>&) {
      return parallel::pass_run{{10, 20}, {8, 8}};
    });
  for (const std::uint32_t count : {1u, 4u}) {
    const auto p = parallel::pipeline_of(
      staged, count, {0, 1}, {1000, 1000}, [](byte_count, device_id, device_id) { return 0.0; },
      [](byte_count bytes, device_id) { return static_cast<double>(bytes); });
    CHECK(p.stages[0][parallel::pass::forward].seconds == 10);
    CHECK(p.stages[0][parallel::pass::weights].seconds == 10 + 8.0 * (count - 1) / count);
    CHECK(p.stages[1][parallel::pass::backward].seconds == 20);
  }
}

TEST_CASE("pipeline_of: a device that holds little of a stage needs little memory") {
  workload_builder b; // a host reads what an accelerator works on
  const op_id read = b.add_op({.bytes = 10, .name = "read"});
  const op_id work = b.add_op({.bytes = 1000, .name = "work"});
  const op_id next = b.add_op({.bytes = 1, .name = "next"});
  b.add_edge(read, work);
  b.add_edge(work, next);
  const auto staged = parallel::make_staged_step(
    std::move(b).build(), {true, true, true}, {0, 0, 1}, {0, 1, 2},
    [](const workload&, const placement&, const std::vector<op_id>&) {
      return parallel::pass_run{{1, 1, 1}, {10, 1000, 1}};
    });
  const auto room = [&](byte_count host) {
    return parallel::pipeline_of(
             staged, 4, {0, 1}, {host, 5000, 5000}, [](byte_count, device_id, device_id) { return 0.0; },
             [](byte_count, device_id) { return 0.0; })
      .capacity[0];
  };
  CHECK(room(100) == 5000);
  CHECK(room(20) == 2000); // two micro-batches
  CHECK(room(5) < 1000);
}

/// A pass of a host (0) and two accelerators, which send each other something if `mutual`.
parallel::staged_step make_on_host(bool mutual) {
  workload_builder b;
  const op_id read = b.add_op({.bytes = 10, .name = "read"});
  const op_id left = b.add_op({.bytes = 10, .name = "left"}), right = b.add_op({.bytes = 10, .name = "right"});
  const op_id sum = b.add_op({.bytes = 10, .name = "sum"}), next = b.add_op({.bytes = 1, .name = "next"});
  for (const auto& [from, to] : {std::pair{read, left}, {read, right}, {left, sum}, {right, sum}, {sum, next}}) {
    b.add_edge(from, to);
  }
  if (mutual) {
    const op_id other = b.add_op({.bytes = 10, .name = "other"});
    b.add_edge(left, other);
  }
  std::vector<std::uint32_t> stage{0, 0, 0, 0, 1};
  placement where{0, 1, 2, 1, 3}; // the second accelerator gives to the first
  if (mutual) {
    stage.push_back(0);
    where.push_back(2);
  }
  return parallel::make_staged_step(std::move(b).build(), std::vector<bool>(stage.size(), true), stage, where,
                                    [](const workload&, const placement&, const std::vector<op_id>&) {
                                      return parallel::pass_run{.seconds = {2, 7, 5, 1},
                                                                .peak = {10, 10, 10, 10},
                                                                .busy = {2, 4, 1, 1}};
                                    });
}

TEST_CASE("make_staged_step: devices of a pass wait for each other where what they send goes one way") {
  for (const bool mutual : {false, true}) {
    CAPTURE(mutual);
    const auto s = make_on_host(mutual);
    const auto waits_for = [&](op_id v) { // within the first stage
      std::vector<device_id> found;
      for (const tensor_id t : s.graph.inputs(v)) {
        found.push_back(s.where[s.graph.producer(t)]);
      }
      std::sort(found.begin(), found.end());
      return found;
    };
    REQUIRE(s.graph.num_ops() == 4);
    CHECK(s.where == placement{0, 1, 2, 3});
    CHECK(waits_for(0).empty());
    CHECK(s.seconds[0] == 2);
    if (mutual) {
      CHECK(waits_for(1) == std::vector<device_id>{0});
      CHECK(waits_for(2) == std::vector<device_id>{0});
      CHECK(s.seconds[1] == 5);
      CHECK(s.seconds[2] == 3);
    } else {
      CHECK(waits_for(1) == std::vector<device_id>{0, 2});
      CHECK(waits_for(2) == std::vector<device_id>{0});
      CHECK(s.seconds[1] == 4); // it computes as long, though only 2 s are left when the other has ended
      CHECK(s.seconds[2] == 3);
    }
    const auto p = parallel::pipeline_of(
      s, 2, {0, 1}, {1000, 1000, 1000, 1000}, [](byte_count, device_id, device_id) { return 0.0; },
      [](byte_count, device_id) { return 0.0; });
    CHECK(p.stages[0][parallel::pass::forward].seconds == (mutual ? 7 : 9)); // one device after the other
  }
}

TEST_CASE("pipeline_of: what is read before the first micro-batch takes no memory of theirs") {
  workload_builder b;
  const op_id variable = b.add_op({.bytes = 100, .resident_bytes = 100, .name = "variable"});
  const op_id read = b.add_op({.bytes = 100, .name = "read"});
  const op_id work = b.add_op({.bytes = 10, .name = "work"});
  const op_id update = b.add_op({.bytes = 0, .name = "update", .type = "ApplyGradientDescent"});
  b.add_edge(variable, read);
  b.add_edge(read, work);
  b.add_edge(work, update);
  const auto staged = parallel::make_staged_step(std::move(b).build(), {false, false, true, false}, {0, 0, 0, 0},
                                                 {0, 0, 0, 0},
                                                 [](const workload&, const placement&, const std::vector<op_id>&) {
                                                   return parallel::pass_run{{1}, {10}};
                                                 });
  const auto p = parallel::pipeline_of(
    staged, 2, {0}, {1000}, [](byte_count, device_id, device_id) { return 0.0; },
    [](byte_count, device_id) { return 0.0; });
  CHECK(p.capacity[0] == 1000 - 100 - 100 - 10); // the variable, what was read of it, and the sum of micro-batches
}

} // namespace staged_step_test
