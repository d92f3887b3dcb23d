// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/frozen.hpp"

#include "weft/parallel/gradients.hpp"
#include "weft/workload/zoo/gpt2.hpp"
#include "weft/workload/zoo/llama.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace workload_nn_frozen_test {

using namespace weft;

constexpr nn::kernel_set kernel_sets[] = {nn::kernel_set::separate, nn::kernel_set::framework,
                                          nn::kernel_set::compiled};

zoo::llama_options small_llama(std::uint64_t rank) {
  return {.layers = 3, .hidden = 64, .heads = 4, .kv_heads = 2, .vocabulary = 100, .length = 16, .lora = rank};
}

workload lora_step(nn::network& net, const zoo::llama_options& o, std::string_view patterns) {
  auto task = zoo::llama_task(net, 2, o);
  task.options.frozen = frozen(net, patterns).values;
  return training_step(net, task.objectives, task.options);
}

std::size_t count(const workload& w, std::string_view part, std::string_view type = {}) {
  std::size_t found = 0;
  for (const op_id v : ids(w.num_ops())) {
    found += w.name(v).find(part) != std::string_view::npos && (type.empty() || w.type(v) == type) ? 1u : 0u;
  }
  return found;
}
double work_of(const workload& w, std::string_view scope) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.name(v).starts_with(scope) ? w.work(v) : 0;
  }
  return sum;
}

TEST_CASE("frozen variables: low-rank matrices alone are updated, with each set of kernels") {
  for (const auto kernels : kernel_sets) {
    nn::network net{{.kernels = kernels}};
    const auto step = lora_step(net, small_llama(4), "*,!lora_*");
    CHECK(count(step, "Adam/update_") == 12);
    CHECK(parallel::gradients(step).size() == 12); // those that replicas reduce
    CHECK(count(step, "lora_a/Adam", "VariableV2") == 12); // two for each
    CHECK(count(step, "ffn/down/weights/Adam") == 0);
    nn::network whole{{.kernels = kernels}};
    const auto all = zoo::llama_task(whole, 2, small_llama(4));
    const auto full = training_step(whole, all.objectives);
    const double forward = work_of(full, "layer_1/ffn/down"), backward = work_of(full, "gradients/layer_1/ffn/down");
    CHECK(backward == doctest::Approx(2 * forward).epsilon(0.01));
    CHECK(work_of(step, "gradients/layer_1/ffn/down") == doctest::Approx(forward).epsilon(0.01));
    CHECK(count(step, "gradients/embeddings") == 0);
    CHECK(count(step, "gradients/layer_0/attention/norm") == 0);
    CHECK(count(step, "gradients/layer_1/attention/norm") + count(step, "gradients/layer_1/attention/add") +
            count(step, "gradients/layer_0/ffn") > 0);
  }
}

TEST_CASE("frozen variables: no activation is kept for the gradient of a frozen matrix") {
  nn::network net{{.kernels = nn::kernel_set::framework}};
  const auto step = lora_step(net, small_llama(4), "*,!lora_*");
  for (const op_id v : ids(step.num_ops())) {
    if (step.name(v) != "layer_1/ffn/SwiGLU") { // which goes into a product with a frozen matrix
      continue;
    }
    const auto readers = step.consumers(step.outputs(v).front());
    CHECK(std::none_of(readers.begin(), readers.end(),
                       [&](op_id c) { return step.name(c).starts_with("gradients/"); }));
  }
}

TEST_CASE("frozen variables: as many low-rank parameters as published") {
  const auto trained = [](auto options, auto loss) {
    nn::network net{{.kernels = nn::kernel_set::framework}};
    (void)loss(net, 1, options);
    const auto found = frozen(net, "*,!lora_*").parameters;
    return (found.all_bytes - found.frozen_bytes) / 4;
  };
  auto llama = zoo::llama2_7b_sizes; // Lightning AI, LitGPT, resource tables
  llama.lora = 8;
  CHECK(trained(llama, zoo::llama_loss) == 4'194'304);
  llama = zoo::llama2_13b_sizes;
  llama.lora = 8;
  CHECK(trained(llama, zoo::llama_loss) == 6'553'600);
  auto gpt3 = zoo::gpt3_175b_sizes; // Hu et al., table 4: 4.7 million with rank 1, 37.7 million with rank 8
  gpt3.lora = 8;
  CHECK(trained(gpt3, zoo::gpt2_loss) == doctest::Approx(37.7e6).epsilon(0.005));
}

TEST_CASE("frozen variables: patterns that describe nothing, all, or belong to a network that decodes") {
  nn::network net;
  (void)zoo::llama_loss(net, 1, small_llama(0));
  CHECK_THROWS_AS(frozen(net, "*,!lora_*"), value_error);
  CHECK_THROWS_AS(frozen(net, "*"), value_error);
  CHECK(frozen(net, "embeddings/*").parameters.count == 1);
  nn::network decoding{{.training = false}};
  CHECK_THROWS_AS(zoo::llama_decode(decoding, 1, small_llama(4)), value_error);
}

TEST_CASE("frozen variables: an objective with variables of its own does not change them, either") {
  nn::network net;
  const auto loss = zoo::llama_loss(net, 2, small_llama(0));
  const auto variables = net.variables();
  const training_objective objectives[] = {{loss, {variables[0].value, variables[1].value}}};
  CHECK(count(training_step(net, objectives, {.frozen = {variables[0].value}}), "Adam/update_") == 1);
  nn::network other;
  const training_objective same[] = {{zoo::llama_loss(other, 2, small_llama(0)), {other.variables()[0].value}}};
  CHECK_THROWS_WITH_AS(training_step(other, same, {.frozen = {other.variables()[0].value}}),
                       "training_step: the loss depends on no trainable variable that is not frozen", value_error);
}

} // namespace workload_nn_frozen_test
