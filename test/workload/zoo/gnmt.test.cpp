// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo/gnmt.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <string>

namespace workload_zoo_gnmt_test {

using namespace weft;

std::uint64_t parameters(const zoo::gnmt_options& o) {
  nn::network net;
  (void)zoo::gnmt_loss(net, 1, o);
  return net.num_parameters();
}

TEST_CASE("gnmt: parameters are those computed by hand, and within 1.1 % of what is published") {
  const std::uint64_t u = 1024, v = 32'000;
  const auto cell = [&](std::uint64_t inputs) { return (inputs + u) * 4 * u + 4 * u; };
  const auto encoder = 2 * cell(u) + cell(2 * u) + 6 * cell(u);
  const auto decoder = 8 * cell(2 * u) + 2 * u * u + u;
  CHECK(parameters({}) == 2 * v * u + encoder + decoder + u * v + v);
  CHECK(parameters({}) == 280'858'880);
  CHECK(parameters({.fused_cell = false}) == 280'858'880);
  // 278 million: Shazeer et al., arXiv 1701.06538, table 2.
  CHECK(static_cast<double>(parameters({})) == doctest::Approx(278e6).epsilon(0.011));
}

TEST_CASE("gnmt: cells and attention are unrolled, in scopes by layer and step") {
  const auto w = zoo::gnmt(2, {.layers = 4, .units = 16, .length = 5, .vocabulary = 30}, {.bookkeeping = false});
  CHECK(test::count_type(w, "LSTMBlockCell") == 5 * (2 + 3 + 4));
  CHECK(test::count_type(w, "LSTMBlockCellGrad") == 5 * (2 + 3 + 4));
  CHECK(test::count_type(w, "Softmax") == 5);
  for (const char* name :
       {"encoder/layer_0/forward/step_4/LSTMBlockCell", "encoder/layer_0/backward/step_0/LSTMBlockCell",
        "encoder/layer_1/step_0/LSTMBlockCell", "decoder/layer_3/step_4/LSTMBlockCell", "encoder/layer_2/step_1/add",
        "decoder/layer_2/step_1/add", "decoder/layer_0/step_2/attention/Softmax", "encoder/layer_3/lstm_cell/kernel",
        "gradients/decoder/layer_3/step_4/LSTMBlockCell_grad/LSTMBlockCellGrad"}) {
    CAPTURE(name);
    CHECK(test::find_op(w, name) != none);
  }
  for (const char* name :
       {"encoder/layer_1/step_1/add", "decoder/layer_1/step_1/add", "encoder/layer_4/lstm_cell/kernel"}) {
    CAPTURE(name);
    CHECK(test::find_op(w, name) == none);
  }
}

TEST_CASE("gnmt: the answer of the attention waits for the first decoder layer, not for the others") {
  const auto w = zoo::gnmt(2, {.layers = 2, .units = 16, .length = 2, .vocabulary = 30}, {.bookkeeping = false});
  const auto feeds = [&](const std::string& from, const std::string& to) {
    const op_id a = test::find_op(w, from);
    const op_id b = test::find_op(w, to);
    REQUIRE(a != none);
    REQUIRE(b != none);
    return std::ranges::any_of(w.inputs(b), [&](tensor_id t) { return w.producer(t) == a; });
  };
  CHECK(feeds("decoder/layer_0/step_0/LSTMBlockCell", "decoder/layer_0/step_0/attention/MatMul"));
  CHECK(feeds("decoder/layer_0/step_0/attention/Reshape_2", "decoder/layer_0/step_1/concat"));
  CHECK(feeds("decoder/layer_0/step_0/attention/Reshape_2", "decoder/layer_1/step_0/concat"));
  CHECK(!feeds("decoder/layer_0/step_0/attention/Reshape_2", "decoder/layer_0/step_0/concat"));
}

TEST_CASE("gnmt: FLOP of the products are those computed by hand") {
  const double N = 3, T = 4, U = 16, V = 30;
  nn::network net{{.bookkeeping = false, .training = false}};
  (void)zoo::gnmt_loss(net, 3, {.layers = 2, .units = 16, .length = 4, .vocabulary = 30, .fused_cell = false});
  const auto w = inference(net);
  const double cells = 2 * N * T * (2 * 2 * U + 3 * U + 2 * 3 * U) * 4 * U;
  const double attention = 2 * N * T * U * U * 2 + 2 * N * T * T * U;
  CHECK(test::work_of_types(w, {"MatMul", "BatchMatMulV2"}) == cells + attention + 2 * N * T * U * V);
  CHECK_THROWS_AS(zoo::gnmt(1, {.layers = 0}), value_error);
  CHECK_THROWS_AS(zoo::gnmt(1, {.length = 0}), value_error);
  CHECK_THROWS_AS(zoo::gnmt(0), value_error);
}

} // namespace workload_zoo_gnmt_test
