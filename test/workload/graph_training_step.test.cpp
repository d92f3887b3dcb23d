// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/graph_training_step.hpp"

#include "summary.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/zoo/mnist_conv.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_graph_training_step_test {

using namespace weft;

constexpr byte_count activation = 4'000;

/// An op that feeds data, then a chain of ops of that type, each with that many bytes of parameters.
workload chain(std::size_t layers, const char* type, byte_count parameters, double work = 1e6) {
  workload_builder b;
  op_id last = b.add_op({.bytes = activation, .kinds = device_kind::cpu, .name = "input", .type = "Placeholder"});
  for (std::size_t i = 0; i < layers; ++i) {
    const op_id v = b.add_op({.work = work, .bytes = activation, .resident_bytes = parameters,
                              .name = "layer_" + std::to_string(i), .type = type});
    b.add_edge(last, v);
    last = v;
  }
  return std::move(b).build();
}

byte_count peak_on_one_device(const workload& w) {
  const platform one{std::vector<device>(1), uniform_links{}};
  const problem p{w, one};
  const placement where(w.num_ops(), 0);
  trace run;
  simulator<problem<workload, platform<uniform_links>>, schedule::fifo> one_after_another{p};
  one_after_another.run(plan{where}, simulate::recorder{run});
  simulate::memory_tracker memory{p};
  memory.follow(where, run);
  return memory.largest_peak();
}

bool reads(const workload& w, op_id reader, op_id from) {
  return std::ranges::any_of(w.inputs(reader), [&](tensor_id t) { return w.producer(t) == from && w.bytes(t) > 0; });
}
bool waits_for(const workload& w, op_id later, op_id before) {
  return std::ranges::any_of(w.inputs(later), [&](tensor_id t) { return w.producer(t) == before; });
}

TEST_CASE("op gradients: rules by type, whatever the version and the domain") {
  CHECK(ops::facts_of("MatMul").gradient.product);
  CHECK(ops::facts_of("BatchMatMulV2").gradient.product);
  CHECK(ops::facts_of("com.microsoft.FusedMatMul").gradient.product);
  CHECK(ops::facts_of("com.microsoft::Attention").gradient.product);
  CHECK(ops::facts_of("_FusedConv2D").gradient.product);
  CHECK(ops::facts_of("AddV2").gradient.reads == ops::gradient_reads::nothing);
  CHECK(ops::facts_of("Relu6").gradient.reads == ops::gradient_reads::outputs);
  CHECK(!ops::facts_of("ArgMax").gradient.differentiable);
  CHECK(!ops::facts_of("TopKV2").gradient.product);
  for (const char* unknown : {"", "V2", "2", "_", ".", "MyOp", "MATMUL"}) {
    CAPTURE(unknown);
    CHECK(ops::facts_of(unknown).gradient.differentiable);
    CHECK(ops::facts_of(unknown).gradient.reads == ops::gradient_reads::both);
    CHECK(!ops::facts_of(unknown).gradient.product);
  }
}

TEST_CASE("graph training step: a chain of convolutions costs three times its forward pass") {
  const auto forward = chain(5, "Conv", 800);
  const auto [w, from] = training_step_with_origins(forward, {.rule = optimizer::momentum});
  const double updates = 5 * 4.0 * 200, loss = 2 * 1000;
  // The first layer's input has no gradient.
  CHECK(test::total_work(w) == 5e6 + 5e6 + 4e6 + updates + loss);
  CHECK(test::total_resident_bytes(w) == 2 * 5 * 800);
  CHECK(test::count_type(w, "ConvGrad") == 5 + 4);
  CHECK(test::count_type(w, "ApplyMomentum") == 5);
  CHECK(test::find_op(w, "gradients/layer_0/input") == none);
  const op_id input = test::find_op(w, "gradients/layer_3/input");
  const op_id weights = test::find_op(w, "gradients/layer_3/weights");
  const op_id update = test::find_op(w, "Momentum/update_layer_3");
  REQUIRE(input != none);
  REQUIRE(weights != none);
  REQUIRE(update != none);
  CHECK(!reads(w, input, 3)); // needs the kernel alone
  CHECK(reads(w, weights, 3));
  CHECK(!reads(w, weights, 4));
  CHECK(reads(w, update, weights));
  CHECK(waits_for(w, update, input)); // which reads what the update changes
  CHECK(w.group(4) == w.group(update));
  CHECK(w.group(4) == w.group(input));
  CHECK(w.group(weights) == none);
  CHECK(w.resident_bytes(update) == 800);
  CHECK(w.bytes(*w.outputs(weights).begin()) == 800);
  REQUIRE(from.op.size() == w.num_ops());
  for (const op_id v : ids(forward.num_ops())) {
    CHECK(from.op[v] == v);
    CHECK(w.name(v) == forward.name(v));
  }
  CHECK(from.op[update] == 4);
  CHECK(from.op[test::find_op(w, "loss/layer_4")] == 5);
}

TEST_CASE("graph training step: one line makes one of any workload") {
  const auto forward = chain(3, "Gemm", 40);
  // [step]
  const workload step = training_step(forward, {.rule = optimizer::momentum});
  // [step]
  CHECK(step.num_ops() == 4 + 2 + 5 + 3);
}

TEST_CASE("graph training step: optimisers differ in slots and FLOP") {
  const auto forward = chain(3, "Conv", 400);
  const auto resident = [&](optimizer rule) {
    return test::total_resident_bytes(training_step(forward, {.rule = rule}));
  };
  CHECK(resident(optimizer::sgd) == 3 * 400);
  CHECK(resident(optimizer::momentum) == 2 * 3 * 400);
  CHECK(resident(optimizer::rmsprop) == 3 * 3 * 400);
  CHECK(resident(optimizer::adam) == 3 * 3 * 400);
  const auto w = training_step(forward, {.rule = optimizer::adam, .element_bytes = 2});
  CHECK(test::work_of_types(w, {"ApplyAdam"}) == 3 * 12 * 200.0);
}

TEST_CASE("graph training step: activations live until their gradients are made, unless they are made again") {
  const std::size_t n = 12;
  const auto forward = chain(n, "Conv", 40);
  CHECK(peak_on_one_device(forward) == 2 * activation + 40 * n);
  const auto kept = peak_on_one_device(training_step(forward, {.rule = optimizer::sgd}));
  CHECK(kept >= (n + 1) * activation);
  CHECK(kept <= (n + 4) * activation);
  const auto added = chain(n, "Add", 40); // an addition's gradient reads nothing
  CHECK(peak_on_one_device(training_step(added, {.rule = optimizer::sgd})) <= 5 * activation);

  // Every fourth result is kept: the others of one segment are alive at a time.
  std::vector<op_id> again;
  for (op_id v = 1; v <= n; ++v) {
    if (v % 4 != 0) {
      again.push_back(v);
    }
  }
  const auto w = training_step(forward, {.rule = optimizer::sgd, .recompute = again});
  CHECK(peak_on_one_device(w) <= (n / 4 + 3 + 4) * activation + 1000);
  CHECK(peak_on_one_device(w) < kept * 3 / 4);
  // layer_3 (op 4) is kept; the last of a segment feeds nobody inside it
  CHECK(test::find_op(w, "recompute/layer_0") != none);
  CHECK(test::find_op(w, "recompute/layer_3") == none);
  CHECK(test::find_op(w, "recompute/layer_2") == none);
  CHECK(test::total_work(w) == test::total_work(training_step(forward, {.rule = optimizer::sgd})) + 2e6 * n / 4);
  const op_id copy = test::find_op(w, "recompute/layer_0");
  CHECK(w.group(copy) == w.group(1)); // reads its parameters
  CHECK(waits_for(w, copy, test::find_op(w, "gradients/layer_3/input")));
}

TEST_CASE("graph training step: gradients of several consumers are added up") {
  workload_builder b;
  const op_id variable = b.add_op({.bytes = 8, .resident_bytes = 4'000, .name = "w", .type = "VariableV2"});
  const op_id read = b.add_op({.bytes = 4'000, .name = "w/read", .type = "Identity"});
  const op_id x = b.add_op({.bytes = 400, .name = "x", .type = "Placeholder"});
  b.add_edge(variable, read);
  op_id last = x;
  for (int i = 0; i < 3; ++i) {
    const op_id v = b.add_op({.work = 1e5, .bytes = 400, .name = "step_" + std::to_string(i), .type = "MatMul"});
    b.add_edge(last, v);
    b.add_edge(read, v);
    last = v;
  }
  const auto forward = std::move(b).build();
  const auto w = training_step(forward, {.rule = optimizer::sgd});
  const op_id sum = test::find_op(w, "gradients/w/read/AddN");
  REQUIRE(sum != none);
  CHECK(w.inputs(sum).size() == 3);
  CHECK(w.work(sum) == 2 * 1000);
  CHECK(test::find_op(w, "gradients/step_0/input") == none); // x is data
  for (const char* name : {"gradients/step_0/weights", "gradients/step_2/weights", "gradients/step_2/input"}) {
    CAPTURE(name);
    REQUIRE(test::find_op(w, name) != none);
    CHECK(w.work(test::find_op(w, name)) == 1e5);
  }
  CHECK(reads(w, test::find_op(w, "gradients/step_2/input"), read));
  CHECK(!reads(w, test::find_op(w, "gradients/step_2/weights"), read));
  const op_id update = test::find_op(w, "GradientDescent/update_w");
  const op_id of_read = test::find_op(w, "gradients/w/read");
  REQUIRE(update != none);
  CHECK(reads(w, update, of_read));
  CHECK(w.bytes(*w.outputs(of_read).begin()) == 4'000); // not the 8 bytes of a reference
  CHECK(w.group(update) == w.group(variable));
}

TEST_CASE("graph training step: gradients stop at ops without one, and the loss is before them") {
  workload_builder b;
  const op_id table = b.add_op({.bytes = 400, .resident_bytes = 4'000, .name = "table", .type = "Gather"});
  const op_id indices = b.add_op({.bytes = 40, .name = "indices", .type = "Placeholder"});
  const op_id relu = b.add_op({.work = 100, .bytes = 400, .name = "relu", .type = "Relu"});
  const op_id best = b.add_op({.work = 100, .bytes = 8, .name = "best", .type = "ArgMax"});
  const op_id after = b.add_op({.work = 100, .bytes = 8, .resident_bytes = 8, .name = "after", .type = "Const"});
  b.add_edge(indices, table);
  b.add_edge(table, relu);
  b.add_edge(relu, best);
  b.add_control_edge(best, after);
  const auto forward = std::move(b).build();
  const auto w = training_step(forward, {.rule = optimizer::sgd});
  CHECK(test::find_op(w, "loss/relu") != none);
  CHECK(test::count_type(w, "Loss") == 1);
  CHECK(test::count_type(w, "ArgMaxGrad") == 0);
  CHECK(test::count_type(w, "ApplyGradientDescent") == 1);
  const op_id gradient = test::find_op(w, "gradients/table/weights");
  REQUIRE(gradient != none);
  CHECK(reads(w, gradient, indices));
  CHECK(w.work(gradient) == 100); // adds rows up
  CHECK(test::find_op(w, "gradients/table/input") == none);
  CHECK(reads(w, test::find_op(w, "gradients/relu"), relu));
  CHECK(!reads(w, test::find_op(w, "gradients/relu"), table));
}

TEST_CASE("graph training step: axes, shapes, indices and single numbers are no parameters") {
  workload_builder b;
  const op_id image = b.add_op({.bytes = 400, .name = "image", .type = "Placeholder"});
  op_id last = image;
  const auto then = [&](const char* type, byte_count held) {
    const op_id v = b.add_op({.work = 10, .bytes = 400, .resident_bytes = held, .name = type, .type = type});
    b.add_edge(last, v);
    last = v;
  };
  for (const auto& [type, held] :
       {std::pair{"Conv", 4'000}, {"Reshape", 32}, {"Div", 4}, {"Gather", 800}, {"Clip", 16}, {"PRelu", 64}}) {
    then(type, static_cast<byte_count>(held));
  }
  const auto w = training_step(std::move(b).build());
  CHECK(test::count_type(w, "ApplyAdam") == 2);
  CHECK(test::find_op(w, "Adam/update_Conv") != none);
  CHECK(test::find_op(w, "Adam/update_PRelu") != none);
  CHECK(test::find_op(w, "gradients/Gather") != none);
}

TEST_CASE("graph training step: an op that reads the model's input alone has weights, and is no variable") {
  const auto layers = [](std::initializer_list<op> ops) {
    workload_builder b;
    op_id last = none;
    for (const op& o : ops) {
      const op_id v = b.add_op(o);
      if (last != none) {
        b.add_edge(last, v);
      }
      last = v;
    }
    return std::move(b).build();
  };
  for (const char* type : {"Gemm", "dot_general", "aten.linear", "Gather", "Conv"}) { // of files, the input is no op
    CAPTURE(type);
    const auto forward = layers({{.work = 1e6, .bytes = 400, .resident_bytes = 40'000, .name = "first", .type = type},
                                 {.work = 100, .bytes = 400, .name = "relu", .type = "Relu"},
                                 {.work = 1e4, .bytes = 40, .resident_bytes = 400, .name = "last", .type = "Gemm"}});
    const auto w = training_step(forward, {.rule = optimizer::sgd});
    const op_id weights = test::find_op(w, "gradients/first/weights");
    REQUIRE(weights != none);
    CHECK(w.work(weights) == 1e6);
    CHECK(w.bytes(*w.outputs(weights).begin()) == 40'000);
    CHECK(test::find_op(w, "gradients/first/input") == none);
    CHECK(reads(w, test::find_op(w, "GradientDescent/update_first"), weights));
    CHECK(test::total_work(w) == 2e6 + 2e2 + 3e4 + 2 * 10 + 2 * 10'100);
  }
  // Shapes that a reshape of the input holds are not trained, and what is read of the input has no gradient.
  const auto reshaped = training_step(layers({{.bytes = 400, .resident_bytes = 32, .name = "flat", .type = "Reshape"},
                                              {.bytes = 400, .name = "relu", .type = "Relu"},
                                              {.work = 1e4, .bytes = 40, .resident_bytes = 400, .type = "Gemm"}}));
  CHECK(test::count_type(reshaped, "ApplyAdam") == 1);
  CHECK(test::count_type(reshaped, "ReshapeGrad") + test::count_type(reshaped, "ReluGrad") == 0);
  // Two products of the input with the same weights, which the first keeps.
  workload_builder b;
  const op_id one = b.add_op({.work = 500, .bytes = 400, .resident_bytes = 4'000, .name = "one", .type = "MatMul"});
  const op_id two = b.add_op({.work = 500, .bytes = 400, .name = "two", .type = "MatMul"});
  b.colocate(one, two);
  const auto both = training_step(std::move(b).build(), {.rule = optimizer::sgd});
  CHECK(both.work(test::find_op(both, "gradients/one/weights")) == 500);
  CHECK(both.work(test::find_op(both, "gradients/two/weights")) == 500);
  CHECK(test::find_op(both, "gradients/one/weights/AddN") != none);
  // What it makes is no parameter: both factors of a later product are data.
  workload_builder c;
  const op_id query = c.add_op({.work = 5e3, .bytes = 400, .resident_bytes = 4'000, .name = "query", .type = "Gemm"});
  const op_id key = c.add_op({.work = 5e3, .bytes = 400, .resident_bytes = 4'000, .name = "key", .type = "Gemm"});
  const op_id scores = c.add_op({.work = 100, .bytes = 400, .name = "scores", .type = "MatMul"});
  c.add_edge(query, scores);
  c.add_edge(key, scores);
  const auto attention = training_step(std::move(c).build(), {.rule = optimizer::sgd});
  CHECK(test::count_type(attention, "MatMulGrad") == 2);
  CHECK(test::count_type(attention, "GemmGrad") == 2);
  CHECK(test::find_op(attention, "gradients/scores/input") != none);
}

TEST_CASE("graph training step: a product without a second factor has it from its group") {
  workload_builder b;
  const op_id words = b.add_op({.bytes = 40, .name = "words", .type = "Placeholder"});
  const op_id embeddings = b.add_op({.bytes = 400, .resident_bytes = 4'000, .name = "embeddings", .type = "Gather"});
  const op_id layer = b.add_op({.work = 500, .bytes = 400, .resident_bytes = 200, .name = "layer", .type = "Gemm"});
  const op_id logits = b.add_op({.work = 900, .bytes = 800, .name = "logits", .type = "MatMul"});
  b.add_edge(words, embeddings);
  b.add_edge(embeddings, layer);
  b.add_edge(layer, logits);
  b.colocate(embeddings, logits);
  const auto w = training_step(std::move(b).build(), {.rule = optimizer::sgd});
  const op_id weights = test::find_op(w, "gradients/logits/weights");
  const op_id sum = test::find_op(w, "gradients/embeddings/weights/AddN");
  const op_id update = test::find_op(w, "GradientDescent/update_embeddings");
  REQUIRE(weights != none);
  REQUIRE(sum != none);
  CHECK(w.work(weights) == 900);
  CHECK(w.bytes(*w.outputs(weights).begin()) == 4'000);
  CHECK(reads(w, sum, weights));
  CHECK(reads(w, sum, test::find_op(w, "gradients/embeddings/weights")));
  CHECK(reads(w, update, sum));
  CHECK(waits_for(w, update, test::find_op(w, "gradients/logits/input")));
  CHECK(w.group(test::find_op(w, "gradients/logits/input")) == w.group(logits));
  CHECK(test::count_type(w, "ApplyGradientDescent") == 2);
}

TEST_CASE("graph training step: outputs can be chosen; what they do not depend on is not trained") {
  const auto forward = chain(4, "MatMul", 400);
  const auto w = training_step(forward, {.outputs = {2, 2}});
  CHECK(test::count_type(w, "ApplyAdam") == 2);
  CHECK(test::find_op(w, "loss/layer_1") != none);
  CHECK(test::count_type(w, "Loss") == 1);
  const auto both = training_step(forward, {.outputs = {4, 2}});
  CHECK(test::count_type(both, "Loss") == 2);
  CHECK(test::find_op(both, "gradients/layer_1/AddN") != none);
}

TEST_CASE("graph training step: groups and kinds are kept, gradients are colocated if asked") {
  workload_builder b;
  const op_id x = b.add_op({.work = 1, .bytes = 4, .resident_bytes = 40, .kinds = device_kind::gpu, .name = "x"});
  const op_id y = b.add_op({.work = 1, .bytes = 4, .name = "y"});
  const op_id z = b.add_op({.work = 1, .name = "z"}); // makes nothing
  b.add_edge(x, y);
  b.add_edge(y, z);
  b.colocate(x, z);
  const auto forward = std::move(b).build();
  const auto free = training_step(forward);
  CHECK(free.group(x) == free.group(z));
  CHECK(free.group(y) == none);
  CHECK(test::find_op(free, "loss/z") != none);
  CHECK(free.type(test::find_op(free, "gradients/y")).empty()); // of an op without a type
  CHECK(waits_for(free, test::find_op(free, "loss/z"), z));
  CHECK(free.group(test::find_op(free, "gradients/y")) == none);
  const auto tied = training_step(forward, {.colocate_gradients = true});
  CHECK(tied.group(test::find_op(tied, "gradients/y")) == tied.group(y));
  CHECK(tied.group(test::find_op(tied, "gradients/z")) == tied.group(x));
  CHECK(tied.kinds(test::find_op(tied, "Adam/update_x")) == kind_set{device_kind::gpu});
}

TEST_CASE("graph training step: what cannot be trained is an error") {
  CHECK_THROWS_WITH_AS(training_step(workload{}), doctest::Contains("nothing to train"), value_error);
  CHECK_THROWS_WITH_AS(training_step(chain(3, "Relu", 0)), doctest::Contains("nothing to train"), value_error);
  CHECK_THROWS_WITH_AS(training_step(chain(3, "ArgMax", 40)), doctest::Contains("nothing to train"), value_error);
  CHECK_THROWS_WITH_AS(training_step(chain(3, "Mul", 8)), doctest::Contains("nothing to train"), value_error);
  CHECK_THROWS_WITH_AS(training_step(chain(3, "Reshape", 40)), doctest::Contains("nothing to train"), value_error);
  const auto forward = chain(3, "Conv", 40);
  CHECK_THROWS_WITH_AS(training_step(training_step(forward)), doctest::Contains("a training step already"),
                       value_error);
  CHECK_THROWS_AS(training_step(forward, {.outputs = {4}}), dangling_id_error);
  CHECK_THROWS_AS(training_step(forward, {.recompute = {4}}), dangling_id_error);
  CHECK_THROWS_WITH_AS(training_step(forward, {.outputs = {0}}), doctest::Contains("'input'"), value_error);
  CHECK_THROWS_AS(training_step(forward, {.element_bytes = 0}), value_error);
}

TEST_CASE("graph training step: ops without names and types are differentiated as well") {
  workload_builder b;
  b.add_op({.work = 3, .bytes = 4, .resident_bytes = 40});
  b.add_op({.work = 5, .bytes = 4});
  b.add_op({.bytes = 4, .resident_bytes = 4});
  b.add_edge(0, 1);
  b.add_edge(2, 1);
  const auto w = training_step(std::move(b).build());
  CHECK(w.name(0).empty());
  CHECK(test::find_op(w, "gradients/op_1") != none);
  CHECK(w.work(test::find_op(w, "gradients/op_1")) == 5);
  CHECK(test::find_op(w, "Adam/update_op_0") != none);
  CHECK(w.work(test::find_op(w, "gradients/op_0/weights")) == 3);
  CHECK(test::find_op(w, "Adam/update_op_2") != none); // without work it is a variable
  CHECK(test::find_op(w, "gradients/op_2/weights") == none);
}

TEST_CASE(
  "graph training step: random graphs of all sorts of ops become acyclic steps that update each parameter once") {
  const std::vector<std::string> types{"MatMul", "Relu", "Add", "Gather",  "ArgMax",
                                       "Conv",   "LSTM", "Mul", "MaxPool", "X"};
  rng random{7};
  int trained = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    workload_builder b;
    const op_id n = 2 + random.below(40);
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = static_cast<double>(random.below(100)), .bytes = 4 * (1 + random.below(50)),
                .resident_bytes = random.below(3) == 0 ? 4 * random.below(50) : 0, .name = std::to_string(v),
                .type = types[random.below(10)]});
      if (random.below(4) == 0) {
        b.add_output(v, 4 * random.below(3));
      }
      for (op_id u = 0; u < v; ++u) {
        if (random.below(v) < 2) {
          b.add_edge(u, v);
        }
      }
      if (v > 0 && random.below(5) == 0) {
        b.colocate(v, random.below(v));
      }
    }
    const auto forward = std::move(b).build();
    step_options o{.rule = optimizer::sgd, .colocate_gradients = random.below(2) == 0};
    for (op_id v = 0; v < n; ++v) {
      if (random.below(3) == 0) {
        o.recompute.push_back(v);
      }
    }
    expanded_step step;
    try {
      step = training_step_with_origins(forward, o); // build() throws for cycles and double edges
    } catch (const value_error&) {
      continue; // nothing to train
    }
    ++trained;
    std::vector<int> updates(n, 0);
    for (const op_id v : ids(step.graph.num_ops())) {
      updates[step.from.op[v]] += step.graph.type(v) == "ApplyGradientDescent";
      if (v >= n && !step.graph.type(v).starts_with("Apply") && !step.graph.type(v).starts_with("Loss")) {
        CHECK(step.graph.out_edges(v).begin() != step.graph.out_edges(v).end()); // every gradient has a use
      }
    }
    for (op_id v = 0; v < n; ++v) {
      CHECK(updates[v] <= 1);
      CHECK((updates[v] == 0 || forward.resident_bytes(v) > 0));
    }
    CHECK(test::fingerprint(step.graph) == test::fingerprint(training_step(forward, o)));
    // Recomputing changes no gradient, it only adds ops.
    auto kept = o;
    kept.recompute.clear();
    const auto plain = training_step(forward, kept);
    std::size_t copies = 0;
    double again = 0;
    for (const op_id v : ids(step.graph.num_ops())) {
      if (step.graph.name(v).starts_with("recompute/")) {
        ++copies;
        again += step.graph.work(v);
      }
    }
    CHECK(plain.num_ops() + copies == step.graph.num_ops());
    CHECK(test::total_work(plain) + again == test::total_work(step.graph));
  }
  CHECK(trained > 30);
}

TEST_CASE("graph training step: about the work of the network's own training step") {
  nn::network net{{.bookkeeping = false}};
  const nn::tensor loss[] = {zoo::mnist_conv_loss(net, 50)};
  const auto own = test::total_work(zoo::mnist_conv(50, {.bookkeeping = false}));
  const auto w = training_step(inference(net, loss));
  CHECK(test::total_work(w) == doctest::Approx(own).epsilon(0.03));
  CHECK(test::count_type(w, "ApplyAdam") == 8);
  CHECK(test::total_resident_bytes(w) == 3 * 4 * 3'274'634);
}

} // namespace workload_graph_training_step_test
