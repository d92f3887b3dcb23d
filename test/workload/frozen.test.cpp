// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/frozen.hpp"

#include "weft/parallel/gradients.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/stored_as.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_frozen_test {

using namespace weft;

constexpr byte_count activation = 4'000;

/// An op of that type with parameters, behind another one.
op_id add_layer(workload_builder& b, op_id from, std::string name, byte_count parameters, const char* type = "Gemm") {
  const op_id v = b.add_op({.work = 1e6, .bytes = activation, .resident_bytes = parameters, .name = std::move(name),
                            .type = type});
  b.add_edge(from, v);
  return v;
}

/// Three layers with weights and biases, whose names the file has.
model three_layers() {
  workload_builder b;
  model m;
  op_id last = b.add_op({.bytes = activation, .name = "input", .type = "Placeholder"});
  for (const std::string name : {"first", "second", "third"}) {
    last = add_layer(b, last, "/" + name + "/Gemm", 10'000 + 400);
    m.parameters.push_back({name + ".weight", last, 10'000});
    m.parameters.push_back({name + ".bias", last, 400});
  }
  m.ops = std::move(b).build();
  return m;
}

op_id find(const workload& w, std::string_view name) {
  for (const op_id v : ids(w.num_ops())) {
    if (w.name(v) == name) {
      return v;
    }
  }
  return none;
}
bool reads(const workload& w, op_id reader, op_id from) {
  const auto inputs = w.inputs(reader);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](tensor_id t) { return w.producer(t) == from && w.bytes(t) > 0; });
}
double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}
byte_count held(const workload& w) {
  byte_count sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.resident_bytes(v);
  }
  return sum;
}
std::string problem_of(const model& m, std::string_view patterns) {
  try {
    frozen(m, patterns);
  } catch (const value_error& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("name patterns: the last one that describes a name, or its end, counts") {
  name_patterns adapters{"*,!lora_*"};
  CHECK(adapters({"layers.0.query.weight"}));
  CHECK_FALSE(adapters({"lora_A.weight"}));
  CHECK_FALSE(adapters({"layers.0.query.lora_A.weight"}));
  CHECK_FALSE(adapters({"params['layer_0']['lora_a']"}));
  CHECK(adapters({"use_lora_A"}));
  CHECK_FALSE(adapters({"op", "layers.0.query.lora_B.weight"}));
  CHECK(adapters.unused().empty());
  name_patterns some{"embed.*,layers.1.*,!*.bias,nothing"};
  CHECK(some({"model.layers.1.weight"}));
  CHECK_FALSE(some({"model.layers.11.weight"}));
  CHECK_FALSE(some({"model.layers.1.bias"}));
  CHECK(some.unused() == std::vector<std::string_view>{"embed.*", "nothing"});
  CHECK_THROWS_AS(name_patterns{"a,,b"}, value_error);
  CHECK_THROWS_AS(name_patterns{""}, value_error);
  CHECK_THROWS_AS(name_patterns{"a,!"}, value_error);
}

TEST_CASE("frozen parameters: by the names in the file and by those of ops, weight by weight") {
  const auto m = three_layers();
  const auto one = frozen(m, "first.*,third.weight");
  CHECK(one.bytes == std::vector<byte_count>{0, 10'400, 0, 10'000});
  CHECK(one.count == 3);
  CHECK(one.all == 6);
  CHECK(one.frozen_bytes == 20'400);
  CHECK(one.all_bytes == 31'200);
  CHECK(frozen(m, "*/second/*").bytes == std::vector<byte_count>{0, 0, 10'400, 0});
  CHECK(frozen(m, "*,!*.bias").bytes == std::vector<byte_count>{0, 10'000, 10'000, 10'000});
  auto nameless = m;
  nameless.parameters = {{"shared", 2, 10'000}}; // the rest has the op's name
  CHECK(frozen(nameless, "*Gemm,!shared").bytes == std::vector<byte_count>{0, 10'400, 400, 10'400});
}

TEST_CASE("frozen parameters: mistakes are told in one line, with names as they are") {
  const auto m = three_layers();
  CHECK(problem_of(m, "*,!lora_*").find("no parameter is called 'lora_*'; write patterns of their names, which are "
                                        "'first.bias', 'first.weight', 'second.bias' and so on") != std::string::npos);
  CHECK(problem_of(m, "*").find("leaves nothing to train") != std::string::npos);
  CHECK(problem_of(m, "*,").find("a pattern is empty") != std::string::npos);
  CHECK(problem_of({.ops = workload{}}, "*").find("no parameters") != std::string::npos);
  CHECK(problem_of(m, "third.bias,!third.bias").empty());
}

TEST_CASE("frozen parameters: no gradient goes further back than the first parameters that are trained") {
  const auto m = three_layers();
  const auto step = training_step(m.ops, {.frozen = frozen(m, "first.*,second.*").bytes});
  CHECK(find(step, "gradients//third/Gemm/weights") != none);
  CHECK(find(step, "gradients//third/Gemm/input") == none);
  CHECK(find(step, "Adam/update_/second/Gemm") == none);
  for (const op_id v : ids(step.num_ops())) {
    CHECK((v < m.ops.num_ops() || step.name(v).find("third") != step.name(v).npos));
  }
  const auto consumers = step.consumers(step.outputs(1).front()); // the result of the first layer
  CHECK(std::vector<op_id>{consumers.begin(), consumers.end()} == std::vector<op_id>{2});
  CHECK(held(step) == 31'200 + 2 * 10'400);
  CHECK(parallel::gradients(step).size() == 1);
}

TEST_CASE("frozen parameters: gradients pass ops with frozen parameters, which cost as much as the op") {
  const auto m = three_layers();
  const auto all = training_step(m.ops, {});
  const auto step = training_step(m.ops, {.frozen = frozen(m, "second.*").bytes});
  const op_id passing = find(step, "gradients//second/Gemm/input");
  REQUIRE(passing != none);
  CHECK(step.work(passing) == 1e6);
  CHECK(step.group(passing) == step.group(2)); // it reads the weights
  CHECK_FALSE(reads(step, passing, 1));
  CHECK(find(step, "gradients//second/Gemm/weights") == none);
  CHECK(find(step, "Adam/update_/second/Gemm") == none);
  CHECK(total_work(all) - total_work(step) == doctest::Approx(1e6 + 12 * 10'400.0 / 4));
}

TEST_CASE("frozen parameters: a trained bias costs a sum and reads no input") {
  const auto m = three_layers();
  const auto step = training_step(m.ops, {.frozen = frozen(m, "*,!*.bias").bytes});
  const op_id bias = find(step, "gradients//second/Gemm/weights");
  REQUIRE(bias != none);
  CHECK_FALSE(reads(step, bias, 1));
  CHECK(step.work(bias) == doctest::Approx(1e6 * 400 / 10'400));
  CHECK(step.bytes(step.outputs(bias).front()) == 400);
  const op_id update = find(step, "Adam/update_/second/Gemm");
  CHECK(step.resident_bytes(update) == 2 * 400);
  CHECK(step.work(update) == 12 * 100);
  const auto half = training_step(m.ops, {.frozen = {0, 5'200, 5'200, 5'200}}); // one of two matrices, maybe
  CHECK(reads(half, find(half, "gradients//second/Gemm/weights"), 1));
  const auto weights = training_step(m.ops, {.frozen = frozen(m, "*.bias").bytes});
  CHECK(reads(weights, find(weights, "gradients//second/Gemm/weights"), 1));
}

TEST_CASE("frozen parameters: variables that others read have no gradient, nor do indices become parameters") {
  workload_builder b;
  const op_id table = b.add_op({.bytes = 8'000, .resident_bytes = 8'000, .name = "table", .type = "VariableV2"});
  const op_id weights = b.add_op({.bytes = 8'000, .resident_bytes = 8'000, .name = "weights", .type = "VariableV2"});
  const op_id seen = b.add_op({.bytes = activation, .resident_bytes = 64, .name = "seen", .type = "Gather"});
  const op_id product = b.add_op({.work = 1e6, .bytes = activation, .name = "product", .type = "MatMul"});
  b.add_edge(table, seen);
  b.add_edge(seen, product);
  b.add_edge(weights, product);
  const model m{.ops = std::move(b).build()};
  const auto step = training_step(m.ops, {.frozen = frozen(m, "table").bytes});
  CHECK(find(step, "gradients/seen") == none);
  CHECK(find(step, "Adam/update_seen") == none);
  CHECK(find(step, "gradients/product/input") == none);
  CHECK(find(step, "Adam/update_weights") != none);
  const auto other = training_step(m.ops, {.frozen = frozen(m, "weights").bytes});
  CHECK(find(other, "Adam/update_weights") == none);
  CHECK(find(other, "Adam/update_table") != none);
  double work = 0; // of the gradients of the product
  for (const op_id v : ids(other.num_ops())) {
    work += other.name(v).starts_with("gradients/product") ? other.work(v) : 0;
  }
  CHECK(work == 1e6);
}

TEST_CASE("frozen parameters: a narrow format keeps no copy of them in single precision") {
  const auto m = three_layers();
  const auto chosen = frozen(m, "*,!third.*").bytes;
  const auto step = training_step(m.ops, {.frozen = chosen});
  const auto narrow = stored_as(step, {.tensor_bits = 16, .weight_bits = 16}, chosen);
  CHECK(held(narrow) == 31'200 / 2 + (4 + 8) * 10'400 / 4);
  CHECK(narrow.resident_bytes(1) == 5'200);
}

TEST_CASE("frozen parameters: as the documentation has them") {
  const auto m = three_layers();
  // [frozen]
  const auto kept = frozen(m, "*,!*.bias"); // all but the biases
  const workload step = training_step(m.ops, {.frozen = kept.bytes});
  const workload in_16_bits = stored_as(step, {.tensor_bits = 16, .weight_bits = 16}, kept.bytes);
  // [frozen]
  CHECK(held(in_16_bits) == 31'200 / 2 + 3 * (4 + 8) * 100);
}

TEST_CASE("frozen parameters: numbers that do not fit the workload are errors") {
  const auto m = three_layers();
  CHECK_THROWS_AS(training_step(m.ops, {.frozen = {1}}), value_error);
  CHECK_THROWS_AS(training_step(m.ops, {.frozen = {0, 0, 0, 10'401}}), value_error);
  CHECK_THROWS_AS(training_step(m.ops, {.frozen = {0, 10'400, 10'400, 10'400}}), value_error);
}

} // namespace workload_frozen_test
