// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/one_forward_one_backward.hpp"

#include "weft/execute/program.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace one_forward_one_backward_test {

using namespace weft;

std::vector<device_id> devices(std::size_t count) {
  const auto all = ids(count);
  return {all.begin(), all.end()};
}

/// A step whose stage s, on device s, has a forward op F of 1 s and a backward op B of 2 s, which reads what F made;
/// `rows` grows with the batch.
struct chain {
  workload step;
  placement where;
};

chain chain_of(std::size_t stages, byte_count rows) {
  workload_builder b;
  chain made;
  const auto add = [&](op o, std::size_t stage) {
    made.where.push_back(static_cast<device_id>(stage));
    return b.add_op(std::move(o));
  };
  std::vector<op_id> weights, forward;
  op_id from = add({.bytes = 0, .name = "data"}, 0);
  const auto data = b.add_output(from, rows);
  static_cast<void>(data);
  for (std::size_t s = 0; s < stages; ++s) {
    weights.push_back(add({.bytes = 40, .resident_bytes = 40, .name = "weights"}, s));
    forward.push_back(add({.work = 1, .bytes = rows, .name = "F"}, s));
    b.add_edge(from, forward[s], s == 0 ? 1 : 0);
    b.add_edge(weights[s], forward[s]);
    from = forward[s];
  }
  for (std::size_t s = stages; s-- > 0;) {
    const auto backward = add({.work = 2, .bytes = rows, .name = "gradients/B"}, s);
    b.add_output(backward, 40);
    b.add_edge(from, backward);
    if (from != forward[s]) {
      b.add_edge(forward[s], backward);
    }
    const auto update = add({.name = "update", .type = "ApplyGradientDescent"}, s);
    b.add_edge(backward, update, 1);
    b.add_edge(weights[s], update);
    from = backward;
  }
  made.step = std::move(b).build();
  return made;
}

struct pipeline {
  parallel::parallel_workload made;
  plan x;
};

pipeline pipeline_of(std::size_t stages, std::uint32_t count) {
  const auto one = chain_of(stages, 8), other = chain_of(stages, 16);
  pipeline p{parallel::micro_batched(one.step, other.step, count, one.where, 1e9), {}};
  p.x = {p.made.where, parallel::one_forward_one_backward(p.made, one.step, other.step, devices(stages))};
  return p;
}

/// Of a stage: the passes in their order, such as "F0 F1 B0 B1 ".
std::string passes(const pipeline& p, device_id stage) {
  std::string all;
  for (const auto& s : p.x.order) {
    const auto name = std::string{p.made.graph.name(s.op)};
    if (p.made.where[s.op] == stage && p.made.origin[s.op] != none && (name.back() == 'F' || name.back() == 'B')) {
      all += name.back() + std::to_string(p.made.replica[s.op]) + " ";
    }
  }
  return all;
}

TEST_CASE("one_forward_one_backward: each stage begins as many micro-batches as there are stages from it on") {
  const auto p = pipeline_of(3, 5);
  CHECK(passes(p, 0) == "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4 ");
  CHECK(passes(p, 1) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4 ");
  CHECK(passes(p, 2) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 ");
  CHECK(passes(pipeline_of(3, 2), 0) == "F0 F1 B0 B1 ");
  CHECK(passes(pipeline_of(3, 1), 0) == "F0 B0 ");
}

TEST_CASE("one_forward_one_backward: parameters come first on each stage, updates last") {
  const auto p = pipeline_of(3, 4);
  for (const device_id d : devices(3)) {
    std::vector<std::string> names;
    for (const auto& s : p.x.order) {
      if (p.made.where[s.op] == d) {
        names.emplace_back(p.made.graph.name(s.op));
      }
    }
    CHECK(names.front() == "weights");
    CHECK(names.back() == "update");
  }
}

TEST_CASE("one_forward_one_backward: stages of equal time wait at the beginning and the end only, and hold as many "
          "micro-batches as stages follow") {
  for (const std::size_t stages : {1u, 2u, 3u, 4u}) {
    const platform machine{std::vector<device>(stages, {.speed = 1}), uniform_links{}};
    std::vector<byte_count> peak;
    for (std::uint32_t count = 1; count <= 8; ++count) {
      CAPTURE(stages);
      CAPTURE(count);
      const auto p = pipeline_of(stages, count);
      const problem task{p.made.graph, machine};
      trace run;
      simulator{task, schedule::static_order{}}.run(p.x, simulate::recorder{run});
      CHECK(validate(task, p.made.where, run).empty());
      CHECK(run.makespan == doctest::Approx(3.0 * static_cast<double>(count + stages - 1)).epsilon(1e-6));
      const execute::program program{p.made.graph, p.x};
      std::vector<byte_count> now;
      for (const device_id d : devices(stages)) {
        now.push_back(program.peak_bytes(d));
      }
      CHECK((count <= stages + 2 || now == peak)); // no more micro-batches are held, however many there are
      peak = now;
    }
  }
}

TEST_CASE("one_forward_one_backward: stages of whole networks run in it") {
  for (const std::string name : {"mnist_conv", "resnet50_cifar10", "ptb_lstm_fused", "gnmt", "inception_v3",
                                 "switch_base", "gpt2_small"}) {
    const auto of = [&](unsigned batch) {
      const auto n = std::to_string(batch);
      return zoo::make(name == "gpt2_small" || name == "switch_base" ? name + "@" + n + "x16" : name + "@" + n);
    };
    const workload step = of(2), other = of(4);
    for (const std::size_t stages : {2u, 3u, 4u}) {
      CAPTURE(name);
      CAPTURE(stages);
      const platform machine{std::vector<device>(stages, {.speed = 1e12}), uniform_links{}};
      const auto where = parallel::pipeline_stages(problem{step, machine}, devices(stages));
      const auto made = parallel::micro_batched(step, other, 5, where);
      const plan x{made.where, parallel::one_forward_one_backward(made, step, other, devices(stages))};
      const problem task{made.graph, machine};
      trace run;
      simulator{task, schedule::static_order{}}.run(x, simulate::recorder{run});
      CHECK(validate(task, made.where, run).empty());
      CHECK_NOTHROW(execute::program{made.graph, x}); // the order does not contradict the graph
    }
  }
}

TEST_CASE("one_forward_one_backward: refuses no stages, and micro-batches of another step") {
  const auto one = chain_of(2, 8), other = chain_of(2, 16), longer = chain_of(3, 8);
  const auto made = parallel::micro_batched(one.step, other.step, 2, one.where);
  CHECK_THROWS_AS(parallel::one_forward_one_backward(made, one.step, other.step, devices(0)), value_error);
  const auto more = parallel::micro_batched(longer.step, chain_of(3, 16).step, 2, longer.where);
  CHECK_THROWS_AS(parallel::one_forward_one_backward(more, one.step, other.step, devices(3)), value_error);
}

} // namespace one_forward_one_backward_test
