// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/layer_split.hpp"

#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/first_device.hpp"
#include "weft/validate/placement.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace partition_layer_split_test {

using namespace weft;

static_assert(partitioner_for<partition::layer_split, test::drawn_problem>);
static_assert(partitioner_for<partition::first_device, test::drawn_problem>);

TEST_CASE("layer_split: what names say") {
  CHECK(op_name{"encoder/layer_3/attention/query/MatMul"}.layer(true) == "encoder/layer_3");
  CHECK(op_name{"encoder/layer_3/ffn_1/MatMul"}.layer(false) == "encoder/layer_3/ffn_1");
  CHECK(op_name{"model.layers.7.mlp.up"}.layer(true) == "model.layers.7");
  CHECK(op_name{"MatMul_3"}.layer(true).empty()); // an op's own number
  CHECK(op_name{"head/MatMul_3"}.layer(true).empty());
  CHECK(op_name{""}.layer(true).empty());
  const op_name g{"gradients/h12/dense/MatMul_grad/MatMul_1"};
  CHECK(g.is_gradient);
  CHECK(g.layer(true) == "h12");
  CHECK(g.origin() == "h12/dense/MatMul");
  CHECK(op_name{"gradients_1/h12/x_grad/y"}.origin() == "h12/x");
  CHECK_FALSE(op_name{"gradients_of/h12/x_grad/y"}.is_gradient);
  CHECK(op_name{"h12/x_grad/y"}.origin().empty());
  CHECK(op_name{"gradients/h12/x/input"}.origin_of_part() == "h12/x");
  CHECK(op_name{"gradients/h12/x/weights/AddN"}.origin_of_part() == "h12/x");
  CHECK(op_name{"gradients/AddN"}.origin_of_part().empty());
  CHECK(op_name{"h12/x/input"}.origin_of_part().empty());
}

TEST_CASE("op_name: copies and parts of an op are called after it") {
  for (const char* copy : {"", "tensor_1/", "micro_12/", "data_0/", "data_1/micro_0/tensor_2/"}) {
    CAPTURE(copy);
    const auto name = std::string{copy} + "gradients/h12/dense/MatMul_grad/MatMul_1";
    const op_name g{name};
    CHECK(g.copy == copy);
    CHECK(g.is_gradient);
    CHECK(g.scope == "h12/dense/MatMul_grad/MatMul_1");
    CHECK(g.layer(true) == "h12");
    CHECK(g.origin() == "h12/dense/MatMul");
  }
  for (const char* name : {"tensor_x/a", "tensor_/a", "tensor_1", "tensors_1/a", "micro_batch_1/a", "a/data_1/b"}) {
    CHECK(op_name{name}.scope == name);
    CHECK(op_name{name}.copy.empty());
  }
}

/// Adds ops of one size by name and inputs.
auto adding_to(workload_builder& b) {
  return [&b](const std::string& name, std::initializer_list<op_id> inputs) {
    const op_id v = b.add_op({.work = 1, .bytes = 4, .name = name});
    for (const op_id u : inputs) {
      b.add_edge(u, v);
    }
    return v;
  };
}

/// Layers 0 … count - 1 of a weight and an op, between an embedding and a head, with the backward pass and updates.
workload training(int count, const std::string& layer = "net/layer_") {
  workload_builder b;
  const auto op = adding_to(b);
  std::vector<op_id> weight;
  const op_id table = op("embedding/table", {});
  for (int k = count; k-- > 0;) { // in the order of no layer
    weight.insert(weight.begin(), op(layer + std::to_string(k) + "/weight", {}));
  }
  std::vector<op_id> out{op("embedding/lookup", {table})};
  for (int k = 0; k < count; ++k) {
    out.push_back(op(layer + std::to_string(k) + "/matmul",
                     {out.back(), weight[static_cast<std::size_t>(k)]}));
  }
  const op_id loss = op("loss", {out.back()});
  op_id g = op("gradients/ones", {});
  g = op("gradients/loss_grad/tile", {g}); // before the loss in some topological orders
  g = op("gradients/loss_grad/x", {g, loss});
  for (int k = count; k-- > 0;) {
    const std::string at = "gradients/" + layer + std::to_string(k) + "/matmul_grad/";
    const op_id dw = op(at + "w", {g, out[static_cast<std::size_t>(k)]});
    g = op(at + "x", {g, weight[static_cast<std::size_t>(k)]});
    b.colocate(weight[static_cast<std::size_t>(k)], op("sgd/update_" + std::to_string(k) + "/apply", {dw}));
  }
  op("gradients/embedding/lookup_grad/x", {g});
  return std::move(b).build();
}

device_id device_of(const workload& w, const placement& where, const std::string& name) {
  for (const op_id v : ids(w.num_ops())) {
    if (w.name(v) == name) {
      return where[v];
    }
  }
  return none;
}

TEST_CASE("layer_split: blocks of layers, gradients and updates with them, embeddings first, the loss last") {
  const auto w = training(7);
  std::vector<device> devices(4, {.kind = device_kind::gpu});
  devices[0].kind = device_kind::cpu;
  const platform<uniform_links> q{devices, {}};
  const auto where = test::place(partition::layer_split{}, problem{w, q});
  REQUIRE(where.size() == w.num_ops());
  const device_id expected[] = {1, 1, 1, 2, 2, 3, 3}; // 3 + 2 + 2 layers on three gpus
  for (int k = 0; k < 7; ++k) {
    CAPTURE(k);
    const auto layer = "net/layer_" + std::to_string(k);
    const device_id d = expected[k];
    CHECK(device_of(w, where, layer + "/weight") == d);
    CHECK(device_of(w, where, layer + "/matmul") == d);
    CHECK(device_of(w, where, "gradients/" + layer + "/matmul_grad/w") == d);
    CHECK(device_of(w, where, "gradients/" + layer + "/matmul_grad/x") == d);
    CHECK(device_of(w, where, "sgd/update_" + std::to_string(k) + "/apply") == d);
  }
  for (const char* first : {"embedding/table", "embedding/lookup", "gradients/embedding/lookup_grad/x"}) {
    CHECK(device_of(w, where, first) == 1);
  }
  for (const char* last : {"loss", "gradients/loss_grad/x", "gradients/loss_grad/tile", "gradients/ones"}) {
    CHECK(device_of(w, where, last) == 3);
  }
  const auto one = test::place(partition::first_device{}, problem{w, q});
  CHECK(one == placement(w.num_ops(), 1));
}

TEST_CASE("layer_split: inner scopes if the outer ones are too few, equal work without names") {
  const auto w = training(8, "net_1/layer_");
  const platform<uniform_links> q{std::vector<device>(8), {}};
  const auto where = test::place(partition::layer_split{}, problem{w, q});
  for (device_id k = 0; k < 8; ++k) {
    CHECK(device_of(w, where, "net_1/layer_" + std::to_string(k) + "/matmul") == k);
  }
  const auto chain = test::ops_of({2, 2, 2, 2, 2, 2}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}).build();
  const platform<uniform_links> three{std::vector<device>(3), {}};
  CHECK(test::place(partition::layer_split{}, problem{chain, three}) == placement{0, 0, 1, 1, 2, 2});
}

TEST_CASE("layer_split: the first of a kind counts as a layer although it has no number") {
  weft::numbering<std::string_view> firsts;
  for (const char* name : {"conv2d/Conv", "conv2d_1/Conv", "dense/MatMul", "dense_1/MatMul", "loss/Mean", "h_2x/y"}) {
    op_name{name}.add_firsts(firsts);
  }
  CHECK(std::vector<std::string_view>(firsts.begin(), firsts.end()) ==
        std::vector<std::string_view>{"conv2d", "dense"});
  CHECK(op_name{"conv2d/Conv"}.layer(true, firsts) == "conv2d");
  CHECK(op_name{"loss/Mean"}.layer(true, firsts).empty());

  workload_builder b;
  const auto op = adding_to(b);
  op("dense_1/MatMul", {op("dense/MatMul", {op("conv2d_1/Conv", {op("conv2d/Conv", {})})})});
  const auto chain = std::move(b).build();
  const platform<uniform_links> two{std::vector<device>(2), {}};
  CHECK(test::place(partition::layer_split{}, problem{chain, two}) == placement{0, 0, 1, 1});
}

TEST_CASE("layer_split: what is made from nothing has no place of its own") {
  // Ten convolutions in a row, each grouped with the op that makes its weights; these ops come first, in the order of
  // their names, as files have them.
  for (const bool layers : {false, true}) {
    CAPTURE(layers);
    const auto name = [&](std::size_t k, const char* op) {
      return (layers ? "conv" + std::to_string(k) + "/" : std::string{}) + op + std::to_string(k);
    };
    workload_builder b;
    std::vector<op_id> weight(10);
    for (const std::size_t k : {0u, 1u, 9u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
      weight[k] = b.add_op({.work = 0, .bytes = 0, .name = name(k, "weight")});
    }
    op_id before = none;
    for (std::size_t k = 0; k < 10; ++k) {
      const op_id conv = b.add_op({.work = 1, .bytes = 4, .name = "n" + std::to_string(2 * k)});
      const op_id relu = b.add_op({.work = 0.5, .bytes = 4, .name = "n" + std::to_string(2 * k + 1)});
      b.add_edge(weight[k], conv);
      b.colocate(weight[k], conv);
      b.add_edge(conv, relu);
      if (before != none) {
        b.add_edge(before, conv);
      }
      before = relu;
    }
    const auto w = std::move(b).build();
    const auto q = test::equal_devices(2);
    const problem p{w, q};
    CHECK(partition::layer_split::finds_layers(p) == layers);
    const auto where = test::place(partition::layer_split{}, p);
    for (std::size_t k = 0; k < 10; ++k) {
      CAPTURE(k);
      const device_id d = k < 5 ? 0 : 1; // by hand
      CHECK(where[weight[k]] == d);
      CHECK(device_of(w, where, "n" + std::to_string(2 * k)) == d);
      CHECK(device_of(w, where, "n" + std::to_string(2 * k + 1)) == d);
    }
  }
}

TEST_CASE("layer_split: variables that are read by way of another op, updates by way of the norm of all gradients") {
  workload_builder b;
  const auto op = adding_to(b);
  std::vector<op_id> variable, read, out;
  for (const char* name : {"table", "layer_3/w", "layer_2/w", "layer_1/w"}) { // the last layers first
    variable.push_back(op(name, {}));
    read.push_back(op(std::string{name} + "/read", {variable.back()}));
  }
  out = {op("lookup", {read[0]})};
  for (std::size_t k = 1; k <= 3; ++k) {
    out.push_back(op("layer_" + std::to_string(k) + "/matmul", {out.back(), read[4 - k]}));
  }
  op_id g = op("gradients/ones", {out.back()});
  std::vector<op_id> change;
  for (std::size_t k = 3; k >= 1; --k) {
    const auto at = "gradients/layer_" + std::to_string(k) + "/matmul_grad/";
    change.push_back(op(at + "w", {g, out[k - 1]}));
    g = op(at + "x", {g});
  }
  change.insert(change.begin(), op("gradients/lookup_grad/x", {g}));
  const op_id norm = op("global_norm", {change[0], change[1], change[2], change[3]});
  for (std::size_t i = 0; i < 4; ++i) {
    const op_id clipped = op("clip_" + std::to_string(i), {change[i], norm});
    b.colocate(variable[i], op("train/update_" + std::to_string(i) + "/apply", {clipped}));
  }
  const auto w = std::move(b).build();
  const auto q = test::equal_devices(3);
  const auto where = test::place(partition::layer_split{}, problem{w, q});
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const device_id d = i == 0 ? 0 : static_cast<device_id>(3 - i);
    CHECK(where[variable[i]] == d);
    CHECK(where[read[i]] == d);
    CHECK(where[change[i]] == d);
    CHECK(device_of(w, where, "train/update_" + std::to_string(i) + "/apply") == d);
  }
  CHECK(where[out[0]] == 0);
  for (device_id k = 1; k <= 3; ++k) {
    CHECK(where[out[k]] == k - 1);
  }
}

TEST_CASE("layer_split, first_device: kinds and groups, whatever memory there is") {
  rng random{5};
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const test::drawn s{random};
    const auto wrong = [&](const placement& where) { return validate(s.p, where, memory_rule::over_time).size(); };
    const auto split = test::place(partition::layer_split{}, s.p);
    const auto one = test::place(partition::first_device{}, s.p);
    if (!split.empty()) {
      CHECK(wrong(split) == 0);
      CHECK(wrong(one) == 0);
    }
    CHECK(split.empty() == one.empty());
  }
  workload_builder b;
  b.add_op({.work = 1, .kinds = device_kind::tpu});
  const auto w = std::move(b).build();
  const platform<uniform_links> q{std::vector<device>(2), {}};
  const problem p{w, q};
  CHECK(partition::layer_split{}(p).error().cause == infeasibility::kind::no_device_of_kind);
  CHECK(partition::first_device{}(p).error().cause == infeasibility::kind::no_device_of_kind);
}

} // namespace partition_layer_split_test
