// SPDX-License-Identifier: BSL-1.0
#include "kernels/transformers.hpp"

#include "small_networks.hpp"

namespace kernels_transformers_test {

using namespace test;
using weft::nn::attention_kernels;
using weft::nn::kernel_set;
using weft::nn::network_options;

const std::vector<network_options> lowerings{
  {.kernels = kernel_set::separate},
  {.kernels = kernel_set::framework},
  {.kernels = kernel_set::framework, .attention = attention_kernels::fused},
  {.kernels = kernel_set::compiled},
  {.kernels = kernel_set::compiled, .attention = attention_kernels::fused}};

/// Checks that three steps of training have the same losses whatever the kernels, and that losses fall.
template <class Make>
void check_losses(Make make) {
  std::vector<double> expected;
  std::size_t num_ops = 0;
  for (const auto& lowering : lowerings) {
    CAPTURE(static_cast<int>(lowering.kernels));
    CAPTURE(static_cast<int>(lowering.attention));
    const kernels::training_net net = make(lowering);
    const auto losses = losses_of_whole(net, 3);
    if (expected.empty()) {
      expected = losses;
      num_ops = net.step.graph.num_ops();
      CHECK(losses[2] != losses[0]);
    } else {
      CHECK(net.step.graph.num_ops() < num_ops);
    }
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CHECK(std::abs(losses[i] / expected[i] - 1) < 1e-5);
    }
  }
}

TEST_CASE("transformers: kernels that join ops have the losses of separate ones over three steps") {
  SUBCASE("GPT-2") {
    check_losses([](const auto& o) { return kernels::gpt2(o); });
  }
  SUBCASE("BERT") {
    check_losses([](const auto& o) { return kernels::bert(o); });
  }
  SUBCASE("Llama") {
    check_losses([](const auto& o) { return kernels::llama(o); });
  }
}

TEST_CASE("networks: kernels that join ops have the losses of separate ones over three steps") {
  SUBCASE("a residual network") {
    check_losses([](const auto& o) {
      return kernels::resnet_block_stack({.batch = 4, .image = 16, .blocks_per_stage = 1, .lowering = o});
    });
  }
  SUBCASE("Inception") {
    check_losses([](const auto& o) {
      return kernels::inception_block({.image = 9, .channels = 32, .blocks = 1, .width = 16, .lowering = o});
    });
  }
  SUBCASE("a DCGAN") {
    check_losses([](const auto& o) { return kernels::dcgan({.batch = 4, .width = 16, .lowering = o}); });
  }
  SUBCASE("an LSTM") {
    check_losses([](const auto& o) {
      return kernels::lstm({.batch = 8, .steps = 6, .hidden = 32, .classes = 16, .lowering = o});
    });
  }
}

TEST_CASE("transformers: a projection begins with the numbers of those that it joins") {
  const auto separate = kernels::llama(), joined = kernels::llama({.kernels = kernel_set::framework});
  const auto value_of = [](const kernels::training_net& net, const kernels::bound_step& step, const std::string& name) {
    for (const auto v : weft::ids(step.graph().num_ops())) {
      if (step.graph().name(v) == name) {
        const auto values = step.values(*step.graph().outputs(v).begin());
        return numbers{values.begin(), values.end()};
      }
    }
    throw weft::error(net.name + " has no " + name);
  };
  const auto a = separate.bind(), b = joined.bind();
  const auto all = value_of(joined, b, "layer_1/attention/qkv/weights"); // 64 × 2 groups × (2 + 1 + 1) heads × 16
  struct part {
    const char* name;
    std::size_t first, count;
  };
  for (const auto& [name, first, count] : {part{"query", 0, 2}, part{"key", 2, 1}, part{"value", 3, 1}}) {
    CAPTURE(name);
    const auto of = value_of(separate, a, std::string{"layer_1/attention/"} + name + "/weights");
    CHECK(of == table(64 * 2 * count * 16, [&, first = first, count = count](std::size_t i) {
            const std::size_t group = i / 16 / count, head = i / 16 % count;
            return all[(group * 4 + first + head) * 16 + i % 16];
          }));
  }
}

} // namespace kernels_transformers_test
