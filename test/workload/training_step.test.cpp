// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/training_step.hpp"

#include "summary.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace workload_training_step_test {

using namespace weft;

/// A dense network with one hidden layer of 8 for 6 inputs and 3 classes.
nn::tensor small_loss(nn::network& net, std::uint64_t batch) {
  const auto fed = net.input_pipeline({{{batch, 6}}, {{batch, 3}}});
  const auto hidden = relu(nn::dense("hidden", fed[0], 8));
  return reduce_mean(softmax_cross_entropy(nn::dense("out", hidden, 3), fed[1]));
}

workload small_step(std::uint64_t batch, const training_options& options, bool bookkeeping = true) {
  nn::network net{{.bookkeeping = bookkeeping}};
  const auto loss = small_loss(net, batch);
  return training_step(net, loss, options);
}

constexpr std::size_t small_parameters = 6 * 8 + 8 + 8 * 3 + 3;

std::size_t count_sinks(const workload& w) {
  std::size_t sinks = 0;
  for (const op_id v : ids(w.num_ops())) {
    sinks += w.out_edges(v).begin() == w.out_edges(v).end() ? 1u : 0u;
  }
  return sinks;
}

TEST_CASE("training_step: without bookkeeping, a dense network has exactly the ops of the arithmetic") {
  const auto w = small_step(4, {.rule = optimizer::sgd}, false);
  std::map<std::string, std::size_t> types;
  for (const op_id v : ids(w.num_ops())) {
    ++types[std::string{w.type(v)}];
  }
  const std::map<std::string, std::size_t> expected{{"IteratorGetNext", 1},
                                                    {"VariableV2", 4},
                                                    {"Identity", 4},
                                                    {"MatMul", 2 + 3}, // no gradient for the images
                                                    {"Add", 2},
                                                    {"Relu", 1},
                                                    {"SoftmaxCrossEntropyWithLogits", 1},
                                                    {"Mean", 1},
                                                    {"Fill", 1},
                                                    {"Reshape", 1}, // of the loss, to the rank that Tile needs
                                                    {"Tile", 1},
                                                    {"Const", 2}, // the mean's divisor and the learning rate
                                                    {"RealDiv", 1},
                                                    {"ExpandDims", 1},
                                                    {"Mul", 1},
                                                    {"Sum", 2},
                                                    {"ReluGrad", 1},
                                                    {"ApplyGradientDescent", 4},
                                                    {"NoOp", 1}};
  CHECK(types == expected);
}

TEST_CASE("training_step: FLOP of a dense network are those computed by hand") {
  const double n = 4;
  const double forward = n * (2 * 6 * 8 + 8 + 8 + 2 * 8 * 3 + 3 + 5 * 3 + 1);
  const double backward = n * (1 + 3) + n * 3 + n * 2 * (2 * 8 * 3) + n * 8 + n * 8; // loss, biases, products, ReLU
  const double first_weights = n * 2 * 6 * 8;
  const double updates = 2.0 * small_parameters;
  CHECK(test::total_work(small_step(4, {.rule = optimizer::sgd}, false)) ==
        forward + backward + first_weights + updates);
  // With TensorFlow's barriers the gradient of the images is computed as well.
  CHECK(test::total_work(small_step(4, {.rule = optimizer::sgd})) == forward + backward + 2 * first_weights + updates);
}

TEST_CASE("training_step: bookkeeping surrounds a broadcast sum as TensorFlow does") {
  const auto w = small_step(4, {});
  for (const char* name : {"Shape", "Shape_1", "BroadcastGradientArgs", "Sum", "Reshape", "Sum_1", "Reshape_1",
                           "tuple/group_deps", "tuple/control_dependency", "tuple/control_dependency_1"}) {
    CAPTURE(name);
    CHECK(test::find_op(w, std::string{"gradients/out/add_grad/"} + name) != none);
  }
  const op_id barrier = test::find_op(w, "gradients/out/add_grad/tuple/group_deps");
  CHECK(w.inputs(barrier).size() == 2);
  for (const tensor_id t : w.inputs(barrier)) {
    CHECK(w.bytes(t) == 0);
  }
  const op_id released = test::find_op(w, "gradients/out/add_grad/tuple/control_dependency_1");
  CHECK(w.group(released) != none);
  CHECK(w.group(released) == w.group(test::find_op(w, "gradients/out/add_grad/Reshape_1")));
  CHECK(count_sinks(w) == 2); // the loss and the op that waits for all updates
}

TEST_CASE("training_step: optimisers differ in state and update cost") {
  const auto sgd = small_step(4, {.rule = optimizer::sgd});
  const auto momentum = small_step(4, {.rule = optimizer::momentum});
  const auto adam = small_step(4, {.rule = optimizer::adam});
  CHECK(test::total_resident_bytes(sgd) == 4 * small_parameters);
  CHECK(test::total_resident_bytes(momentum) == 8 * small_parameters);
  CHECK(test::total_resident_bytes(adam) == 12 * small_parameters + 8);
  CHECK(test::total_work(momentum) - test::total_work(sgd) == 2.0 * small_parameters);
  CHECK(test::total_work(adam) - test::total_work(sgd) == 10.0 * small_parameters + 2); // two powers advance
  CHECK(test::count_type(sgd, "ApplyGradientDescent") == 4);
  CHECK(test::count_type(momentum, "ApplyMomentum") == 4);
  CHECK(test::count_type(adam, "ApplyAdam") == 4);
  CHECK(test::find_op(adam, "hidden/weights/Adam_1") != none);
  CHECK(test::find_op(momentum, "hidden/weights/Momentum") != none);
}

TEST_CASE("training_step: the last op waits for all updates") {
  const auto w = small_step(4, {});
  const op_id last = test::find_op(w, "Adam");
  REQUIRE(last != none);
  CHECK(w.type(last) == "NoOp");
  CHECK(w.inputs(last).size() == 4 + 2); // four updates, two powers
}

TEST_CASE("training_step: gradients are free of their forward ops unless asked for") {
  const auto matmul = [](const workload& w) { return w.group(test::find_op(w, "hidden/MatMul")); };
  const auto gradient = [](const workload& w) {
    return w.group(test::find_op(w, "gradients/hidden/MatMul_grad/MatMul_1"));
  };
  const auto loose = small_step(4, {.colocate_gradients = false});
  CHECK(matmul(loose) == none);
  const auto bound = small_step(4, {.colocate_gradients = true});
  CHECK(matmul(bound) != none);
  CHECK(matmul(bound) == gradient(bound));
  CHECK(test::total_work(loose) == test::total_work(bound));
}

TEST_CASE("training_step: a tensor with several consumers gets the sum of their gradients") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {2, 3});
  const auto square = x * x; // reads x twice
  const auto y = square + tanh(x);
  (void)training_step(net, reduce_mean(y), {.rule = optimizer::sgd});
  const auto w = net.build(std::vector<op_id>{static_cast<op_id>(net.num_ops() - 1)});
  const op_id sum = test::find_op(w, "gradients/AddN");
  REQUIRE(sum != none);
  CHECK(w.inputs(sum).size() == 3);
  CHECK(w.work(sum) == 2 * 6);
}

TEST_CASE("training_step: branches, concatenation, residual sums, normalisation and transposed convolution") {
  nn::network net;
  const auto fed = net.input_pipeline({{{2, 8, 8, 3}}, {{2, 5}}});
  const auto left = nn::conv_layer("left", fed[0], {.filters = 4, .bias = false});
  const auto right = nn::conv_layer("right", fed[0], {.filters = 4, .kernel_height = 1, .kernel_width = 7});
  const auto joined = nn::concat({relu(nn::batch_norm("norm", left)), right}, 3);
  const auto block = joined + nn::conv_layer("residual", joined, {.filters = 8});
  const auto kernel = net.make_variable("up", {4, 4, 2, 8});
  const auto wide = nn::conv2d_transpose(block, kernel, {2, 16, 16, 2}, {.stride = 2});
  const auto pooled = nn::reshape(nn::avg_pool(wide, 16, {.stride = 16, .pad = nn::padding::valid}), {2, 2});
  const auto loss = reduce_mean(softmax_cross_entropy(nn::dense("out", pooled, 5), fed[1]));
  const auto w = training_step(net, loss);

  CHECK(net.num_parameters() == 3 * 3 * 3 * 4 + (7 * 3 * 4 + 4) + 2 * 4 + (9 * 8 * 8 + 8) + 4 * 4 * 2 * 8 + 15);
  CHECK(test::count_type(w, "ConcatV2") == 1);
  CHECK(test::count_type(w, "Slice") == 2);
  CHECK(test::count_type(w, "FusedBatchNormGrad") == 1);
  CHECK(test::count_type(w, "AssignSub") == 2); // moving averages belong to the step
  const op_id update = test::find_op(w, "norm/AssignMovingAvg/AssignSub");
  REQUIRE(update != none);
  CHECK(w.group(update) == w.group(test::find_op(w, "norm/moving_mean")));
  CHECK(w.work(test::find_op(w, "conv2d_transpose")) == 2.0 * (2 * 8 * 8) * (4 * 4 * 2 * 8));
  CHECK(w.work(test::find_op(w, "gradients/conv2d_transpose_grad/Conv2D")) == 2.0 * (2 * 8 * 8) * (4 * 4 * 2 * 8));
  CHECK(w.work(test::find_op(w, "right/Conv2D")) == 2.0 * (2 * 8 * 8) * (7 * 3 * 4));
  CHECK(graph::topological_order(w).size() == w.num_ops());
}

TEST_CASE("training_step: the example in docs/workloads.md") {
  // [network]
  nn::network net;
  const auto batch = net.input_pipeline({{{64, 784}}, {{64, 10}}}); // images and labels
  const auto image = nn::reshape(batch[0], {64, 28, 28, 1});
  const auto a = relu(nn::conv_layer("a", image, {.filters = 8}));
  const auto b = relu(nn::conv_layer("b", image, {.filters = 8, .kernel_height = 5, .kernel_width = 5}));
  const auto both = nn::concat({a, b}, 3);
  const auto block = both + nn::conv_layer("residual", nn::batch_norm("norm", both), {.filters = 16});
  const auto small = nn::max_pool(block, 4, {.stride = 4});
  const auto logits = nn::dense("out", nn::reshape(small, {64, 7 * 7 * 16}), 10);
  const auto loss = reduce_mean(softmax_cross_entropy(logits, batch[1]));
  const workload step = training_step(net, loss, {.rule = optimizer::momentum});
  // [network]
  CHECK(test::count_type(step, "ApplyMomentum") == 10);
  CHECK(net.num_parameters() == 80 + 208 + 32 + (9 * 16 * 16 + 16) + 7850);
  const auto text = [](const char* path) {
    std::ifstream file{std::filesystem::path{__FILE__}.parent_path() / path};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  std::string snippet = text("training_step.test.cpp");
  const auto first = snippet.find("// [network]\n") + 13;
  snippet = snippet.substr(first, snippet.find("  // [network]", first) - first);
  for (auto at = snippet.find("  "); at != snippet.npos; at = snippet.find("\n  ", at)) { // docs do not indent it
    snippet.erase(snippet[at] == '\n' ? ++at : at, 2);
  }
  CHECK(text("../../docs/workloads.md").find(snippet) != std::string::npos);
}

TEST_CASE("training_step: every op's origin is an op of the network, gradients and updates included") {
  nn::network net;
  const training_objective objectives[] = {{small_loss(net, 4)}};
  const auto built = training_step_with_origins(net, objectives);
  CHECK(test::fingerprint(built.graph) == test::fingerprint(small_step(4, {})));
  REQUIRE(built.origin.size() == built.graph.num_ops());
  for (const op_id v : ids(built.graph.num_ops())) {
    REQUIRE(built.graph.name(v) == net[built.origin[v]].op.name);
  }
  const op_id product = test::find_op(built.graph, "gradients/hidden/MatMul_grad/MatMul_1");
  REQUIRE(product != none);
  CHECK(net[built.origin[product]].op.outputs[0].dims == nn::extents{6, 8});
}

TEST_CASE("training_step: each of several objectives changes its own variables, in one step") {
  nn::network net{{.bookkeeping = false}};
  const auto a = net.make_variable("a", {2, 3});
  const auto b = net.make_variable("b", {2, 3});
  (void)net.make_variable("c", {2, 3});
  const auto product = a * b;
  const training_objective objectives[] = {{reduce_mean(product), {a}}, {reduce_mean(tanh(product)), {b}}};
  const auto w = training_step(net, objectives);
  CHECK(test::count_type(w, "ApplyAdam") == 2);
  CHECK(test::count_type(w, "TanhGrad") == 1);
  CHECK(test::find_op(w, "c") == none);                      // belongs to nobody
  CHECK(test::count_type(w, "VariableV2") == 2 * 3 + 2 * 2); // parameter and slots; each optimiser has its powers
  const op_id first = test::find_op(w, "Adam");
  const op_id second = test::find_op(w, "Adam_1");
  REQUIRE(first != none);
  REQUIRE(second != none);
  CHECK(w.inputs(first).size() == 1 + 2);
  CHECK(w.inputs(second).size() == 1 + 2);
  CHECK(test::find_op(w, "gradients/mul_grad/mul") != none);
  CHECK(test::find_op(w, "gradients_1/mul_grad/mul") != none);
  CHECK(w.group(test::find_op(w, "Adam/update_b/ApplyAdam")) == w.group(test::find_op(w, "b")));
  // The loss of the second is not differentiated by a: 6 for its TanhGrad and 6 for b, besides Mean's division.
  CHECK(test::total_work(w) == 6 + 6 + 2 * 6 + (6 + 6) + (6 + 6 + 6) + 2 * 12 * 6 + 4);
}

TEST_CASE("training_step: gradients may be changed before they are used") {
  const auto step = [](const gradient_transform& transform) {
    nn::network net{{.bookkeeping = false}};
    const auto x = net.make_variable("x", {5});
    return training_step(net, reduce_mean(tanh(x)), {.rule = optimizer::sgd, .transform = transform});
  };
  const auto negated = [](std::vector<nn::tensor> g) { return std::vector{negate(g.front())}; };
  CHECK(test::total_work(step(negated)) == test::total_work(step({})) + 5);
  CHECK(test::count_type(step(negated), "Neg") == 1);
  const auto lost = [](std::vector<nn::tensor>) { return std::vector<nn::tensor>{}; };
  CHECK_THROWS_WITH_AS(step(lost), doctest::Contains("lost or added a gradient"), value_error);
  const auto reduced = [](std::vector<nn::tensor> g) { return std::vector{reduce_mean(g.front())}; };
  CHECK_THROWS_WITH_AS(step(reduced), doctest::Contains("changed a shape"), value_error);
}

TEST_CASE("training_step: an objective names variables by their values, each once") {
  nn::network net;
  const auto x = net.make_variable("x", {5});
  const auto y = net.make_variable("y", {5});
  const auto loss = reduce_mean(x);
  for (const std::vector<nn::tensor>& wrong : {std::vector{loss}, std::vector{x, x}, std::vector{x, loss}}) {
    const training_objective objectives[] = {{loss, wrong}};
    CHECK_THROWS_WITH_AS(training_step(net, objectives), doctest::Contains("not the value of a variable"), value_error);
  }
  const training_objective independent[] = {{loss, {y}}};
  CHECK_THROWS_WITH_AS(training_step(net, independent), "training_step: the loss depends on no trainable variable",
                       value_error);
}

TEST_CASE("training_step: the example of several objectives in docs/workloads.md") {
  // [objectives]
  nn::network net{{.bookkeeping = false}};
  const auto batch = net.input_pipeline({{{64, 784}}, {{64, 100}}}); // real images, random numbers
  const auto fake = nn::dense("generator", batch[1], 784);
  const auto real_logits = nn::dense("discriminator", batch[0], 1);
  const auto fake_logits = [&] {
    const auto sharing = net.reuse_variables(); // the same discriminator again
    return nn::dense("discriminator", fake, 1);
  }();
  const auto variables = net.variables(); // weights and biases of the generator, then those of the discriminator
  const training_objective objectives[] = {
    {reduce_mean(real_logits - fake_logits), {variables[2].value, variables[3].value}},
    {reduce_mean(fake_logits), {variables[0].value, variables[1].value}},
  };
  const auto [step, origin] = training_step_with_origins(net, objectives);
  std::uint64_t read = 0; // numbers that all matrix products read
  for (const op_id v : ids(step.num_ops())) {
    const nn::op_spec& op = net[origin[v]].op; // what op v of the workload is
    for (const auto& t : op.inputs) {
      read += op.type == "MatMul" ? t.elements() : 0;
    }
  }
  // [objectives]
  CHECK(test::count_type(step, "ApplyAdam") == 4);
  const std::uint64_t image = 64 * 784, number = 64 * 100, logit = 64;
  const std::uint64_t forward = number + 100 * 784 + 2 * (image + 784);
  const std::uint64_t backward = 2 * (image + logit) + (logit + 784) + (number + image);
  CHECK(read == forward + backward);
}

TEST_CASE("training_step: what cannot be trained is an error that says why") {
  nn::network net;
  const auto fed = net.input_pipeline({{{4, 3}}});
  CHECK_THROWS_WITH_AS(training_step(net, reduce_mean(fed[0])),
                       "training_step: the loss depends on no trainable variable", value_error);
  CHECK_THROWS_WITH_AS(training_step(net, fed[0]), doctest::Contains("the loss must be a scalar"), value_error);
}

TEST_CASE("training_step: variables that the loss does not depend on are left out") {
  nn::network net;
  const auto loss = small_loss(net, 2);
  (void)net.make_variable("idle", {100});
  const auto w = training_step(net, loss);
  CHECK(test::find_op(w, "idle") == none);
  CHECK(test::total_resident_bytes(w) == 12 * small_parameters + 8);
}

TEST_CASE("training_step: an op of one's own, with its gradient") {
  const auto own_op = [](const nn::tensor& x, nn::extents gradient_shape) {
    return x.net().add_tensor(
      {.type = "Swish",
       .inputs = {x},
       .outputs = {{x.dims()}},
       .work = 3.0 * static_cast<double>(x.elements()),
       .gradient = [gradient_shape](const nn::gradient_call& call) -> std::vector<nn::tensor> {
         return {call.net.add_tensor(
           {.type = "SwishGrad", .inputs = {call.dy[0], call.input()}, .outputs = {{gradient_shape}}, .work = 7})};
       }});
  };
  nn::network net;
  const auto x = net.make_variable("x", {5});
  const auto w = training_step(net, reduce_mean(own_op(x, {5})));
  CHECK(w.work(test::find_op(w, "gradients/Swish_grad/SwishGrad")) == 7);

  nn::network wrong;
  const auto y = wrong.make_variable("y", {5});
  CHECK_THROWS_WITH_AS(training_step(wrong, reduce_mean(own_op(y, {4}))),
                       "gradient: of 'Swish' for input 0 has shape [4] instead of [5]", value_error);
}

TEST_CASE("training_step: a network for inference drops nothing and computes its outputs alone") {
  // [inference]
  nn::network net{{.training = false}};
  const auto batch = net.input_pipeline({{{64, 784}}});
  const auto hidden = nn::dropout("dropout", relu(nn::dense("hidden", batch[0], 500))); // drops nothing
  net.output(nn::dense("out", hidden, 10));
  const workload forward = inference(net);
  // [inference]
  CHECK(forward.num_ops() == 1 + 2 * (4 + 2) + 1); // input; per layer two variables with reads, product, sum; ReLU
  CHECK(count_sinks(forward) == 1);
  CHECK(test::total_resident_bytes(forward) == 4 * (784 * 500 + 500 + 500 * 10 + 10));
}

TEST_CASE("training_step: a network for inference normalises with known statistics") {
  nn::network net{{.training = false}};
  const auto batch = net.input_pipeline({{{2, 8, 8, 3}}});
  net.output(nn::batch_norm("norm", batch[0]));
  const auto w = inference(net);
  const op_id v = test::find_op(w, "norm/FusedBatchNorm");
  REQUIRE(v != none);
  CHECK(w.inputs(v).size() == 5);
  CHECK(w.outputs(v).size() == 1);
  CHECK(w.work(v) == 2 * 2 * 8 * 8 * 3);
  CHECK(test::total_resident_bytes(w) == 4 * 4 * 3);
  CHECK(test::count_type(w, "AssignSub") == 0);
}

} // namespace workload_training_step_test
