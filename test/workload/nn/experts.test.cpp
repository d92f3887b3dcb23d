// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/experts.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>

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
  CHECK(expert_capacity(64, {.experts = 8, .chosen = 2, .capacity = 1.25, .dropless = true}) == 16);
}

TEST_CASE("nn experts: one row runs those that it chooses, many rows run all") {
  const expert_options mixtral{.experts = 8, .chosen = 2};
  CHECK(expected_experts(1, mixtral) == 2);
  CHECK(expected_experts(2, mixtral) == 4); // 3.5
  CHECK(expected_experts(4, mixtral) == 5); // 5.47
  CHECK(expected_experts(8, mixtral) == 7); // 7.20
  CHECK(expected_experts(16, mixtral) == 8); // 7.92
  CHECK(expected_experts(1'000'000, mixtral) == 8);
  CHECK(expected_experts(1, {.experts = 256, .chosen = 8}) == 8);
  CHECK(expected_experts(5, {.experts = 1, .chosen = 1}) == 1);
}

TEST_CASE("nn experts: gated ones have three matrices, and a softmax makes gates of the scores that are chosen") {
  nn::network net{{.bookkeeping = false}};
  const auto fed = net.input_pipeline({{{32, 6}}, {{32, 6}}});
  const auto x = nn::dense("in", fed[0], 6);
  const expert_options o{.experts = 4, .hidden = 10, .chosen = 2, .dropless = true, .gated = true,
                         .gates_add_up = true};
  const auto made = mixture_of_experts("moe", x, o);
  CHECK(made.y.dims() == x.dims());
  CHECK(net.num_parameters() == 6 * 6 + 6 + 6 * 4 + 4 * 3 * 6 * 10);
  const auto loss = reduce_mean(softmax_cross_entropy(made.y, fed[1])) + made.balance;
  const auto w = training_step(net, loss, {.rule = optimizer::sgd});
  for (const char* name : {"moe/expert_3/gate_up/MatMul", "moe/expert_3/down/MatMul", "moe/expert_3/SwiGLU",
                           "gradients/moe/router/Softmax_1_grad/SoftmaxGrad"}) {
    CAPTURE(name);
    CHECK(test::find_op(w, name) != none);
  }
  const auto work = w.work(test::find_op(w, "moe/expert_3/gate_up/MatMul"));
  CHECK(work == 2.0 * 16 * 6 * 20); // 32 · 2 / 4 rows
  CHECK(test::count_type(w, "Softmax") == 2);
}

TEST_CASE("nn experts: a step that decodes reads the matrices of those that run, and holds all") {
  for (const std::uint64_t rows : {1u, 2u, 100u}) {
    CAPTURE(rows);
    nn::network net{{.training = false}};
    const auto x = net.input_pipeline({{{rows, 6}}})[0];
    const expert_options o{.experts = 8, .hidden = 10, .chosen = 2, .dropless = true, .gated = true,
                           .gates_add_up = true};
    const auto y = net.output(decoding_experts("moe", x, o));
    CHECK(y.dims() == x.dims());
    const auto w = inference(net);
    CHECK(net.num_parameters() == 6 * 8 + 8 * 3 * 6 * 10);
    CHECK(test::total_resident_bytes(w) == 4 * (6 * 8 + 8 * 3 * 6 * 10));
    const auto running = expected_experts(rows, o);
    const auto n = static_cast<double>(rows);
    for (const auto& [name, columns, work] :
         {std::tuple{"moe/gate_up/GroupedMatMul", 20u, 2 * n * 2 * 6 * 20},
          std::tuple{"moe/down/GroupedMatMul", 10u, 2 * n * 2 * 6 * 10 + 2 * n * 2 * 6}}) {
      CAPTURE(name);
      const op_id v = test::find_op(w, name);
      REQUIRE(v != none);
      byte_count read = 0;
      for (const tensor_id t : w.inputs(v)) {
        read += w.type(w.producer(t)) == "Identity" ? w.bytes(t) : 0;
      }
      CHECK(read == running * 4 * 6 * columns);
      CHECK(w.work(v) == work);
    }
    CHECK(w.num_ops() == 11 + 2 * 2 * 8); // variables and reads, whatever the rows
  }
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
  CHECK_THROWS_AS(decoding_experts("d", x, {.experts = 2, .chosen = 3}), value_error);
  CHECK_THROWS_AS(decoding_experts("e", x, {.chosen = 0}), value_error);
}

} // namespace workload_nn_experts_test
