// SPDX-License-Identifier: BSL-1.0
#include "parallel/built_net.hpp"
#include "weft/core/random.hpp"
#include "weft/model/graph_of_network.hpp"
#include "weft/model/lower.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/nn/attention.hpp"
#include "weft/workload/nn/layers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace split_step_test {

using namespace weft;
using namespace weft::test;
using parallel::resharding;

constexpr std::uint32_t ranks = 4;
constexpr std::uint64_t width = 64;

/// A training step of a forward graph, and the ops of the graph that its forward ops are.
struct step_of_graph {
  model_graph graph;
  std::vector<op_id> origin;
  expanded_step step;

  step_of_graph(model_graph g, const workload& forward, std::vector<op_id> from, const step_options& how)
      : graph{std::move(g)}, origin{std::move(from)}, step{training_step_with_origins(forward, how)} {
    step.graph = with_shared_memory(step.graph, false);
  }
  parallel::split_model model() const { return parallel::make_split_model(graph, step.graph, origin, &step.from); }
};

step_of_graph step_of(const nn::network& net, const nn::tensor& y, const step_options& how) {
  const auto built = net.build_with_origins(std::vector{y.op()});
  return {graph_of(net), built.graph, built.origin, how};
}

/// Blocks of two products whose weights no op makes, as files have them: ops hold them.
step_of_graph held_blocks(std::size_t blocks, std::int64_t rows, const step_options& how) {
  constexpr auto w = static_cast<std::int64_t>(width);
  model_graph g;
  auto x = g.add_tensor({.dims = {rows, w}, .role = tensor_role::input});
  const auto multiply = [&](tensor_id from, const std::string& name, std::int64_t in, std::int64_t out) {
    const auto weights = g.add_tensor({.dims = {in, out}, .role = tensor_role::parameter, .name = name + "/weights"});
    const auto v = g.add_op(
      {.type = "MatMul", .name = name, .inputs = {from, weights}, .texts = {{"axes", "mk,kn->mn"}}},
      {{.dims = {rows, out}}});
    return *g.outputs(v).begin();
  };
  const auto add = [&](model_graph::op o, std::int64_t columns) {
    return *g.outputs(g.add_op(std::move(o), {{.dims = {rows, columns}}})).begin();
  };
  x = multiply(x, "embed", w, w);
  for (std::size_t k = 0; k < blocks; ++k) {
    const auto name = "block_" + std::to_string(k) + "/";
    auto y = multiply(x, name + "in", w, 4 * w);
    y = add({.type = "Relu", .name = name + "relu", .inputs = {y}}, 4 * w);
    y = multiply(y, name + "out", 4 * w, w);
    x = add({.type = "Add", .name = name + "add", .inputs = {x, y}}, w);
  }
  auto lowered = lower(g);
  std::vector<op_id> all(g.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  return {std::move(g), lowered.graph, std::move(all), how};
}

byte_count resident(const workload& w) {
  byte_count all = 0;
  for (const op_id v : ids(w.num_ops())) {
    all += w.resident_bytes(v);
  }
  return all;
}

/// Simulates the step in parts and returns what a rank holds at the worst moment.
byte_count peak_of(const parallel::split_workload& made) {
  const workload run_as = with_shared_memory(made.graph, false);
  const platform machine{std::vector<device>(ranks, device{.kind = device_kind::gpu, .speed = 1e12}),
                         uniform_links{{.bandwidth = 1e11}}};
  const auto free = run_as.with_kinds(std::vector<kind_set>(run_as.num_ops(), kind_set::all()));
  const problem p{free, machine};
  trace run;
  simulator{p, schedule::path_completion_time{}}.run(plan{.placement = made.where}, simulate::recorder{run});
  CHECK(validate(p, made.where, run).empty());
  const auto peaks = peak_memory_of(p, made.where, run);
  return *std::max_element(peaks.begin(), peaks.end());
}

TEST_CASE("split_step: a step of products that hold their weights is split as by Megatron") {
  constexpr std::size_t blocks = 3;
  for (const optimizer rule : {optimizer::sgd, optimizer::adam}) {
    const auto s = held_blocks(blocks, 1, {.rule = rule}); // one row: there are no rows to split
    const auto& w = s.step.graph;
    const auto m = s.model();
    auto costs = costs_of(w, ranks, 1e9);
    const auto weights = resident(w) / (rule == optimizer::adam ? 3 : 1);
    costs.capacity = (resident(w) + weights) * 23 / 20 / ranks; // with gradients, in parts only
    const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 5000}});
    REQUIRE(chosen.found);
    const auto made = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, ranks));
    for (const op_id v : ids(w.num_ops())) {
      CAPTURE(w.name(v));
      if (s.step.from.role[v] == step_role::update && w.name(v).find("block") != std::string_view::npos) {
        CHECK(parallel::chosen_splits::in_parts(chosen.axis[v])); // with the weights
        CHECK(chosen.axis[v] == chosen.axis[s.step.from.holder[v]]);
      }
    }
    double sent = chosen.seconds;
    for (const op_id v : ids(w.num_ops())) {
      sent -= costs.op(v, chosen.axis[v]);
    }
    // An all-reduce of a row in the forward pass of a block and one in its backward pass, or less.
    CHECK(sent <= 1.05 * 2 * blocks * costs.transfer(resharding::all_reduce, 4 * width) + 1e-8);
    CHECK(sent > 0);
    CHECK(peak_of(made) <= costs.capacity);
    CHECK(resident(made.graph) <= resident(w) * 23 / 20);
  }
}

TEST_CASE("split_step: rows in parts, and gradients of weights are summed up") {
  const auto s = held_blocks(1, 64, {.rule = optimizer::sgd});
  const auto& w = s.step.graph;
  const auto m = s.model();
  std::vector<std::uint32_t> axis(w.num_ops(), 0); // m of a product, rows of what goes element by element
  for (const op_id v : ids(w.num_ops())) {
    axis[v] = s.step.from.role[v] == step_role::update ? std::uint32_t{none} : axis[v];
  }
  const auto made = parallel::tensor_parallel(m, axis, on_ranks(w, ranks));
  CHECK(made.reshardings == std::map<resharding, std::size_t>{{resharding::all_reduce, 3 + 1}}); // and of the loss
  double work = 0;
  for (const op_id v : ids(made.graph.num_ops())) {
    work += made.origin[v] != none && s.step.from.role[made.origin[v]] != step_role::update ? made.graph.work(v) : 0;
  }
  double whole = 0;
  for (const op_id v : ids(w.num_ops())) {
    whole += s.step.from.role[v] != step_role::update ? w.work(v) : 0;
  }
  CHECK(work == doctest::Approx(whole));
}

TEST_CASE("split_step: what reads or changes weights has the parts of them that are there") {
  const auto s = held_blocks(1, 64, {.rule = optimizer::sgd});
  const auto& w = s.step.graph;
  const auto m = s.model();
  const std::vector<std::uint32_t> axis(w.num_ops(), none);
  CHECK_NOTHROW(parallel::tensor_parallel(m, axis, on_ranks(w, ranks)));
  for (const auto& x : m.uses) {
    const bool is_update = s.step.from.role[x.user] == step_role::update;
    CHECK(x.changes == is_update);
    CHECK((is_update || w.name(x.user).ends_with("/input")));
    for (const std::uint32_t of_weights : {1u, 2u}) { // k, n
      auto other = axis;
      other[x.holder] = of_weights;
      CHECK_THROWS_AS(parallel::tensor_parallel(m, other, on_ranks(w, ranks)), value_error);
      CHECK(x.is_met(of_weights, of_weights));
      CHECK(!x.is_met(of_weights, 3 - of_weights));
      CHECK(x.is_met(none, of_weights) == !is_update); // a part of what is there
    }
    CHECK(x.is_met(0, none)); // rows of a product need all weights
    CHECK(x.is_met(none, none));
  }
  CHECK(m.uses.size() == 3 + 2); // updates, and gradients of what products read but for the first
}

TEST_CASE("split_step: embeddings that are read twice, in two forms, are in parts for both") {
  constexpr std::int64_t words = 1024, width_of_words = 64;
  model_graph g;
  const auto table = g.add_tensor({.dims = {words, width_of_words}, .role = tensor_role::parameter, .name = "table"});
  const auto numbers = g.add_tensor({.dims = {1}, .element = ops::elements::int64, .role = tensor_role::input});
  const auto made_by = [&](model_graph::op o, ops::call::extents dims) {
    return *g.outputs(g.add_op(std::move(o), {{.dims = std::move(dims)}})).begin();
  };
  const auto row = made_by({.type = "aten.embedding", .name = "row", .inputs = {table, numbers}}, {1, width_of_words});
  const auto turned =
    made_by({.type = "aten.t", .name = "turned", .inputs = {table}, .form = storage_form::view},
            {width_of_words, words});
  (void)made_by({.type = "aten.mm", .name = "logits", .inputs = {row, turned}}, {1, words});
  const auto lowered = lower(g);
  const std::vector<op_id> all{0, 1, 2};
  const auto m = parallel::make_split_model(g, lowered.graph, all);
  REQUIRE(m.uses.size() == 1);
  const auto& x = m.uses.front();
  CHECK(x.holder == 0);
  CHECK(x.user == 2);
  CHECK(x.parts == std::vector<std::uint32_t>{0, none, 1}); // words, the one row, width
  CHECK(x.needed == std::vector<std::uint32_t>{none, 1, 0}); // rows, width, words
  CHECK(m.axes[0].resident_parts == std::vector<byte_count>{4 * words * width_of_words, 0, 4 * words * width_of_words});
  auto costs = costs_of(lowered.graph, ranks, 1e9);
  costs.capacity = 4 * words * width_of_words / 2;
  const auto chosen = parallel::choose_splits(m, ranks, costs);
  REQUIRE(chosen.found);
  CHECK(x.is_met(chosen.axis[0], chosen.axis[2]));
  CHECK(parallel::chosen_splits::in_parts(chosen.axis[0]));
}

TEST_CASE("split_step: what graphs inside of an op read, and forms with absent inputs") {
  model_graph g;
  const auto w = g.add_tensor({.dims = {64, 256}, .role = tensor_role::parameter, .name = "w"});
  const auto x = g.add_tensor({.dims = {8, 64}, .role = tensor_role::input});
  const auto part = g.add_op({.type = "aten.slice", .name = "part", .inputs = {none, w}, .form = storage_form::view},
                             {{.dims = {64, 256}}});
  (void)g.add_op({.type = "aten.mm", .name = "y", .inputs = {x, *g.outputs(part).begin()}}, {{.dims = {8, 256}}});
  bool captures = false;
  SUBCASE("weights of one product") {}
  SUBCASE("and of an op with graphs inside") { captures = true; }
  if (captures) {
    (void)g.add_op({.type = "if", .name = "either", .inputs = {x}, .captured = {w}}, {{.dims = {8, 256}}});
  }
  const auto lowered = lower(g);
  std::vector<op_id> all(g.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  const auto m = parallel::make_split_model(g, lowered.graph, all);
  REQUIRE(m.axes[1].extents == std::vector<std::uint64_t>{8, 64, 256});
  CHECK(m.axes[1].resident_parts[0] == 0); // rows need all weights
  CHECK(m.uses.size() == (captures ? 1 : 0));
  if (captures) {
    CHECK(m.uses[0].holder == 1);
    CHECK(m.uses[0].needed.empty()); // all of them
    CHECK(!m.uses[0].is_met(1, none) == (m.uses[0].parts[1] != none));
  }
}

TEST_CASE("split_step: what takes the place of a parameter is made in its parts, not in terms of a sum") {
  model_graph g;
  const auto state = g.add_tensor({.dims = {64, 256}, .role = tensor_role::state, .name = "state"});
  const auto x = g.add_tensor({.dims = {64, 8}, .role = tensor_role::input});
  const auto y = g.add_tensor({.dims = {8, 256}, .role = tensor_role::input});
  (void)g.add_op({.type = "aten.relu", .name = "read", .inputs = {state}}, {{.dims = {64, 256}}});
  const auto made = g.add_op({.type = "aten.mm", .name = "new", .inputs = {x, y}}, {{.dims = {64, 256}}});
  g.replace(state, *g.outputs(made).begin());
  const auto lowered = lower(g);
  const auto m = parallel::make_split_model(g, lowered.graph, std::vector<op_id>{0, 1});
  CHECK(m.axes[1].extents == std::vector<std::uint64_t>{64, 1, 256}); // not along what is summed up
  REQUIRE(m.uses.size() == 1);
  CHECK(m.uses[0].changes);
  CHECK(m.uses[0].is_met(0, 0));
  CHECK(m.uses[0].is_met(1, 2));
  CHECK(!m.uses[0].is_met(none, 2));
}

TEST_CASE("split_step: a step of a network with variables has splits that fit where its parameters fit in parts only") {
  nn::network net{{.bookkeeping = false, .training = false}};
  auto x = net.input_pipeline({{{1, width}}})[0];
  for (const char* name : {"block_0", "block_1"}) {
    const auto scope = net.scope(name);
    x = x + nn::attention("attention", x, x, 1, {.heads = 8, .head_size = 8, .dropout = false});
    x = x + nn::dense("out", nn::gelu(nn::dense("in", x, 4 * width)), width);
  }
  const auto s = step_of(net, x, {.rule = optimizer::adam});
  const auto& w = s.step.graph;
  const auto m = s.model();
  CHECK(!m.uses.empty());
  for (const auto& use : m.uses) { // an update, in the parts of its variable
    CHECK(use.changes);
    CHECK(m.is_parameter[use.holder]);
    CHECK(use.is_met(0, 0));
    CHECK(!use.is_met(0, none));
  }
  auto costs = costs_of(w, ranks, 1e9);
  costs.capacity = resident(w) * 4 / 3 * 23 / 20 / ranks;
  const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 5000}});
  REQUIRE(chosen.found);
  CHECK(peak_of(parallel::tensor_parallel(m, chosen.axis, on_ranks(w, ranks))) <= costs.capacity * 21 / 20);
}

TEST_CASE("split_step: whatever the costs, the splits of steps of bundled networks can be run") {
  for (const char* spec : {"gpt2_small@8:inference", "resnet50@8:inference", "mnist_conv@8:inference"}) {
    const built_net n{spec};
    for (const std::uint64_t seed : {1u, 2u}) {
      const step_of_graph s{graph_of(*n.net), n.built.graph, n.built.origin,
                            {.rule = seed == 1 ? optimizer::adam : optimizer::momentum}};
      const auto& w = s.step.graph;
      const auto m = s.model();
      auto costs = costs_of(w, ranks, 1e10);
      costs.op = [&, whole = costs.op](op_id v, std::uint32_t axis) {
        rng noise{seed + std::uint64_t{1000} * v + axis};
        return whole(v, axis) * (1 + noise.uniform()) + 1e-9 * noise.uniform();
      };
      const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 20}});
      CAPTURE(spec);
      REQUIRE(chosen.found);
      const auto made = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, ranks));
      CHECK(made.graph.num_ops() >= ranks * w.num_ops());
      std::size_t in_parts = 0, gradients = 0;
      for (const op_id v : ids(w.num_ops())) {
        const bool counts = s.step.from.role[v] != step_role::forward && w.work(v) > 0;
        gradients += counts;
        in_parts += counts && m.is_splittable(v);
      }
      CHECK(in_parts > gradients * 8 / 10);
    }
  }
}

} // namespace split_step_test
