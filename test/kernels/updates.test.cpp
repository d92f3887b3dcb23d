// SPDX-License-Identifier: BSL-1.0
#include "kernels/updates.hpp"

#include "kernels/networks.hpp"

#include "trial.hpp"

namespace kernels_updates_test {

using namespace test;

constexpr float rate = 0.05f;

/// Trains one vector of parameters for a few steps and returns them; each step's gradients go to `watch`.
template <class Watch>
numbers trained(weft::optimizer rule, unsigned threads, std::size_t steps, Watch watch) {
  auto net = kernels::new_network();
  const auto w = net->make_variable("w", {4, 9});
  const auto target = net->input_pipeline({{{4, 9}}})[0];
  const auto error = w - target;
  const auto loss = reduce_mean(error * error);
  const auto task = kernels::make_training_net("quadratic", std::move(net), {{loss}}, {.rule = rule},
                                               {.seed = 3, .learning_rate = rate});
  kernels::bound_step step{*task.net, task.step, task.start, 0.0};
  const auto parameters = step.values(w), goal = step.values(target);
  for (std::size_t i = 0; i < steps; ++i) {
    watch(table(parameters.size(), [&](auto j) { return 2 * (parameters[j] - goal[j]) / 36; }),
          numbers{parameters.begin(), parameters.end()});
    run_in_order(step, threads);
  }
  return {parameters.begin(), parameters.end()};
}

/// Checks three steps against `update(parameter, gradient, state, number of the step)` for each parameter.
template <class Update>
void check_rule(weft::optimizer rule, Update update) {
  for (const unsigned threads : {1u, 2u}) {
    numbers x;
    std::vector<std::array<double, 2>> state(36, {0, 0});
    std::size_t number = 0;
    const auto result = trained(rule, threads, 3, [&](const numbers& gradient, const numbers& before) {
      if (x.empty()) {
        x = before;
      }
      CHECK(difference(x, before) < rounding);
      ++number;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(update(x[i], gradient[i], state[i], number));
      }
    });
    CHECK(difference(x, result) < rounding);
  }
}

TEST_CASE("updates: gradient descent") {
  check_rule(weft::optimizer::sgd, [](double x, double g, auto&, auto) { return x - rate * g; });
}

TEST_CASE("updates: momentum") {
  check_rule(weft::optimizer::momentum, [](double x, double g, auto& velocity, auto) {
    velocity[0] = 0.9 * velocity[0] + g;
    return x - rate * velocity[0];
  });
}

TEST_CASE("updates: RMSProp") {
  check_rule(weft::optimizer::rmsprop, [](double x, double g, auto& state, auto) {
    state[0] = 0.9 * state[0] + 0.1 * g * g;
    state[1] = 0.9 * state[1] + rate * g / std::sqrt(state[0] + 1e-8);
    return x - state[1];
  });
}

TEST_CASE("updates: Adam") {
  check_rule(weft::optimizer::adam, [](double x, double g, auto& state, auto number) {
    state[0] = 0.9 * state[0] + 0.1 * g;
    state[1] = 0.999 * state[1] + 0.001 * g * g;
    const double mean = state[0] / (1 - std::pow(0.9, number)), square = state[1] / (1 - std::pow(0.999, number));
    return x - rate * mean / (std::sqrt(square) + 1e-8 / std::sqrt(1 - std::pow(0.999, number)));
  });
}

TEST_CASE("updates: clipped gradients have at most the norm of the limit") {
  auto net = kernels::new_network();
  const auto w = net->make_variable("w", {8});
  const auto far = net->input_pipeline({{{8}}})[0] * net->data("Const", "far", {});
  const auto error = w - far;
  const auto loss = reduce_mean(error * error);
  const auto task = kernels::make_training_net(
    "clipped", std::move(net), {{loss}}, {.rule = weft::optimizer::sgd, .transform = weft::nn::clip_by_global_norm},
    {.learning_rate = 1, .given = {{"far", {1e4f}}}});
  auto step = task.bind();
  run_in_order(step);
  double norm = 0; // of the first step, which started from 0
  for (const auto x : step.values(w)) {
    norm += x * x;
  }
  CHECK(std::sqrt(norm) == doctest::Approx(5));
}

} // namespace kernels_updates_test
