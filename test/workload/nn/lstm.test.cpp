// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/lstm.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_nn_lstm_test {

using namespace weft;

constexpr double N = 3, X = 5, H = 7; // examples, inputs, hidden units

struct unrolled {
  double forward;
  workload step;
};

/// Two steps of a cell, and the mean of the last output as the loss.
unrolled unroll(nn::lstm_cell (*cell_of)(nn::network&, std::uint64_t, std::uint64_t), bool bookkeeping) {
  nn::network net{{.bookkeeping = bookkeeping}};
  const auto x = net.input_pipeline({{{3, 5}}, {{3, 5}}});
  const auto cell = cell_of(net, 5, 7);
  const auto first = cell.step(x[0], cell.zero_state(3));
  const auto second = cell.step(x[1], first);
  const nn::tensor outputs[] = {second.h};
  const double forward = test::total_work(inference(net, outputs));
  return {forward, training_step(net, reduce_mean(second.h), {.rule = optimizer::sgd})};
}

std::vector<std::string> input_names(const nn::network& net, op_id v) {
  std::vector<std::string> names;
  for (const auto& t : net[v].op.inputs) {
    names.push_back(net[t.op()].op.name + ":" + std::to_string(t.output()));
  }
  return names;
}

TEST_CASE("lstm: a fused step costs as much as the ops that it replaces, forward") {
  for (const bool bookkeeping : {false, true}) {
    const auto basic = unroll(nn::basic_lstm_cell, bookkeeping);
    const auto fused = unroll(nn::fused_lstm_cell, bookkeeping);
    CHECK(basic.forward == 2 * (2 * N * (X + H) * 4 * H + 14 * N * H));
    CHECK(fused.forward == basic.forward);
  }
}

TEST_CASE("lstm: a fused step is one op forward and one, with two products, backward") {
  const auto fused = unroll(nn::fused_lstm_cell, false).step;
  CHECK(test::count_type(fused, "LSTMBlockCell") == 2);
  CHECK(test::count_type(fused, "LSTMBlockCellGrad") == 2);
  CHECK(test::work_of_types(fused, {"LSTMBlockCellGrad"}) == 2 * 12 * N * H);
  CHECK(test::count_type(fused, "MatMul") == 2 + 1); // nobody needs the gradients of x and of the first state
  CHECK(test::work_of_types(fused, {"MatMul"}) == 3 * 2 * N * (X + H) * 4 * H);
  CHECK(test::work_of_types(fused, {"BiasAddGrad"}) == 2 * 4 * N * H);
  CHECK(test::count_type(fused, "Sigmoid") + test::count_type(fused, "Split") == 0);
  // The gradient of the old cell state does not arrive at the second step: only its output is used.
  CHECK(test::count_type(unroll(nn::fused_lstm_cell, true).step, "MatMul") == 4);
}

TEST_CASE("lstm: fused and basic training steps differ only by what autodiff adds up in between") {
  const auto basic = unroll(nn::basic_lstm_cell, false).step;
  const auto fused = unroll(nn::fused_lstm_cell, false).step;
  const double forward = 2 * 2 * N * (X + H) * 4 * H; // inside the fused ops
  CHECK(test::work_of_types(basic, {"MatMul"}) == test::work_of_types(fused, {"MatMul"}) + forward);
  CHECK(test::total_resident_bytes(basic) == test::total_resident_bytes(fused));
  CHECK(test::total_work(fused) == doctest::Approx(test::total_work(basic)).epsilon(0.02));
}

TEST_CASE("lstm: LSTMBlockCell and its gradient read and give what TensorFlow's do") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {3, 5});
  const auto c = net.make_variable("c", {3, 7});
  const auto h = net.make_variable("h", {3, 7});
  const auto kernel = net.make_variable("kernel", {12, 28});
  const auto bias = net.make_variable("bias", {28});
  const auto block = nn::lstm_block_cell(x, {c, h}, kernel, bias);
  CHECK(block.i.output() == 0);
  CHECK(block.cs.output() == 1);
  CHECK(block.h.output() == 6);
  for (const auto& t : {block.i, block.cs, block.f, block.o, block.ci, block.co, block.h}) {
    CHECK(t.dims() == nn::extents{3, 7});
  }
  const std::vector<nn::tensor> read{x, c, h, kernel, bias};
  CHECK(net[block.h.op()].op.inputs == read);
  const auto g = nn::gradients(net, reduce_mean(block.h), read);
  for (std::size_t i = 0; i < read.size(); ++i) {
    REQUIRE(g[i]);
    CHECK(g[i].dims() == read[i].dims());
  }
  const op_id backward = g[1].op();
  CHECK(net[backward].op.type == "LSTMBlockCellGrad");
  CHECK(g[1].output() == 0);
  CHECK(net[backward].op.outputs[1].dims == nn::extents{3, 28});
  const std::vector<std::string> expected{"x/read:0",
                                          "c/read:0",
                                          "h/read:0",
                                          "kernel/read:0",
                                          "bias/read:0",
                                          "LSTMBlockCell:0",
                                          "LSTMBlockCell:1",
                                          "LSTMBlockCell:2",
                                          "LSTMBlockCell:3",
                                          "LSTMBlockCell:4",
                                          "LSTMBlockCell:5",
                                          "gradients/LSTMBlockCell_grad/zeros_like:0",
                                          "gradients/Mean_grad/truediv:0"};
  CHECK(input_names(net, backward) == expected);
}

TEST_CASE("lstm: extents that do not fit are errors") {
  nn::network net;
  const auto x = net.make_variable("x", {3, 5});
  const auto c = net.make_variable("c", {3, 7});
  const auto kernel = net.make_variable("kernel", {12, 28});
  const auto bias = net.make_variable("bias", {28});
  CHECK_THROWS_WITH_AS(nn::lstm_block_cell(x, {c, x}, kernel, bias), doctest::Contains("do not fit together"),
                       value_error);
  CHECK_THROWS_AS(nn::lstm_block_cell(x, {c, c}, c, bias), value_error);
  CHECK_THROWS_AS(nn::lstm_block_cell(x, {c, c}, kernel, kernel), value_error);
  CHECK_THROWS_AS(nn::lstm_block_cell(kernel, {c, c}, kernel, bias), value_error);
}

} // namespace workload_nn_lstm_test
