// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/experts.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <string>

namespace workload_nn_experts_test {

using namespace weft;
using namespace weft::nn;

TEST_CASE("nn experts: top k gives values and indices, and only values have a gradient") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {7, 5});
  const auto best = top_k(x, 2);
  CHECK(best.values.dims() == extents{7, 2});
  CHECK(best.indices.dims() == extents{7, 2});
  CHECK(net[best.values.op()].op.work == 2 * 35);
  const nn::tensor of[] = {x};
  const auto g = nn::gradients(net, reduce_mean(best.values), of)[0];
  CHECK(g.dims() == x.dims());
  CHECK(net[g.op()].op.type == "ScatterNd");
  CHECK_THROWS_AS(top_k(x, 6), value_error);
  CHECK_THROWS_AS(top_k(x, 0), value_error);
}

TEST_CASE("nn experts: capacity is a share of the rows, rounded up") {
  CHECK(expert_capacity(100, {.experts = 8, .capacity = 1.25}) == 16);
  CHECK(expert_capacity(64, {.experts = 8, .capacity = 1}) == 8);
  CHECK(expert_capacity(65, {.experts = 8, .capacity = 1}) == 9);
  CHECK(expert_capacity(64, {.experts = 8, .chosen = 2, .capacity = 1.25}) == 20);
  CHECK(expert_capacity(1, {.experts = 64, .capacity = 1}) == 1);
}

TEST_CASE("nn experts: each expert has its own ops and parameters, and reads its own rows") {
  for (const std::uint64_t chosen : {1u, 2u}) {
    CAPTURE(chosen);
    nn::network net{{.bookkeeping = false}};
    const auto fed = net.input_pipeline({{{32, 6}}, {{32, 6}}});
    const auto x = nn::dense("in", fed[0], 6);
    const expert_options o{.experts = 4, .hidden = 10, .chosen = chosen, .capacity = 1};
    const auto made = mixture_of_experts("moe", x, o);
    CHECK(made.y.dims() == x.dims());
    CHECK(made.balance.dims() == extents{});
    CHECK(net.num_parameters() == 6 * 6 + 6 + 6 * 4 + 4 * 2 * 6 * 10);
    const auto loss = reduce_mean(softmax_cross_entropy(made.y, fed[1])) + made.balance;
    const auto w = training_step(net, loss, {.rule = optimizer::sgd});
    for (int e = 0; e < 4; ++e) {
      const auto expert = "moe/expert_" + std::to_string(e);
      const op_id hidden = test::find_op(w, expert + "/hidden/MatMul");
      REQUIRE(hidden != none);
      CHECK(w.work(hidden) == 2.0 * 8 * static_cast<double>(chosen) * 6 * 10);
      CHECK(test::find_op(w, "gradients/" + expert + "/hidden/MatMul_grad/MatMul") != none);
      CHECK(test::find_op(w, "GradientDescent/update_" + expert + "/hidden/weights/ApplyGradientDescent") != none);
      byte_count received = 0;
      for (const tensor_id t : w.inputs(hidden)) {
        received += w.type(w.producer(t)) == "Split" ? w.bytes(t) : 0;
      }
      CHECK(received == 8 * chosen * 6 * 4); // not the rows of others
    }
    CHECK(test::find_op(w, "GradientDescent/update_moe/router/gate/weights/ApplyGradientDescent") != none);
    CHECK(test::count_type(w, "FloorDiv") == (chosen == 1 ? 0 : 1));
  }
}

TEST_CASE("nn experts: options that make no sense are errors") {
  nn::network net;
  const auto x = net.make_variable("x", {8, 4});
  CHECK_THROWS_AS(mixture_of_experts("a", x, {.experts = 2, .chosen = 3}), value_error);
  CHECK_THROWS_AS(mixture_of_experts("b", x, {.chosen = 0}), value_error);
  CHECK_THROWS_AS(mixture_of_experts("c", x, {.capacity = 0}), value_error);
}

} // namespace workload_nn_experts_test
