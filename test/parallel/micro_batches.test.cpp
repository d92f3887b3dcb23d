// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/micro_batches.hpp"

#include "support/marked.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace micro_batches_test {

using namespace weft;

/// By tensor: how much of each micro-batch is in it.
std::vector<std::vector<std::uint32_t>> terms_of(const parallel::parallel_workload& p, std::uint32_t count) {
  const auto& g = p.graph;
  std::vector<std::vector<std::uint32_t>> terms(g.num_tensors(), std::vector<std::uint32_t>(count, 0));
  for (const op_id v : graph::topological_order(g)) {
    std::vector<std::uint32_t> made(count, 0);
    if (p.origin[v] == none) { // a sum
      for (const tensor_id t : g.inputs(v)) {
        for (std::uint32_t k = 0; k < count; ++k) {
          made[k] += terms[t][k];
        }
      }
    } else {
      for (const tensor_id t : g.inputs(v)) {
        for (std::uint32_t k = 0; k < count; ++k) {
          made[k] = std::max(made[k], terms[t][k]);
        }
      }
      if (g.name(v).starts_with("micro_")) {
        made[p.replica[v]] = 1;
      }
    }
    for (const tensor_id t : g.outputs(v)) {
      terms[t] = made;
    }
  }
  return terms;
}

TEST_CASE("micro_batched: updates read the sums of all micro-batches, which share parameters and nothing else") {
  constexpr std::uint32_t count = 3;
  for (const auto* name : {"mnist_conv", "lstm", "gpt2_small"}) {
    CAPTURE(name);
    const std::string small = std::string{name} + (std::string_view{name} == "gpt2_small" ? "@1x16" : "@2");
    const std::string large = std::string{name} + (std::string_view{name} == "gpt2_small" ? "@2x16" : "@4");
    const workload step = with_shared_memory(zoo::make(small)), other = zoo::make(large);
    const auto made = parallel::micro_batched(step, other, count, placement(step.num_ops(), 0));
    const auto& g = made.graph;
    const auto terms = terms_of(made, count);
    byte_count resident = 0, of_step = 0;
    std::size_t updates = 0, updates_of_step = 0, copies = 0;
    for (const op_id v : ids(step.num_ops())) {
      of_step += step.resident_bytes(v);
      updates_of_step += is_update(step, v);
    }
    for (const op_id v : ids(g.num_ops())) {
      resident += g.resident_bytes(v);
      copies += g.name(v).starts_with("micro_") && made.origin[v] != none;
      if (made.origin[v] == none) {
        continue;
      }
      const op_id from = made.origin[v];
      REQUIRE(g.work(v) == step.work(from));
      REQUIRE(g.output_memory(v) == step.output_memory(from));
      REQUIRE(g.inputs(v).size() >= step.inputs(from).size());
      if (is_update(g, v)) {
        ++updates;
        bool reads_sum = false;
        for (const tensor_id t : g.inputs(v)) {
          const auto& of = terms[t];
          const bool none_of_batch = of == std::vector<std::uint32_t>(count, 0);
          REQUIRE((none_of_batch || of == std::vector<std::uint32_t>(count, 1)));
          reads_sum = reads_sum || !none_of_batch;
        }
        REQUIRE(reads_sum);
      } else if (g.name(v).starts_with("micro_")) {
        for (const tensor_id t : g.inputs(v)) { // nothing of another micro-batch
          for (std::uint32_t k = 0; k < count; ++k) {
            REQUIRE((k == made.replica[v] || terms[t][k] == 0));
          }
        }
      }
    }
    CHECK(resident == of_step);
    CHECK(updates == updates_of_step);
    CHECK(copies % count == 0);
    CHECK(copies > step.num_ops());
  }
}

TEST_CASE("micro_batched: no two ops have one name, also where several outputs of an op are added up") {
  for (const auto* model : {"gpt2_small@%x8", "resnet50@%"}) {
    const auto made_of = [&](const char* batch) {
      std::string spec = model;
      return zoo::make(spec.replace(spec.find('%'), 1, batch), nn::network_options{.bookkeeping = false});
    };
    const auto step = made_of("1"), other = made_of("2");
    const auto repeated = parallel::repeated_ops(step, other);
    for (const auto sums : {parallel::micro_batch_sums::ops, parallel::micro_batch_sums::in_place}) {
      const auto made = parallel::micro_batched(step, repeated, 2, placement(step.num_ops(), 0), 4, sums);
      std::set<std::string_view> names;
      for (const op_id v : ids(made.graph.num_ops())) {
        REQUIRE_MESSAGE(names.insert(made.graph.name(v)).second, made.graph.name(v));
      }
    }
  }
}

TEST_CASE("micro_batched: in place, gradients of further micro-batches take no memory, and updates wait for all") {
  workload_builder b;
  const auto fed = b.add_op({.bytes = 100, .name = "fed"});
  const auto weights = b.add_op({.bytes = 8, .resident_bytes = 40, .name = "weights", .type = "VariableV2"});
  const auto gradient = b.add_op({.work = 7, .name = "gradients/product", .type = "MatMul"});
  const auto sum = b.add_output(gradient, 40), loss = b.add_output(gradient, 4);
  const auto report = b.add_op({.name = "report"});
  const auto update = b.add_op({.name = "update", .type = "ApplyGradientDescent"});
  b.add_edge(fed, gradient);
  b.add_edge(weights, update);
  b.add_edge(gradient, update, sum);
  b.add_edge(gradient, report, loss);
  const workload step = std::move(b).build();
  std::vector<bool> repeated(step.num_ops(), false);
  repeated[fed] = repeated[gradient] = repeated[report] = true;
  const auto made = parallel::micro_batched(step, repeated, 3, placement(step.num_ops(), 0), 4,
                                            parallel::micro_batch_sums::in_place);
  const auto& g = made.graph;
  std::vector<byte_count> held; // gradients of each micro-batch
  op_id last = none;
  for (const op_id v : ids(g.num_ops())) {
    if (g.name(v).ends_with("/gradients/product")) {
      held.push_back(g.bytes(*g.outputs(v).begin()));
      CHECK(g.bytes(*g.outputs(v).begin() + 1) == 4); // what a micro-batch reads itself stays
      CHECK(g.work(v) == 7);
    }
    last = g.name(v).ends_with("/accumulated") ? v : last;
    CHECK(g.type(v) != "Add");
  }
  CHECK(held == std::vector<byte_count>{40, 0, 0});
  REQUIRE(last != none);
  CHECK(g.inputs(last).size() == 3);
  CHECK(g.work(last) == 0);
  CHECK(g.bytes(*g.outputs(last).begin()) == 40);
  const auto& readers = g.consumers(*g.outputs(last).begin());
  REQUIRE(readers.size() == 1);
  CHECK(g.name(readers[0]) == "update");
}

TEST_CASE("micro_batched: what waits for an update is there once, also if it waits for averages of the batch") {
  const workload step = zoo::make("resnet50_cifar10@2"), other = zoo::make("resnet50_cifar10@4");
  constexpr std::uint32_t count = 3;
  const auto made = parallel::micro_batched(step, other, count, placement(step.num_ops(), 0));
  const auto& g = made.graph;
  std::vector<bool> updated(g.num_ops(), false);
  std::size_t ends = 0;
  for (const op_id v : graph::topological_order(g)) {
    std::vector<bool> averages(count, false);
    for (const tensor_id t : g.inputs(v)) {
      const op_id from = g.producer(t);
      updated[v] = updated[v] || updated[from];
      averages[made.replica[from]] = averages[made.replica[from]] || g.type(from) == "AssignSub";
    }
    if (updated[v]) {
      ++ends;
      CHECK_FALSE(g.name(v).starts_with("micro_"));
      CHECK(averages == std::vector<bool>(count, true)); // those of all micro-batches
    }
    updated[v] = updated[v] || is_update(g, v);
  }
  CHECK(ends == 1);
}

TEST_CASE("repeated_ops: gradients are clipped once, after they are added up") {
  for (const auto& [small, large] : {std::pair{"ptb_lstm@2", "ptb_lstm@4"}, std::pair{"gnmt@2", "gnmt@4"}}) {
    CAPTURE(small);
    const workload step = zoo::make(small), other = zoo::make(large);
    const auto repeated = parallel::repeated_ops(step, other);
    const auto follows = parallel::detail::follows_batch(step, other);
    std::size_t norms = 0, clipped = 0;
    for (const op_id v : ids(step.num_ops())) {
      if (step.name(v).find("clip_by_global_norm") != step.name(v).npos) {
        CHECK_FALSE(repeated[v]);
        norms += step.type(v) == "L2Loss";
        clipped += step.type(v) == "Mul";
      }
      for (const tensor_id t : step.inputs(v)) {
        CHECK((repeated[v] || step.bytes(t) == other.bytes(t))); // what grows is never added up
        CHECK((!repeated[v] || repeated[step.producer(t)] || !follows[step.producer(t)]));
      }
    }
    CHECK(norms > 0);
    CHECK(clipped > norms);
  }
}

TEST_CASE("repeated_ops: what scales a gradient and the examples is of each micro-batch") {
  const auto make = [](byte_count batch) {
    workload_builder b;
    const op_id data = b.add_op({.bytes = 8 * batch, .name = "data"});
    const op_id parameters = b.add_op({.bytes = 8, .resident_bytes = 8, .name = "gamma"});
    const op_id variance = b.add_op({.bytes = 8, .name = "variance"}); // 2: of the batch
    const op_id scale = b.add_op({.bytes = 8, .name = "scale"});       // 3
    const op_id rows = b.add_op({.bytes = 8 * batch, .name = "rows"});
    const op_id sum = b.add_op({.bytes = 8, .name = "gradients/rows_grad/sum"});    // 5
    const op_id mul = b.add_op({.bytes = 8, .name = "gradients/scale_grad/mul"});   // 6: reads the variance
    const op_id clipped = b.add_op({.bytes = 8, .name = "clipped"});                // 7
    const op_id update = b.add_op({.name = "update", .type = "ApplyGradientDescent"});
    const op_id average = b.add_op({.bytes = 8, .name = "average", .type = "AssignSub"}); // 9
    for (const auto& [from, to] : {std::pair{data, variance}, {variance, scale}, {parameters, scale}, {data, rows},
                                   {scale, rows}, {rows, sum}, {sum, mul}, {variance, mul}, {mul, clipped},
                                   {parameters, update}, {clipped, update}, {variance, average}}) {
      b.add_edge(from, to);
    }
    return std::move(b).build();
  };
  const auto repeated = parallel::repeated_ops(make(2), make(4));
  CHECK(repeated == std::vector<bool>{true, false, true, true, true, true, true, false, false, true});
}

TEST_CASE("repeated_ops: gradients are clipped once, also those that are made with the gradient of an input") {
  const auto make = [](byte_count batch) {
    workload_builder b;
    const op_id data = b.add_op({.bytes = 8 * batch, .name = "data"});
    const op_id gamma = b.add_op({.bytes = 8, .resident_bytes = 8, .name = "gamma"});
    const op_id rows = b.add_op({.name = "norm"});
    const auto normed = b.add_output(rows, 8 * batch), statistics = b.add_output(rows, 8);
    const op_id both = b.add_op({.name = "gradients/norm_grad/FusedBatchNormGrad"}); // 3
    const auto of_rows = b.add_output(both, 8 * batch), of_gamma = b.add_output(both, 8);
    const op_id before = b.add_op({.bytes = 8 * batch, .name = "gradients/data_grad"}); // 4
    const op_id norm = b.add_op({.bytes = 4, .name = "clip/L2Loss"});                   // 5
    const op_id clipped = b.add_op({.bytes = 8, .name = "clip/mul"});                   // 6
    const op_id update = b.add_op({.name = "update", .type = "ApplyGradientDescent"});
    const op_id change = b.add_op({.bytes = 8, .name = "moving/sub"}); // 8: of statistics, which are not added up
    const op_id average = b.add_op({.name = "moving/update", .type = "AssignSub"});
    b.add_edge(data, rows);
    b.add_edge(gamma, rows);
    b.add_edge(rows, both, normed);
    b.add_edge(rows, change, statistics);
    b.add_edge(both, before, of_rows);
    b.add_edge(both, norm, of_gamma);
    b.add_edge(both, clipped, of_gamma);
    for (const auto& [from, to] : {std::pair{norm, clipped}, {clipped, update}, {gamma, update}, {change, average}}) {
      b.add_edge(from, to);
    }
    return std::move(b).build();
  };
  const auto repeated = parallel::repeated_ops(make(2), make(4));
  for (const op_id v : {3u, 4u, 8u}) {
    CAPTURE(v);
    CHECK(repeated[v]);
  }
  for (const op_id v : {5u, 6u, 7u}) {
    CAPTURE(v);
    CHECK_FALSE(repeated[v]);
  }
}

/// Two stages of a forward op of 1 s and a backward op of 2 s each, which reads what the forward op made.
workload two_stages(byte_count rows) {
  workload_builder b;
  const auto data = b.add_op({.bytes = rows, .name = "data"});
  op_id from = data, forward[2], weights[2];
  for (const int s : {0, 1}) {
    weights[s] = b.add_op({.bytes = 40, .resident_bytes = 40, .name = "weights"});
    forward[s] = b.add_op({.work = 1, .bytes = rows, .name = "forward"});
    b.add_edge(from, forward[s]);
    b.add_edge(weights[s], forward[s]);
    from = forward[s];
  }
  for (const int s : {1, 0}) {
    const auto backward = b.add_op({.work = 2, .name = "gradients/backward"});
    const auto of_rows = b.add_output(backward, rows), of_weights = b.add_output(backward, 40);
    const auto update = b.add_op({.name = "update", .type = "ApplyGradientDescent"});
    b.add_edge(from, backward);
    if (from != forward[s]) {
      b.add_edge(forward[s], backward);
    }
    b.add_edge(backward, update, of_weights);
    b.add_edge(weights[s], update);
    static_cast<void>(of_rows);
    from = backward;
  }
  return std::move(b).build();
}

TEST_CASE("micro_batched: stages in the order of GPipe take its time") {
  const workload step = two_stages(8), other = two_stages(16);
  const placement where{0, 0, 0, 1, 1, 1, 1, 0, 0};
  REQUIRE(where.size() == step.num_ops());
  const auto one = parallel::micro_batched(step, other, 1, where);
  CHECK(one.graph.num_ops() == step.num_ops());
  CHECK(one.graph.num_edges() == step.num_edges());
  const platform machine{{{.speed = 1}, {.speed = 1}}, uniform_links{}};
  for (std::uint32_t count = 1; count <= 6; ++count) {
    const auto made = parallel::micro_batched(step, other, count, where, 1e9);
    const problem p{made.graph, machine};
    plan x{.placement = made.where}; // forward ops, micro-batch by micro-batch, then backward ones, then updates
    std::vector<int> phase(made.graph.num_ops(), 0);
    for (const op_id v : graph::topological_order(made.graph)) {
      const auto name = made.graph.name(v);
      phase[v] = is_update(made.graph, v) ? 2 : name.find("gradients/") != name.npos ? 1 : 0;
      x.order.push_back({v});
    }
    std::stable_sort(x.order.begin(), x.order.end(), [&](const auto& a, const auto& b) {
      return std::pair{phase[a.op], made.replica[a.op]} < std::pair{phase[b.op], made.replica[b.op]};
    });
    trace run;
    simulator{p, schedule::static_order{}}.run(x, simulate::recorder{run});
    CHECK(validate(p, made.where, run).empty());
    CHECK(run.makespan == doctest::Approx(3.0 * (count + 1)).epsilon(1e-6));
  }
}

TEST_CASE("micro_batched: copies keep the slots of ops, and the memory of results") {
  const workload step = test::marked(zoo::make("mnist_conv@2"));
  const auto made = parallel::micro_batched(step, zoo::make("mnist_conv@4"), 2, placement(step.num_ops(), 0));
  test::check_marks(made.graph, made.origin, step);
}

TEST_CASE("micro_batched: refuses what does not fit together") {
  const workload step = zoo::make("mnist_conv@2"), other = zoo::make("mnist_conv@4"), another = zoo::make("lstm@2");
  const placement where(step.num_ops(), 0);
  CHECK_THROWS_AS(parallel::micro_batched(step, other, 0, where), value_error);
  CHECK_THROWS_AS(parallel::micro_batched(step, other, 2, placement{0}), value_error);
  CHECK_THROWS_AS(parallel::micro_batched(step, another, 2, where), value_error);
}

} // namespace micro_batches_test
