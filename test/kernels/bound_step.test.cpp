// SPDX-License-Identifier: BSL-1.0
#include "kernels/bound_step.hpp"

#include "kernels/networks.hpp"

#include "trial.hpp"

#include <string>
#include <thread>

namespace kernels_bound_step_test {

using namespace test;

/// A step that computes the loss of a network and its gradients by all variables, but updates nothing.
struct gradient_step {
  std::unique_ptr<weft::nn::network> net = kernels::new_network();
  tensor loss;
  std::vector<weft::nn::variable> variables;
  std::vector<tensor> gradients;
  weft::nn::built_workload built;

  template <class Model>
  explicit gradient_step(Model model) {
    loss = model(*net);
    std::vector<tensor> values;
    for (const auto& x : net->variables()) {
      if (x.trainable) {
        variables.push_back(x);
        values.push_back(x.value);
      }
    }
    gradients = weft::nn::gradients(*net, loss, values);
    std::vector<weft::op_id> roots{loss.op()};
    for (const auto& g : gradients) {
      roots.push_back(g.op());
    }
    built = net->build_with_origins(roots);
  }
};

/// Every kind of layer for images, without a kink or a tie that finite differences would stumble over.
tensor images_loss(weft::nn::network& net) {
  const auto fed = net.input_pipeline({{{3, 8, 8, 2}}, {{3, 4}}});
  auto x = weft::nn::batch_norm("norm", weft::nn::conv_layer("conv1", fed[0], {.filters = 3}));
  x = sigmoid(x);
  const auto wide = weft::nn::conv_layer("wide", x, {.filters = 2, .kernel_height = 5, .kernel_width = 5});
  x = weft::nn::concat(std::vector{tanh(wide), weft::nn::avg_pool(x, 3, {})}, 3);
  x = weft::nn::max_pool(x, 2, {.stride = 2});
  const auto kernel = net.make_variable("deconv", {3, 3, 4, 5});
  x = tanh(weft::nn::conv2d_transpose(x, kernel, {3, 8, 8, 4}, {.stride = 2}));
  x = tanh(weft::nn::conv_layer("conv2", x, {.filters = 4, .slide = {.stride = 2}}));
  return kernels::detail::classifier_loss(weft::nn::global_avg_pool(x), fed[1]);
}

/// Two steps of two layers of LSTM cells.
template <bool Fused>
tensor sequence_loss(weft::nn::network& net) {
  const auto fed = net.input_pipeline({{{3, 2, 5}}, {{3, 4}}});
  auto rows = weft::nn::unstack(fed[0], 1);
  for (const char* layer : {"layer0", "layer1"}) {
    const auto arithmetic = Fused ? weft::nn::fused_lstm_step : weft::nn::basic_lstm_step;
    const weft::nn::lstm_cell cell{net, 5, 5, layer, arithmetic};
    auto state = cell.zero_state(3);
    for (auto& x : rows) {
      state = cell.step(x, state);
      x = state.h;
    }
  }
  return kernels::detail::classifier_loss(rows.back(), fed[1]);
}

/// Compares some gradients of each variable with how the loss changes when the variable does.
void check_finite_differences(const gradient_step& g) {
  kernels::bound_step step{*g.net, g.built, {.seed = 5}, 0.0};
  run_in_order(step, 2);
  std::vector<numbers> gradients;
  for (const auto& t : g.gradients) {
    gradients.emplace_back(step.values(t).begin(), step.values(t).end());
  }
  const auto loss_with = [&](float& parameter, float value) {
    const float before = std::exchange(parameter, value);
    run_in_order(step);
    parameter = before;
    return static_cast<double>(step.values(g.loss)[0]);
  };
  for (std::size_t i = 0; i < g.variables.size(); ++i) {
    const auto parameters = step.values(g.variables[i].value);
    const std::size_t stride = std::max<std::size_t>(1, parameters.size() / 7);
    for (std::size_t j = 0; j < parameters.size(); j += stride) {
      CAPTURE((*g.net)[g.variables[i].op].op.name);
      CAPTURE(j);
      constexpr float h = 4e-3f;
      const float at = parameters[j];
      const double slope = (loss_with(parameters[j], at + h) - loss_with(parameters[j], at - h)) / (2.0 * h);
      CHECK(static_cast<double>(gradients[i][j]) == doctest::Approx(slope).epsilon(0.02).scale(0.01));
    }
  }
}

TEST_CASE("bound step: gradients agree with finite differences of the loss") {
  SUBCASE("images") {
    check_finite_differences(gradient_step{images_loss});
  }
  SUBCASE("sequences") {
    check_finite_differences(gradient_step{sequence_loss<false>});
  }
  SUBCASE("sequences, fused") {
    check_finite_differences(gradient_step{sequence_loss<true>});
  }
}

TEST_CASE("bound step: ops with one key have one type and one shape") {
  const gradient_step g{images_loss};
  const kernels::bound_step step{*g.net, g.built};
  for (const auto u : weft::ids(g.built.graph.num_ops())) {
    for (const auto v : weft::ids(g.built.graph.num_ops())) {
      if (step.key(u) == step.key(v)) {
        CHECK(g.built.graph.type(u) == g.built.graph.type(v));
        CHECK(g.built.graph.work(u) == g.built.graph.work(v));
      }
    }
  }
  for (const auto v : weft::ids(g.built.graph.num_ops())) {
    if (g.built.graph.type(v) == "MaxPool") {
      CHECK(step.key(v) == "MaxPool [3, 8, 8, 5] -> [3, 4, 4, 5]");
      CHECK_FALSE(step.is_empty(v));
    }
  }
}

TEST_CASE("bound step: the same seed gives the same values, another seed others") {
  const gradient_step g{images_loss};
  const auto loss = [&](std::uint64_t seed) {
    kernels::bound_step step{*g.net, g.built, {.seed = seed}};
    run_in_order(step);
    return step.values(g.loss)[0];
  };
  CHECK(loss(1) == loss(1));
  CHECK(loss(1) != loss(2));
}

TEST_CASE("bound step: reset goes back to where training started") {
  const auto task = kernels::resnet_block_stack({.batch = 2, .image = 8, .blocks_per_stage = 1});
  auto step = task.bind();
  run_in_order(step);
  const float first = step.values(task.losses[0])[0];
  run_in_order(step);
  CHECK(step.values(task.losses[0])[0] != first);
  step.reset();
  run_in_order(step);
  CHECK(step.values(task.losses[0])[0] == first);
}

TEST_CASE("bound step: unknown ops, unknown constants and tensors of other steps are refused") {
  weft::nn::network net{{.bookkeeping = false}};
  const auto x = net.input_pipeline({{{4}}})[0];
  const auto odd = weft::nn::detail::elementwise("Odd", {x}, {4});
  const auto constant = net.data("Const", "mystery", {});
  const auto bind = [&](const tensor& t) {
    const weft::op_id roots[] = {t.op()};
    const auto built = net.build_with_origins(roots);
    kernels::bound_step step{net, built};
    return step.values(x).size();
  };
  CHECK(bind(x) == 4);
  CHECK_THROWS_AS((void)bind(odd), kernels::unsupported_op);
  CHECK_THROWS_AS((void)bind(constant), kernels::unsupported_op);
  const weft::op_id roots[] = {x.op()};
  const auto built = net.build_with_origins(roots);
  kernels::bound_step step{net, built};
  CHECK_THROWS_AS((void)step.values(odd), weft::error);
}

TEST_CASE("bound step: ops that run at the same time do not disturb each other") {
  weft::nn::network net{{.bookkeeping = false}};
  const auto image = [&] { return net.input_pipeline({{{2, 16, 16, 8}}})[0]; };
  const auto kernel = [&] { return net.input_pipeline({{{3, 3, 8, 16}}})[0]; };
  const tensor results[] = {weft::nn::conv2d(image(), kernel()), weft::nn::conv2d(image(), kernel())};
  const weft::op_id roots[] = {results[0].op(), results[1].op()};
  const auto built = net.build_with_origins(roots);
  kernels::bound_step step{net, built, {}, 0.0};
  run_in_order(step, 2);
  const auto copy = [&](const tensor& t) { return numbers{step.values(t).begin(), step.values(t).end()}; };
  const numbers expected[] = {copy(results[0]), copy(results[1])};
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::vector<std::thread> runners;
    for (const auto& t : results) {
      std::fill(step.values(t).begin(), step.values(t).end(), 0.0f);
      const auto at = std::find(built.origin.begin(), built.origin.end(), t.op());
      runners.emplace_back([&, v = static_cast<weft::op_id>(at - built.origin.begin())] { step.run(v, 2); });
    }
    for (auto& r : runners) {
      r.join();
    }
    CHECK(copy(results[0]) == expected[0]);
    CHECK(copy(results[1]) == expected[1]);
  }
}

} // namespace kernels_bound_step_test
