// SPDX-License-Identifier: BSL-1.0
#include "weft/model/lower.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace model_lower_test {

using namespace weft;
using elements = model_graph::extents;

model_graph::tensor of(elements dims, tensor_role role = tensor_role::computed, std::string name = {}) {
  return {.dims = std::move(dims), .role = role, .name = std::move(name)};
}

// [layer]
/// Two layers, the second of which has the weights of the first.
weft::workload two_layers() {
  weft::model_graph g;
  const auto x = g.add_tensor({.dims = {32, 512}, .role = weft::tensor_role::input});
  const auto w = g.add_tensor({.dims = {512, 512}, .role = weft::tensor_role::parameter, .name = "w"});
  const auto first = g.add_op({.type = "MatMul", .name = "first", .inputs = {x, w}}, {{.dims = {32, 512}}});
  const auto y = *g.outputs(first).begin();
  g.add_op({.type = "MatMul", .name = "second", .inputs = {y, w}}, {{.dims = {32, 512}}});
  return weft::lower(g).graph; // with FLOP by the catalogue
}
// [layer]

TEST_CASE("model graph: weights are where their first reader is, with all readers") {
  const auto made = two_layers();
  CHECK(made.work(0) == 2.0 * 32 * 512 * 512);
  CHECK(made.resident_bytes(0) == 512 * 512 * 4);
  CHECK(made.resident_bytes(1) == 0);
  CHECK(made.group(0) == made.group(1));
}

TEST_CASE("model graph: a layer becomes a workload") {
  model_graph g;
  const auto x = g.add_tensor(of({32, 784}, tensor_role::input));
  const auto w = g.add_tensor(of({784, 10}, tensor_role::parameter, "w"));
  const op_id product = g.add_op({.type = "MatMul", .name = "product", .inputs = {x, w}}, {of({32, 10})});
  const tensor_id y = *g.outputs(product).begin();
  const op_id relu = g.add_op({.type = "Relu", .name = "relu", .inputs = {y, none}}, {of({32, 10})});
  CHECK(g.num_ops() == 2);
  CHECK(g.producer(y) == product);
  CHECK(g.producer(w) == none);
  CHECK(g.bytes(w) == 784 * 10 * 4);
  CHECK(g.name(w) == "w");

  const auto made = lower(g);
  CHECK(made.graph.num_ops() == 2);
  CHECK(made.graph.work(product) == 2.0 * 32 * 784 * 10);
  CHECK(made.graph.work(relu) == 320);
  CHECK(made.graph.resident_bytes(product) == 784 * 10 * 4);
  CHECK(made.graph.bytes(made.graph.outputs(product).front()) == 32 * 10 * 4);
  CHECK(made.graph.inputs(relu).size() == 1);
  CHECK(made.unknown.empty());
  CHECK(made.num_unread == 0);
}

TEST_CASE("model graph: outputs of an op stay together, whatever is added between") {
  model_graph g;
  const auto x = g.add_tensor(of({4}, tensor_role::input));
  const op_id split = g.add_op({.type = "Split", .inputs = {x}}, {of({2}), of({2})});
  const auto c = g.add_tensor(of({2}, tensor_role::constant));
  const op_id add = g.add_op({.type = "Add", .inputs = {*g.outputs(split).begin(), c}}, {of({2})});
  CHECK(g.outputs(split).size() == 2);
  CHECK(g.outputs(add).size() == 1);
  CHECK(g.storage(c) == c);
}

TEST_CASE("model graph: what shows a parameter does no work where its reader is") {
  model_graph g;
  const auto x = g.add_tensor(of({8, 2000}, tensor_role::input));
  const auto w = g.add_tensor(of({10, 2000}, tensor_role::parameter));
  const op_id t = g.add_op({.type = "aten.t", .inputs = {w}, .form = storage_form::view}, {of({2000, 10})});
  const op_id mm = g.add_op({.type = "aten.mm", .inputs = {x, *g.outputs(t).begin()}}, {of({8, 10})});
  CHECK(g.storage(*g.outputs(t).begin()) == w);
  const auto made = lower(g).graph;
  CHECK(made.work(t) == 0);
  CHECK(made.resident_bytes(t) == 0);
  CHECK(made.resident_bytes(mm) == 10 * 2000 * 4);
  CHECK(made.bytes(made.outputs(t).front()) == 0);
  CHECK(made.group(t) == made.group(mm));
}

TEST_CASE("model graph: what is written is written after it was read, and read after that") {
  model_graph g;
  const auto x = g.add_tensor(of({8}, tensor_role::input));
  const auto tensor = [&](op_id v) { return *g.outputs(v).begin(); };
  const op_id a = g.add_op({.type = "aten.relu", .inputs = {x}}, {of({8})});
  const op_id view = g.add_op({.type = "aten.view", .inputs = {tensor(a)}, .form = storage_form::view}, {of({2, 4})});
  const op_id reads = g.add_op({.type = "aten.exp", .inputs = {tensor(a)}}, {of({8})});
  const op_id writes = g.add_op({.type = "aten.add_", .inputs = {tensor(a)}, .form = storage_form::writes}, {of({8})});
  const op_id later = g.add_op({.type = "aten.exp", .inputs = {tensor(view)}}, {of({2, 4})});
  const auto made = lower(g).graph;
  const auto waits_for = [&](op_id v, op_id before) {
    for (const tensor_id t : made.inputs(v)) {
      if (made.producer(t) == before) {
        return true;
      }
    }
    return false;
  };
  CHECK(waits_for(writes, reads));
  CHECK(waits_for(writes, view));
  CHECK(waits_for(later, writes));
  CHECK_FALSE(waits_for(later, reads));
}

TEST_CASE("model graph: a state is where it is replaced, and what nobody reads is nowhere") {
  model_graph g;
  const auto x = g.add_tensor(of({2000}, tensor_role::input));
  const auto state = g.add_tensor(of({2000}, tensor_role::state));
  (void)g.add_tensor(of({7}, tensor_role::parameter));
  const op_id v = g.add_op({.type = "Relu", .inputs = {x}}, {of({2000})});
  g.replace(state, *g.outputs(v).begin());
  const auto made = lower(g);
  CHECK(made.graph.resident_bytes(v) == 8000);
  CHECK(made.num_unread == 1);
}

TEST_CASE("model graph: work that nobody knows is guessed and named") {
  model_graph g;
  const auto x = g.add_tensor(of({10}, tensor_role::input));
  const op_id known = g.add_op({.type = "my.op", .inputs = {x}, .work = 5}, {of({10})});
  const op_id guessed = g.add_op({.type = "my.op", .inputs = {x}, .after = {known}}, {of({10})});
  const auto made = lower(g, {.unknown_flop_per_element = 7});
  CHECK(made.graph.work(known) == 5);
  CHECK(made.graph.work(guessed) == 70);
  CHECK(made.unknown == std::vector<op_id>{guessed});
  CHECK(made.graph.inputs(guessed).size() == 1); // it waits
}

TEST_CASE("model graph: what cannot be is refused, and changes nothing") {
  model_graph g;
  CHECK_THROWS_WITH_AS(g.add_tensor({.name = "y"}), "tensor 'y': no op makes it; give it a role other than computed",
                       value_error);
  CHECK_THROWS_WITH_AS(g.add_tensor(of({-1}, tensor_role::input, "x")), "tensor 'x': has a negative extent",
                       value_error);
  CHECK_THROWS_WITH_AS(g.add_tensor(of(elements(65, 1), tensor_role::input, "x")),
                       "tensor 'x': has more than 64 extents", value_error);
  CHECK_THROWS_WITH_AS(g.add_tensor(of({1ll << 40, 1ll << 40}, tensor_role::input, "x")),
                       "tensor 'x': has more than 2^62 bytes", value_error);
  CHECK_THROWS_WITH_AS(g.add_op({.type = "Relu", .name = "r", .inputs = {3}}, {of({2})}),
                       "op 'r': tensor 3 does not exist", dangling_id_error);
  CHECK_THROWS_WITH_AS(g.replace(0, 1), "a replacement: tensor 0 does not exist", dangling_id_error);
  CHECK_THROWS_WITH_AS(g.add_op({.type = "Relu", .name = "r", .after = {0}}, {of({2})}), "op 'r': op 0 does not exist",
                       dangling_id_error);
  CHECK_THROWS_AS(g.add_op({.type = "Relu"}, {of({2}), of({-2})}), value_error);
  CHECK(g.num_ops() == 0);
  CHECK(g.num_tensors() == 0);
}

TEST_CASE("model graph: a training step changes parameters, a pass forward may change state") {
  model_graph g;
  const auto w = g.add_tensor(of({8}, tensor_role::parameter, "w"));
  const auto mean = g.add_tensor(of({8}, tensor_role::state, "mean"));
  const auto first = g.add_op({.type = "AddN", .inputs = {mean}, .form = storage_form::writes}, {of({8})});
  g.replace(mean, *g.outputs(first).begin());
  CHECK(!changes_parameters(g));
  auto replaced = g;
  replaced.replace(w, *g.outputs(first).begin());
  CHECK(changes_parameters(replaced));
  g.add_op({.type = "AddN", .inputs = {w}, .form = storage_form::writes}, {of({8})});
  CHECK(changes_parameters(g));
}

TEST_CASE("model graph: ops may read what later ones make") {
  model_graph g;
  const auto x = g.add_tensor(of({4, 64}, tensor_role::input));
  const auto w = g.add_tensor(of({64, 64}, tensor_role::parameter, "w"));
  const auto second = g.announce(1), first = g.announce(1), turned = g.announce(1);
  const model_graph::tensor of_w{.dims = {64, 64}, .role = tensor_role::parameter, .name = "w", .storage = w};
  const auto made = of({4, 64});
  g.add_op({.type = "MatMul", .name = "b", .inputs = {*first.begin(), *turned.begin()}}, std::span{&made, 1}, second);
  g.add_op({.type = "MatMul", .name = "a", .inputs = {x, w}}, std::span{&made, 1}, first);
  g.add_op({.type = "Reshape", .name = "c", .inputs = {w}, .form = storage_form::view, .is_known = true},
           std::span{&of_w, 1}, turned);
  const auto made_of = lower(g).graph;
  CHECK(made_of.inputs(0).size() == 2);
  CHECK(made_of.producer(made_of.inputs(0)[0]) == 1);
  CHECK(made_of.resident_bytes(0) == 64 * 64 * 4); // the first reader
  CHECK(made_of.resident_bytes(1) == 0);
  CHECK(made_of.group(0) == made_of.group(1));
  CHECK(made_of.work(2) == 0);
  CHECK(g.storage(*turned.begin()) == w);
}

} // namespace model_lower_test
